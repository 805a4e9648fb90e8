"""Comments and docstrings, which are plain text, as reStructuredText.

They know backticks around code, indented lines (shown as they stand), lists that begin with "- ", and entries
"name: text" whose further lines are indented. Nothing else in them means anything to reStructuredText, so whatever
a comment says, the site builds.
"""

import re

CODE_SPAN = re.compile(r"`{1,2}([^`\n]+?)`{1,2}")
ENTRY = re.compile(r"(\*{0,2}\w[\w.]*(?:, \*{0,2}\w[\w.]*)*): (.+)")
LOOKS_LIKE_A_LIST = re.compile(r"\(?\w{1,4}[.)]\s|[^\w\s]")


def escaped(text):
    """Text in which no character means markup."""
    text = re.sub(r"([\\*`|_])", r"\\\1", text)
    return re.sub(r":(?=[:`\w])", r"\\:", text)


def inline(text):
    """One paragraph: code between backticks, everything else escaped."""
    out, at = [], 0
    for span in CODE_SPAN.finditer(text):
        code = span[1].strip()
        if not code:
            continue
        out.append(escaped(text[at:span.start()]))
        # Markup must stand apart from letters; an escaped blank shows as nothing.
        out.append(("\\ " if at < span.start() and not text[span.start() - 1].isspace() else "") + f"``{code}``\\ ")
        at = span.end()
    out.append(escaped(text[at:]))
    whole = "".join(out).strip()
    return "\\ " + whole if LOOKS_LIKE_A_LIST.match(whole) else whole


def blocks(lines):
    """Runs of lines between blank ones."""
    run = []
    for line in [*lines, ""]:
        if line.strip():
            run.append(line.expandtabs(4).rstrip())
        elif run:
            yield run
            run = []


def indent_of(line):
    return len(line) - len(line.lstrip())


def literal(run):
    least = min(map(indent_of, run))
    return ["::", "", *("    " + line[least:] for line in run), ""]


def items(run, opens):
    """Lines grouped by those that open an item; None where the first line opens none or a later one hangs loose."""
    groups = []
    for line in run:
        if opens(line):
            groups.append([line])
        elif groups and indent_of(line) > 0:
            groups[-1].append(line)
        else:
            return None
    return groups


def block(run):
    if indent_of(run[0]) >= 2:
        return literal(run)
    bullets = items(run, lambda line: line.startswith("- "))
    if bullets:
        return [text for group in bullets for text in ("- " + inline(joined(group)[2:]),)] + [""]
    entries = items(run, lambda line: indent_of(line) == 0 and ENTRY.fullmatch(line))
    # One line alone is a sentence with a colon.
    if entries and (len(entries) > 1 or len(run) > 1):
        out = []
        for group in entries:
            name, text = ENTRY.fullmatch(joined(group)).groups()
            out += [f"``{name}``", "    " + inline(text), ""]
        return out
    # A paragraph, and below it lines that are indented: a formula or an example.
    end = next((i for i, line in enumerate(run) if i and indent_of(line) >= 2), len(run))
    out = [inline(joined(run[:end])), ""]
    return out if end == len(run) else out + block(run[end:])


def joined(run):
    return " ".join(line.strip() for line in run)


def to_rst(lines):
    """Lines of reStructuredText that show what `lines` say."""
    return [text for run in blocks(lines) for text in block(run)]
