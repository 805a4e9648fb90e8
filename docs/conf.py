"""Sphinx's settings; `./dev docs` lays out the source by make_pages.py and builds it."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "frontend/python")]

from pages import public_names  # noqa: E402
from pages.plain_text import to_rst  # noqa: E402

project = "fuselet"
author = "the fuselet authors"
extensions = ["sphinx.ext.autodoc", "myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "fuselet"
html_show_sphinx = False
html_copy_source = False
autodoc_member_order = "alphabetical"
add_module_names = False


BINDINGS = [(r"^\(self(: [\w.]+)?(, )?", "("), (r"fuselet\._C\.", "fuselet."), (r"SupportsInt \| SupportsIndex", "int"),
            (r"SupportsFloat \| SupportsIndex", "float"), (r"collections\.abc\.", "")]


def plain(app, what, name, obj, options, lines):
    """Docstrings are plain text."""
    lines[:] = to_rst(lines)


def without_bindings(app, what, name, obj, options, signature, returns):
    """What pybind11 writes into signatures, as users know it."""
    def known(text):
        for pattern, word in BINDINGS:
            text = re.sub(pattern, word, text)
        return text

    return signature and known(signature), returns and known(returns)


def shown_bases(app, name, obj, options, bases):
    bases[:] = [base for base in bases if public_names.is_shown(base)]


def setup(app):
    app.connect("autodoc-process-bases", shown_bases)
    app.connect("autodoc-process-docstring", plain)
    app.connect("autodoc-process-signature", without_bindings)
