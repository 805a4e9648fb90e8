"""Lays out the site's source: the hand-written pages of this folder and those that are generated.

usage: make_pages.py OUT

OUT then holds what sphinx-build reads. Files that did not change are left alone, so that a second build is quick.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS), str(ROOT / "core/ops"), str(ROOT / "frontend/python")]

from generator.rows import load_rows  # noqa: E402
from pages import cpp_pages, operator_pages, python_pages  # noqa: E402
from pages.definitions import Sources  # noqa: E402

HAND_WRITTEN = ["index.md", "guides/*.md", "site.css"]


def hand_written():
    return {path.relative_to(DOCS).as_posix(): path.read_text() for pattern in HAND_WRITTEN for path in DOCS.glob(pattern)}


def all_pages():
    """{path: text} of the whole source."""
    rows, sources = load_rows(ROOT / "core/ops"), Sources(ROOT)
    return {**hand_written(), **operator_pages.pages(rows, sources), **python_pages.pages(rows), **cpp_pages.pages(ROOT)}


def main(out):
    wanted = all_pages()
    if out.exists():
        for path in out.rglob("*"):
            if path.is_file() and path.relative_to(out).as_posix() not in wanted:
                path.unlink()
    for name, text in wanted.items():
        path = out / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
