#!/usr/bin/env python3
"""Generates everything that follows from the operator table (core/ops/*.toml).

Run by the build: generate.py --out DIR writes the files, generate.py --list names them; --primitives prints the list of
primitives. A row that is wrong (unknown type,
a VJP for an argument that does not exist, a name twice) stops the build with the row's name.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from generator import cpp_api, cpp_tables, primitives, python_stubs  # noqa: E402
from generator.rows import load_rows  # noqa: E402


def outputs(rows):
    return {**cpp_api.files(rows), **cpp_tables.files(rows), **python_stubs.files(rows)}


def write_if_changed(path: pathlib.Path, text: str) -> None:
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--primitives", action="store_true")
    options = parser.parse_args()
    rows = load_rows(pathlib.Path(__file__).parent)
    if options.primitives:
        print(primitives.text(rows), end="")
        return
    generated = outputs(rows)
    if options.list:
        print("\n".join(generated))
        return
    for name, text in generated.items():
        write_if_changed(options.out / name, text)


if __name__ == "__main__":
    main()
