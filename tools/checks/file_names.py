"""A name says what a file does; these words say nothing."""

from pathlib import PurePosixPath

from tools.checks.problem import Problem

FORBIDDEN = {"util", "utils", "misc", "common", "base", "helper", "helpers", "manager"}
# The Python package keeps the names that users of PyTorch know.
ALLOWED_FOLDERS = ("frontend/python/fuselet/utils", "frontend/python/fuselet/nn/utils")
ALLOWED_FILE = "frontend/python/fuselet/optim/swa_utils.py"
# "Common subexpression" is the field's own term.
ALLOWED_TERM = "common_subexpressions"


def find(tree):
    for path in tree.paths:
        judged = path
        if path == ALLOWED_FILE:
            continue
        for folder in ALLOWED_FOLDERS:
            if path.startswith(folder + "/"):
                judged = path[len(folder) + 1:]
        for part in PurePosixPath(judged).parts:
            for word in part.replace(ALLOWED_TERM, "").split(".")[0].lower().split("_"):
                if word in FORBIDDEN:
                    yield Problem(path, 0, f"'{word}' in a name does not say what it holds")
