"""Relative links of Markdown files lead to files that exist."""

import posixpath
import re
from urllib.parse import unquote

from tools.checks.problem import Problem

LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
CODE_SPAN = re.compile(r"`[^`]*`")
FENCE = "```"


def find(tree):
    paths = set(tree.paths)
    folders = {posixpath.dirname(path) for path in paths}
    folders |= {parent for path in paths for parent in _parents(path)}
    for path in tree.select(".md"):
        in_code = False
        for number, line in enumerate(tree.lines(path), 1):
            if line.lstrip().startswith(FENCE):
                in_code = not in_code
            if in_code:
                continue
            for target in LINK.findall(CODE_SPAN.sub("", line)):
                if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", target) or target.startswith("#"):
                    continue
                wanted = _resolve(path, target)
                if wanted not in paths and wanted not in folders:
                    yield Problem(path, number, f"link leads nowhere: {target}")


def _resolve(path, target):
    target = unquote(target.split("#")[0])
    start = "" if target.startswith("/") else posixpath.dirname(path)
    return posixpath.normpath(posixpath.join(start, target.lstrip("/"))).removeprefix("./")


def _parents(path):
    while path := posixpath.dirname(path):
        yield path
    yield "."
