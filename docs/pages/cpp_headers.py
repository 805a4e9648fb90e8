"""A C++ header as text: what stands at its top, and its public declarations with their comments.

Reads the project's own form: comments are `//` lines right above what they describe, or behind it on the same line;
`private:` and `protected:` end what users see; blocks are closed by a brace.
"""

import dataclasses
import re

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|[{};()]|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|\n\s*\n', re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"^(?:inline\s+)?namespace\s*([\w:]*)$")
ACCESS = re.compile(r"\s*(public|private|protected)\s*:(?!:)")
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(class|struct|enum class|enum)\s+(?:\[\[\w+\]\]\s*)?([\w:]+)(?:\s+final)?\s*(?::\s*(.*))?$", re.DOTALL)


@dataclasses.dataclass
class Declaration:
    """A declaration without its body; a type has members."""

    text: str
    comment: list
    kind: str  # "type", "function", "value" or "alias"
    name: str
    scope: str
    members: list = dataclasses.field(default_factory=list)


def top_comment(text):
    """The lines of the header's opening comment."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(uncommented(line))
    return lines


def uncommented(line):
    """A comment's text; a line that only parts groups says nothing."""
    text = line.strip().removeprefix("//").removeprefix(" ")
    return "" if text.startswith("---") else text


def flat(text):
    return re.sub(r"\s+", " ", text).strip()


def without_template_arguments(head):
    """Brackets inside of them, as in std::function<void()>, make no function."""
    while (shorter := re.sub(r"(?<!operator)<[^<>]*>(?!=)", "", head)) != head:
        head = shorter
    return head


class Reader:
    """Goes through a header once, from token to token."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def tokens(self):
        for token in TOKEN.finditer(self.text):
            yield token

    def read(self):
        """[Declaration] of the header, in order."""
        out = []
        stack = [("namespace", "", out, True)]
        comment, start, depth = [], 0, 0
        pending_value = None
        after_comments = len("\n".join(self.text.splitlines()[:len(top_comment(self.text))]))
        for token in self.tokens():
            if token.start() < after_comments:
                start = token.end()
                continue
            t = token[0]
            if t.startswith("//"):
                start = self.past_access_words(start, token.start(), stack)
                between = self.text[start:token.start()]
                on_same_line = "\n" not in self.text[self.line_start(token.start()):token.start()] and \
                    self.text[self.line_start(token.start()):token.start()].strip()
                if depth == 0 and not between.strip():
                    if on_same_line and pending_value is not None and pending_value[1] == self.line_start(token.start()):
                        pending_value[0].comment.append(uncommented(t))
                    elif not on_same_line:
                        comment.append(uncommented(t))
                    start = token.end()
                continue
            if t.startswith(("#", " #")) or t.lstrip().startswith("#"):
                start, comment = token.end(), []
                continue
            if t.startswith(("/*", '"', "'")):
                continue
            if not t.strip():  # an empty line parts a comment from what does not belong to it
                if depth == 0 and not self.text[start:token.start()].strip():
                    comment = []
                    start = token.end()
                continue
            if t in "()":
                depth += (t == "(") - (t == ")")
                continue
            if depth > 0:
                continue
            head, head_visible = self.head(start, token.start(), stack)
            kind, scope, into, _ = stack[-1]
            if t == "{":
                is_scope, is_type = SCOPE.match(head), TYPE.match(head)
                if is_scope:
                    inner = "::".join(filter(None, [scope, is_scope[1]]))
                    hidden = not is_scope[1] or is_scope[1] in ("detail", "internal")
                    stack.append(("namespace", inner, [] if hidden else into, not hidden))
                elif is_type and kind != "body":
                    made = Declaration(head, comment, "type", is_type[2], scope)
                    if head_visible:
                        into.append(made)
                    if is_type[1].startswith("enum"):
                        stack.append(("enum", scope, made, True))
                    else:
                        stack.append(("type", f"{scope}::{is_type[2]}", made.members, is_type[1] == "struct"))
                elif self.opens_a_value(head):
                    stack.append(("initialiser", scope, into, True))
                    # The declaration goes on until its semicolon.
                    self.kept = (start, comment)
                    continue
                else:
                    if head_visible and self.is_function(head):
                        into.append(self.function(head, comment, scope))
                    stack.append(("body", scope, [], False))
                comment, start = [], token.end()
            elif t == "}":
                closed = stack.pop() if len(stack) > 1 else stack[-1]
                if closed[0] == "initialiser":
                    start, comment = self.kept
                    continue
                if closed[0] == "enum":
                    closed[2].text += " { " + flat(re.sub(r"//[^\n]*", "", self.text[start:token.start()])) + " }"
                comment, start = [], token.end()
            elif t == ";":
                if head and head_visible and kind in ("namespace", "type"):
                    made = self.simple(head, comment, scope)
                    if made:
                        into.append(made)
                        pending_value = (made, self.line_start(token.start()))
                comment, start = [], token.end()
        return out

    def line_start(self, at):
        return self.text.rfind("\n", 0, at) + 1

    def past_access_words(self, start, end, stack):
        """The place after `public:` and the like at `start`, which change what users see of the scope."""
        while access := ACCESS.match(self.text, start, end):
            kind, scope, into, _ = stack[-1]
            stack[-1] = (kind, scope, into, access[1] == "public")
            start = access.end()
        return start

    def head(self, start, end, stack):
        """The text of a declaration before its body or semicolon, and whether users see it."""
        start = self.past_access_words(start, end, stack)
        return flat(re.sub(r"//[^\n]*", "", self.text[start:end])), all(level[3] for level in stack)

    def opens_a_value(self, head):
        """Whether a brace after `head` holds a value, as in `int x{1};` or a constructor's `: x_{1}`."""
        if re.search(r"\)[^()]*?\s:\s", head):
            return re.search(r"\w$", head) is not None
        plain = without_template_arguments(head)
        return re.search(r"=$|\w$", plain) is not None and "(" not in plain and not head.startswith("extern")

    def is_function(self, head):
        """A definition outside of its class is none of the header's functions."""
        plain = without_template_arguments(head)
        return "(" in plain and not re.search(r"\w::[~\w]+\s*\(", plain)

    def function(self, head, comment, scope):
        # Without the initialisers of a constructor.
        depth = 0
        for i, c in enumerate(head):
            depth += (c in "(<[") - (c in ")>]")
            if c == ":" and depth <= 0 and head[i - 1] == " " and head[i + 1:i + 2] == " ":
                head = head[:i].rstrip()
                break
        name = re.search(r"(operator\s*[^\w\s(]{1,3}|operator\(\)|[\w~]+)\s*\(", head)
        return Declaration(head, comment, "function", name[1] if name else head, scope)

    def simple(self, head, comment, scope):
        if head.startswith(("friend ", "using namespace", "static_assert")) or TYPE.match(head):
            return None
        alias = re.match(r"(?:template\s*<.*?>\s*)?using ([\w:]+)", head)
        if alias and "::" in alias[1]:  # names of a class above, such as its constructors
            return None
        if alias:
            return Declaration(head, comment, "alias", alias[1], scope)
        if head.endswith("= delete"):
            return None
        if self.is_function(re.split(r"(?<!operator)=", head)[0]):
            return self.function(head, comment, scope)
        name = re.search(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=.*|\{.*\})?$", head, re.DOTALL)
        return Declaration(head, comment, "value", name[1], scope) if name else None
