"""Where C++ functions are defined, and their text: enough to show a rule beside its operator.

A definition begins at the left margin and ends with the brace there, as clang-format writes it.
"""

import functools
import re

HEAD = re.compile(r"^(?:template[^\n]*\n)?(?:\[\[\w+\]\] )?[A-Za-z_][^\n;{}()]*?[\s:&*](\w+)\((?:[^;{}]|\{\})*?\)[\w\s]*\{", re.MULTILINE)


class Definition:
    """A function: its name, path, first line and text."""

    def __init__(self, name, path, line, text):
        self.name, self.path, self.line, self.text = name, path, line, text

    @property
    def place(self):
        return f"{self.path}:{self.line}"


class Sources:
    """Definitions in the files under a root."""

    def __init__(self, root):
        self.root = root

    @functools.cache
    def of(self, pattern):
        """{name: Definition} of every function defined in the files that match a pattern; the first one of a name."""
        found = {}
        for path in sorted(self.root.glob(pattern)):
            text = path.read_text()
            for head in HEAD.finditer(text):
                body = text[head.start():end_of(text, head.end() - 1)]
                line = text.count("\n", 0, head.start()) + 1
                found.setdefault(head[1], Definition(head[1], path.relative_to(self.root).as_posix(), line, body))
        return found

    @functools.cache
    def table_line(self, name, pattern):
        """path:line of the table `[name]` in the TOML files that match a pattern."""
        for path in sorted(self.root.glob(pattern)):
            lines = path.read_text().splitlines()
            if f"[{name}]" in lines:
                return f"{path.relative_to(self.root).as_posix()}:{lines.index(f'[{name}]') + 1}"
        return None

    def find(self, name, *patterns):
        """The first definition of `name` in the patterns, or None."""
        return next((self.of(p)[name] for p in patterns if name in self.of(p)), None)


def end_of(text, brace):
    """The place after the brace that closes the one at `brace`; strings and comments may hold braces."""
    depth, token = 0, re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//[^\n]*|[{}]')
    for found in token.finditer(text, brace):
        depth += (found[0] == "{") - (found[0] == "}")
        if depth == 0:
            return found.end()
    return len(text)
