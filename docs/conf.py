"""Sphinx's settings; `./dev docs` lays out the source by make_pages.py and builds it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "frontend/python")]

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
autodoc_class_signature = "separated"
add_module_names = False
# Every module is documented under the name by which users reach it.
nitpicky = False


def plain(app, what, name, obj, options, lines):
    """Docstrings are plain text."""
    lines[:] = to_rst(lines)


def setup(app):
    app.connect("autodoc-process-docstring", plain)
