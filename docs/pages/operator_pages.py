"""The operator reference: a page a family and an index, from the table that also generates the C++ and the bindings."""

from pathlib import PurePosixPath

from generator import cpp_api
from generator.python_stubs import parameter, result
from pages import operator_facts as facts
from pages.plain_text import inline, to_rst

# kind -> (page, title). Pointwise rows have a page a file of the table, those with a bool result stand with the comparisons.
FAMILIES = {
    "comparison": ("comparisons", "Comparisons and logic"),
    "reduction": ("reductions", "Reductions"),
    "scan": ("scans", "Scans"),
    "view": ("views", "Views"),
    "factory": ("making", "Making tensors"),
    "random": ("random", "Random numbers"),
    "gather": ("gathers", "Gathers"),
    "scatter": ("scatters", "Scatters"),
    "join": ("joins", "Joining"),
    "contraction": ("contractions", "Products and convolutions"),
    "fused": ("fused", "Fused"),
    "optimizer": ("optimizers", "Steps of optimizers"),
    "composite": ("composites", "Composites"),
}
INTRODUCTION = """Operators
=========

Every operator is declared once, in a row of ``core/ops/*.toml``; this reference is generated from the same rows as the
C++ functions, the Python bindings, promotion and the tests. A *composite* unfolds into other operators; a *primitive* is
what a compiled graph consists of in the end; operators marked *internal* have no function of their own in Python and
appear in graphs, on the tape and inside other operators.

"""


def families(rows, sources):
    """[(page, title, rows)] of those that have any; in a page what users call comes first."""
    members = {}
    for row in rows:
        members.setdefault(family_of(row, sources), []).append(row)
    files = sorted(key for key in members if key not in FAMILIES)  # and a kind that is new
    titled = [(key, key.replace("_", ": ", 1).capitalize()) for key in files]
    for key, (page, title) in [*((key, (key, title)) for key, title in titled), *FAMILIES.items()]:
        if key in members:
            yield page, title, sorted(members[key], key=lambda row: (is_internal(row), row.name))


def family_of(row, sources):
    """A kind, or for pointwise rows the name of the table's file."""
    if not row.pointwise:
        return row.kind
    if row.get("promotion") == "bool":
        return "comparison"
    return PurePosixPath(sources.table_line(row.name, "core/ops/*.toml").split(":")[0]).stem


def is_internal(row):
    return not row.get("function", True) and not row.get("method")


def heading(text, mark):
    return [text, mark * max(len(text), 4), ""]


def indented(lines, by="   "):
    return [by + line if line else "" for line in lines]


def code(text, language):
    return [f".. code-block:: {language}", "", *indented(text.rstrip().splitlines()), ""]


def folded(summary, definition):
    """A source text that opens on a click."""
    if definition is None:
        return []
    return [".. raw:: html", "", f"   <details><summary>{summary}: {definition.place}</summary>", "",
            *code(definition.text, "cpp"), ".. raw:: html", "", "   </details>", ""]


def forms(row):
    """How it is called, in Python and in C++."""
    lines = []
    if row.get("function", True):
        lines.append(f"fuselet.{row.name}({', '.join(map(parameter, row.args))}) -> {result(row)}")
    rest = ", ".join(map(parameter, row.args[1:]))
    if row.get("method"):
        lines.append(f"Tensor.{row.name}({rest}) -> {result(row)}")
    if row.in_place and not row.mutates:
        lines.append(f"Tensor.{row.name}_({rest}) -> Tensor")
    return "\n".join(lines), cpp_api.signature(row, row.name, row.args) + ";"


def field(name, lines):
    """`:name: text` with a body of any lines."""
    lines = [line for line in lines if line is not None]
    return [f":{name}: {lines[0]}", *indented(lines[1:]), ""] if lines else []


def error_lines(row, sources):
    found = facts.errors(row, sources)
    return ["", *(f"- ``{kind}``: {inline(message)}" for kind, message in found)] if found else []


def derivative_lines(row):
    sentence, by_argument = facts.derivative(row)
    if not by_argument:
        return [inline(sentence)]
    return ["", *(f"- ``{name}``: " + "; ".join(f"``{step}``" for step in steps) for name, steps in by_argument)]


def entry(row, sources):
    """The section of one operator."""
    python, cpp = forms(row)
    out = [f".. _op-{row.name}:", "", *heading(row.name, "-"), f".. index:: {row.name} (operator)", ""]
    out += to_rst([row.doc])
    if python:
        out += code(python, "text")
    out += code(cpp, "cpp")
    if row.aliases:
        out += field("Also named", [", ".join(f"``{alias}``" for alias in row.aliases)])
    out += field("Returns", [inline(facts.results(row))])
    if facts.dtypes(row):
        out += field("Dtypes", [inline(facts.dtypes(row))])
    if facts.shapes(row):
        out += field("Shapes", [inline(facts.shapes(row))])
    out += field("Errors", error_lines(row, sources))
    steps = facts.formula_lines(row)
    if steps:
        out += field("Formula", [" |br| ".join(f"``{step}``" for step in steps)] if len(steps) == 1 else
                     ["", *(f"| ``{step}``" for step in steps)])
    out += field("Derivative", derivative_lines(row))
    out += field("Autocast", [inline(facts.CAST[row.get("cast", "none")])])
    out += field("Sources", [", ".join(f"{role} ``{place}``" for role, place in facts.places(row, sources))])
    out += folded("Shape rule", facts.shape_rule(row, sources) if not row.pointwise else None)
    out += folded("Decomposition", facts.decomposition(row, sources))
    out += folded("Unfolds into", facts.composite(row, sources))
    out += folded("Derivative", facts.vjp_rule(row, sources))
    return out


def first_sentence(doc):
    return doc.split(". ")[0].rstrip(".") + "."


def table(rows):
    """Name and first sentence of each row."""
    out = [".. list-table::", "   :widths: 25 75", ""]
    for row in rows:
        mark = " *internal*" if is_internal(row) else ""
        out += [f"   * - :ref:`{row.name} <op-{row.name}>`{mark}", f"     - {inline(first_sentence(row.doc))}"]
    return [*out, ""]


def pages(rows, sources):
    """{path: text}"""
    found, index = {}, [INTRODUCTION]
    toc = [".. toctree::", "   :hidden:", ""]
    for page, title, members in families(rows, sources):
        toc.append(f"   {page}")
        text = heading(title, "=") + table(members)
        for row in members:
            text += entry(row, sources)
        found[f"operators/{page}.rst"] = "\n".join(text)
        index += [*heading(f"{title} ({len(members)})", "-"), *table(members)]
    index += toc
    found["operators/index.rst"] = "\n".join(index) + "\n"
    return found
