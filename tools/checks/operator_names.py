"""Schedules and emitters name no operator: what they know of one is in its row and its lowered loop."""

import re

from tools.checks.problem import Problem

FOLDERS = ("compiler/schedule/", "backends/codegen/", "backends/cpu/codegen/", "backends/cuda/codegen/")
OPERATOR = re.compile(r"\bOpId::(\w+)")


def find(tree):
    for path in tree.select(".h", ".cpp"):
        if not path.startswith(FOLDERS):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            for name in OPERATOR.findall(line):
                yield Problem(path, number, f"names the operator {name}; a schedule or an emitter serves all of a kind")
