"""A header has #pragma once, says at its top what it holds, and opens no namespace to includers."""

import re

from tools.checks.problem import Problem

USING_NAMESPACE = re.compile(r"^\s*using\s+namespace\s")


def find(tree):
    for path in tree.select(".h"):
        lines = tree.lines(path)
        if not any(line.strip() == "#pragma once" for line in lines):
            yield Problem(path, 0, "no #pragma once")
        # The comment comes before #pragma once or right after it.
        opening = [line for line in lines[:4] if line.strip() and line.strip() != "#pragma once"]
        if not opening or not opening[0].lstrip().startswith(("//", "/*")):
            yield Problem(path, 1, "no comment at the top that says what the header holds")
        for number, line in enumerate(lines, 1):
            if USING_NAMESPACE.match(line):
                yield Problem(path, number, "using namespace in a header")
