"""Runs every check over the tree and lists what they find. Exit status 1 when something fails.

usage: python3 -m tools.checks [--clang-format PROGRAM] [--fix] [--lint-all | --no-lint]
"""

import argparse
import sys
import time
from pathlib import Path

from tools.checks import (doc_links, file_names, file_sizes, formatting, header_form,
                          include_direction, lint, operator_names, python_compiles, readmes)
from tools.checks.tree import Tree


def main():
    parser = argparse.ArgumentParser(prog="./dev check")
    parser.add_argument("--clang-format", default="clang-format", help=argparse.SUPPRESS)
    parser.add_argument("--fix", action="store_true", help="format the C++ first")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--lint-all", action="store_true", help="clang-tidy over every source")
    choice.add_argument("--no-lint", action="store_true", help="no clang-tidy at all")
    arguments = parser.parse_args()

    tree = Tree(Path(__file__).resolve().parent.parent.parent)
    if arguments.fix:
        formatting.fix(tree, arguments.clang_format)
    checks = {
        "file sizes": file_sizes.find,
        "file names": file_names.find,
        "include direction": include_direction.find,
        "header form": header_form.find,
        "operator names": operator_names.find,
        "readmes": readmes.find,
        "doc links": doc_links.find,
        "python compiles": python_compiles.find,
        "format": lambda tree: formatting.find(tree, arguments.clang_format),
    }
    if not arguments.no_lint:
        checks["lint"] = lambda tree: lint.find(tree, arguments.lint_all)

    failures = 0
    for name, find in checks.items():
        start = time.monotonic()
        problems = list(find(tree))
        for problem in problems:
            print(f"  {problem}")
        count = sum(not problem.is_warning for problem in problems)
        failures += count
        verdict = f"{count} found" if count else "ok"
        print(f"{name}: {verdict} ({time.monotonic() - start:.1f} s)")
    print(f"check: {failures} problems" if failures else "check ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
