"""Formulas of the operator table as text for people: `std::fmax(a, b)` as `max(a, b)`, `c ? a : b` as `a if c, else b`."""

import re

WORDS = [(r'std::nan\(""\)', "NaN"), (r"std::numeric_limits<double>::infinity\(\)", "inf"), (r"\bINFINITY\b", "inf"),
         (r"\bM_SQRT1_2\b", "sqrt(1/2)"), (r"\bM_SQRT2\b", "sqrt(2)"), (r"\bM_PI\b", "pi"), (r"\bM_2_SQRTPI\b", "2/sqrt(pi)"),
         (r"\bM_LN2\b", "log(2)"), (r"\bM_LN10\b", "log(10)"), (r"std::f?abs\b", "abs"), (r"std::fmax\b", "max"),
         (r"std::fmin\b", "min"), (r"std::nearbyint\b", "round"), (r"std::", ""), (r"\bdouble\(", "("), (r"!=", "≠"),
         (r"<=", "≤"), (r">=", "≥"), (r"&&", "and"), (r"\|\|", "or"), (r"==", "=")]


def chosen(text):
    """`c ? a : b` from the outermost on; brackets keep what stands in them."""
    depth, question = 0, -1
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "?" and depth == 0:
            question = i
            break
    if question < 0:
        return re.sub(r"\(([^()]*\?[^()]*)\)", lambda m: f"({chosen(m[1])})", text)
    depth, nested = 0, 0
    for i in range(question + 1, len(text)):
        c = text[i]
        depth += (c == "(") - (c == ")")
        if depth:
            continue
        nested += c == "?"
        if c == ":" and text[i - 1] != ":" and text[i + 1:i + 2] != ":":
            if nested == 0:
                return (f"{chosen(text[question + 1:i].strip())} if {text[:question].strip()}, "
                        f"else {chosen(text[i + 1:].strip())}")
            nested -= 1
    return text


def statements(text):
    """The steps of `[&] { double a = …; return …; }()`, one a line; any other expression is one step."""
    body = re.fullmatch(r"\[&\]\s*\{(.*)\}\(\)", text.strip(), re.DOTALL)
    if not body:
        return [text]
    # A loop or a condition is shown as it stands.
    if re.search(r"\b(for|if|while) \(", body[1]):
        return ["{" + body[1] + "}"]
    out = []
    for step in filter(None, (s.strip() for s in body[1].split(";"))):
        out.append(re.sub(r"^(double|const double|auto|int64_t|bool)\s+", "", step.removeprefix("return ").strip()))
    return out


def formula(text):
    """Lines of a `reference`, `decompose` or `vjp` expression."""
    out = []
    for step in statements(text):
        for pattern, word in WORDS:
            step = re.sub(pattern, word, step)
        out.append(step if "{" in step else chosen(step))
    return out
