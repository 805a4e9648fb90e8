"""The Python reference: a page a public module. What the operator table generates comes from its rows, everything else
by autodoc from docstrings."""

import importlib
import inspect
import re

from generator.python_stubs import parameter, result
from pages import public_names
from pages.plain_text import inline, to_rst

TENSOR = "fuselet.Tensor"
# Types that several modules name.
TYPES = re.compile(r"\b(Tensor|dtype|device)\b")


def heading(text, mark):
    return [text, mark * len(text), ""]


def indented(lines, by="   "):
    return [by + line if line else "" for line in lines]


def qualified(text):
    """A parameter or result with its types as links."""
    name, colon, types = text.rpartition(": ")
    return name + colon + TYPES.sub(r"~fuselet.\1", types)


def from_row(directive, name, row, args, returns, doc):
    """A description made of a row, with a link to the operator's own page."""
    return [f".. py:{directive}:: {name}({', '.join(qualified(parameter(a)) for a in args)}) -> {qualified(returns)}", "", *indented(to_rst([doc])),
            f"   Operator: :ref:`{row.name} <op-{row.name}>`.", ""]


def function(module_name, name, value, rows):
    kind = getattr(value, "__name__", "")
    row = rows.get(kind)
    if row and getattr(importlib.import_module("fuselet")._C.functions, kind, None) is value:
        return from_row("function", name, row, row.args, result(row), row.doc)
    return [f".. autofunction:: {module_name}.{name}", ""]


def member(class_name, owner, name, value, rows):
    """One method or property of a class."""
    extension = importlib.import_module("fuselet")._C
    kind = getattr(value, "__name__", "")
    if class_name == TENSOR and kind and value in (vars(extension.TensorBase).get(kind), getattr(extension.functions, kind, None)):
        row, in_place = rows.get(kind), rows.get(kind.removesuffix("_"))
        if row and not name.endswith("_"):
            return from_row("method", name, row, row.args[1:], result(row), row.doc)
        if kind.endswith("_") and in_place and in_place.in_place:
            doc = f"{in_place.name}(), written into self, which is returned."
            return from_row("method", name, in_place, in_place.args[1:], "Tensor", doc)
    is_method = inspect.isroutine(value) or isinstance(value, (staticmethod, classmethod))
    return [f".. auto{'method' if is_method else 'attribute'}:: {class_name}.{name}", ""]


def class_(module_name, name, value, rows, places):
    """A class, or where it stands already, a link."""
    full = f"{module_name}.{name}"
    if places.setdefault(value, full) != full:
        return [f".. py:data:: {full}", "", f"   :py:class:`{places[value]}`.", ""]
    inherits = any(public_names.is_shown(base) for base in value.__bases__)
    out = [f".. autoclass:: {full}", *(["   :show-inheritance:"] if inherits else []), ""]
    held = public_names.members(value)
    bare = [f"``{n}``" for n, v in held if not v.__doc__ and not inspect.isroutine(v)]
    if bare:
        out += indented([f"Attributes: {', '.join(bare)}.", ""])
    for attribute, v in held:
        if v.__doc__:
            out += indented(member(full, value, attribute, v, rows))
    return out


def data(module_name, name, value):
    """A constant: a dtype, a generator, a text."""
    doc = "" if isinstance(value, str) else (inspect.getdoc(value) or "")
    own = doc if doc != inspect.getdoc(type(value)) else ""
    return [f".. py:data:: {module_name}.{name}", f"   :value: {value!r}", "", *indented(to_rst(own.splitlines()))]


def page(module_name, rows, places):
    module = importlib.import_module(module_name)
    groups = {"Classes": [], "Functions": [], "Values": []}
    for name in public_names.names(module_name):
        value = getattr(module, name)
        if f"{module_name}.{name}" == TENSOR:
            groups["Classes"] += [f":doc:`{TENSOR} <{TENSOR}>` has a page of its own.", ""]
            places[value] = TENSOR
        elif inspect.isclass(value):
            groups["Classes"] += class_(module_name, name, value, rows, places)
        elif callable(value):
            groups["Functions"] += function(module_name, name, value, rows)
        else:
            groups["Values"] += data(module_name, name, value)
    out = heading(module_name, "=") + [f".. py:module:: {module_name}", ""]
    out += to_rst(inspect.cleandoc(module.__doc__ or "").splitlines())
    for title, lines in groups.items():
        if lines:
            out += heading(title, "-") + lines
    return "\n".join(out) + "\n"


def tensor_page(rows):
    module = importlib.import_module("fuselet")
    out = heading(TENSOR, "=") + [".. py:currentmodule:: fuselet", ""]
    return "\n".join(out + class_("fuselet", "Tensor", module.Tensor, rows, {})) + "\n"


def index(module_names):
    out = heading("Python", "=")
    out += ["A page a module. Names and behaviour are PyTorch's where nothing else is said;",
            ":doc:`/guides/from_pytorch` lists what differs.", "", ".. list-table::", "   :widths: 35 65", ""]
    for name in module_names:
        if name == TENSOR:
            out += [f"   * - :doc:`{TENSOR} <{TENSOR}>`", "     - The class of all tensors: every method and attribute."]
            continue
        doc = inspect.cleandoc(importlib.import_module(name).__doc__ or "").split("\n\n")[0].replace("\n", " ")
        out += [f"   * - :doc:`{name} <{name}>`", f"     - {inline(doc)}"]
    out += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in module_names), ""]
    return "\n".join(out)


def pages(rows):
    """{path: text}"""
    by_name, places = {name: row for row in rows for name in (row.name, *row.aliases)}, {}
    found = public_names.modules()
    return {"python/index.rst": index([found[0], TENSOR, *found[1:]]), f"python/{TENSOR}.rst": tensor_page(by_name),
            **{f"python/{name}.rst": page(name, by_name, places) for name in found}}
