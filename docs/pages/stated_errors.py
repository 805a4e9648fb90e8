"""The errors that a shape rule or composite states: its FUSELET_CHECKs and those of the functions it calls.

A message is shown with the operator's name in place and the other values as {expressions}.
"""

import re

CHECK = re.compile(r"\b(FUSELET_CHECK|FUSELET_CHECK_INDEX|fail|fail_index)\(")
CALL = re.compile(r"\b([a-z]\w*)\(")
KINDS = {"FUSELET_CHECK": "RuntimeError", "FUSELET_CHECK_INDEX": "IndexError", "fail": "RuntimeError",
         "fail_index": "IndexError"}
DEPTH = 3


def arguments(text, at):
    """The arguments of a call whose bracket opens before `at`, split at their commas."""
    parts, depth, current = [], 1, ""
    for token in re.compile(r'"(?:\\.|[^"\\])*"|.', re.DOTALL).finditer(text, at):
        t = token[0]
        depth += (t in "([{") - (t in ")]}")
        if depth == 0:
            break
        if t == "," and depth == 1:
            parts.append(current.strip())
            current = ""
        else:
            current += t
    return [*parts, current.strip()]


def readable_value(text):
    """An expression of a message as a reader sees it."""
    for pattern in (r"to_string\((.*)\)", r"name_of\((.*)\)", r"static_cast<[^>]*>\((.*)\)"):
        inner = re.fullmatch(pattern, text, re.DOTALL)
        if inner and inner[1].count("(") == inner[1].count(")"):
            text = inner[1]
    return "{" + re.sub(r"\s+", " ", text) + "}"


def message(parts, op):
    out = []
    for part in parts:
        strings = re.findall(r'"((?:\\.|[^"\\])*)"', part)
        if strings and re.fullmatch(r'(?:"(?:\\.|[^"\\])*"\s*)+', part):
            out.append("".join(strings).replace('\\"', '"'))
        elif part in ("op", "call.op->name", "name"):
            out.append(op)
        else:
            out.append(readable_value(part))
    return "".join(out)


def stated_errors(definition, functions, op, depth=DEPTH, seen=None):
    """[(kind, message)] in the order of the text, each once. `functions` has what the rule may call."""
    seen = set() if seen is None else seen
    seen.add(definition.name)
    found = []
    for token in re.compile(f"{CHECK.pattern}|{CALL.pattern}").finditer(definition.text):
        if token[1]:
            parts = arguments(definition.text, token.end())
            text = message(parts[1:] if token[1].startswith("FUSELET") else parts, op)
            if re.search("[a-z]", text):
                found.append((KINDS[token[1]], text))
        elif depth and token[2] in functions and token[2] not in seen:
            found += stated_errors(functions[token[2]], functions, op, depth - 1, seen)
    return list(dict.fromkeys(found))
