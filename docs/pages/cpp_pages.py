"""The C++ reference: a page a topic, from the public headers' comments and declarations.

Declarations go through Sphinx's own C++ reader where it understands them, so that they can be linked and searched; what
it does not understand is shown as it stands.
"""

import re

from pages.cpp_headers import Reader, top_comment
from pages.plain_text import to_rst

# page -> (title, headers in reading order); a pattern takes whatever is there.
TOPICS = {
    "tensors": ("Tensors", ["core/tensor.h", "frontend/cpp/values/*.h", "core/dtype.h", "core/device.h", "core/generator.h",
                            "core/host_cell.h", "core/error.h", "backends/threads.h"]),
    "autograd": ("Autograd", ["autograd/engine.h", "autograd/custom_function.h", "autograd/gradcheck.h", "core/dispatch_state.h"]),
    "compile": ("compile()", ["frontend/cpp/fuselet/compile.h", "compiler/match/settings.h", "compiler/match/ledger.h",
                              "compiler/report/compile_report.h", "compiler/report/report.h"]),
}
TITLES = {"nn": "Layers and losses", "optim": "Optimizers", "data": "Data", "checkpoint": "Checkpoints", "progress": "Progress"}
# Headers of which users need a part.
PARTS = {"core/dispatch_state.h": ["GradModeGuard", "NoGradGuard"]}
# Folders of frontend/cpp that are part of another topic.
WITHIN = {"values", "fuselet"}
# What the C++ domain calls the things that its directives describe.
OBJECTS = {"var": "member", "struct": "class", "enum-class": "enum"}
DIRECTIVES = {"function": "function", "value": "var", "alias": "type"}


def topics(root):
    """{page: (title, [header])}: the list above, the CUDA headers that fuselet/cuda.h names, each folder of frontend/cpp with its own."""
    found = {page: (title, [p for pattern in patterns for p in sorted(root.glob(pattern))])
             for page, (title, patterns) in TOPICS.items()}
    for folder in sorted(p for p in (root / "frontend/cpp").iterdir() if p.is_dir() and p.name not in WITHIN):
        found[folder.name] = (TITLES.get(folder.name, folder.name), sorted(folder.glob("*.h")) + sorted(folder.glob("*/*.h")))
    cuda = root / "frontend/cpp/fuselet/cuda.h"
    included = re.findall(r'#include "(backends/cuda/[^"]+)"', cuda.read_text())
    found["cuda"] = ("CUDA", [cuda, *(root / name for name in included)])
    return found


def is_readable(kind, text):
    """Whether Sphinx's C++ domain reads the declaration."""
    from sphinx.config import Config
    from sphinx.domains import cpp

    if not hasattr(cpp, "DefinitionParser"):
        return False
    config = Config()
    for name in ("cpp_id_attributes", "cpp_paren_attributes"):
        config.add(name, [], "env", ())
    parser = cpp.DefinitionParser(text, location=("", 0), config=config)
    try:
        parser.parse_declaration(OBJECTS.get(kind, kind), kind)
        parser.assert_end()
    except Exception:  # the reader's own error, or its failure on what it never met
        return False
    return True


def heading(text, mark):
    return [text, mark * len(text), ""]


def indented(lines, by="   "):
    return [by + line if line else "" for line in lines]


def form(declaration):
    """(directive, text) of the C++ domain."""
    text = declaration.text
    if declaration.kind == "alias":
        return "type", re.sub(r"\busing ", "", text, count=1)
    if declaration.kind == "type":
        keyword = re.search(r"\b(enum class|enum|class|struct)\b(?=\s+(?:\[\[\w+\]\]\s*)?[\w:]+(?:\s|$))", text)
        directive = {"enum class": "enum-class"}.get(keyword[1], keyword[1])
        return directive, (text[:keyword.start()] + text[keyword.end():]).split(" { ")[0].strip()
    return DIRECTIVES[declaration.kind], text


def described(declaration):
    """One declaration, its comment, and its members."""
    directive, text = form(declaration)
    body = to_rst(declaration.comment)
    if directive.startswith("enum") and " { " in declaration.text:
        values = declaration.text.split(" { ")[1].removesuffix(" }").rstrip(", ").split(", ")
        body += [f"Values: {', '.join(f'``{value}``' for value in values)}.", ""]
    for member in declaration.members:
        if not member.name.startswith("~"):
            body += described(member)
    if not is_readable(directive, text):
        return [".. code-block:: cpp", "", f"   {declaration.text};", "", *body]
    return [f".. cpp:{directive}:: {text}", "", *indented(body)]


def header(path, root, seen):
    """A section: the header's opening comment and what it declares."""
    name = path.relative_to(root).as_posix()
    text = path.read_text()
    out = heading(name.removeprefix("frontend/cpp/"), "-") + to_rst(top_comment(text))
    scope, part = None, PARTS.get(name)
    for declaration in Reader(text).read():
        if part and declaration.name not in part:
            continue
        if (declaration.scope, declaration.text) in seen or not declaration.scope.startswith("fuselet"):
            continue
        seen.add((declaration.scope, declaration.text))
        if declaration.scope != scope:
            scope = declaration.scope
            out += [f".. cpp:namespace:: {scope}", ""]
        out += described(declaration)
    return out


def index(found):
    out = heading("C++", "=")
    out += ["One include, ``#include <fuselet/fuselet.h>``, brings all of it. Operators are functions of the namespace "
            "``fuselet`` and methods of ``Tensor``; they are listed under :doc:`/operators/index`.", "",
            ".. toctree::", "", *(f"   {page}" for page in found), ""]
    return "\n".join(out)


def pages(root):
    """{path: text}"""
    found, seen = topics(root), set()
    out = {"cpp/index.rst": index(found)}
    for page, (title, headers) in found.items():
        lines = heading(title, "=")
        for path in headers:
            lines += header(path, root, seen)
        out[f"cpp/{page}.rst"] = "\n".join(lines) + "\n"
    return out
