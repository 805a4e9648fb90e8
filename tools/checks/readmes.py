"""Each top folder has a README; a README below the root has at most 40 lines."""

from tools.checks.problem import Problem

TOP_FOLDERS = ["core", "autograd", "compiler", "backends", "frontend", "tests", "examples", "tools", "docs"]
LIMIT_LINES = 40


def find(tree):
    paths = set(tree.paths)
    for folder in TOP_FOLDERS:
        if any(path.startswith(folder + "/") for path in paths) and \
                f"{folder}/README.md" not in paths:
            yield Problem(folder, 0, "no README.md")
    for path in tree.select("/README.md"):
        count = len(tree.lines(path))
        if count > LIMIT_LINES:
            yield Problem(path, 0, f"{count} lines, the limit of a README is {LIMIT_LINES}")
