"""Every Python file and stub parses."""

import ast

from tools.checks.problem import Problem


def find(tree):
    for path in tree.select(".py", ".pyi"):
        try:
            ast.parse(tree.text(path), filename=path)
        except SyntaxError as error:
            yield Problem(path, error.lineno or 0, f"does not parse: {error.msg}")
