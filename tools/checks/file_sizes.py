"""A file past 600 lines holds more than one idea; past 400 it is worth a look. Tables are exempt."""

from tools.checks.problem import Problem

LIMIT_LINES = 600
WARNING_LINES = 400
SUFFIXES = (".h", ".cpp", ".cu", ".py", ".pyi", ".cmake", ".sh")


def find(tree):
    for path in tree.select(*SUFFIXES):
        count = len(tree.lines(path))
        if count > LIMIT_LINES:
            yield Problem(path, 0, f"{count} lines, the limit is {LIMIT_LINES}")
        elif count > WARNING_LINES:
            yield Problem(path, 0, f"{count} lines, look for the second idea", is_warning=True)
