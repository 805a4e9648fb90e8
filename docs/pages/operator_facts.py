"""What a row of the operator table and the sources that belong to it say about an operator, as text."""

from pages.readable import formula
from pages.stated_errors import stated_errors

PROMOTION = {
    "same": "The arguments are promoted to one dtype, which is the result's.",
    "float": "The arguments are promoted to one dtype; integers and bools become the default dtype.",
    "bool": "The arguments are promoted to one dtype for the calculation; the result is bool.",
    "first": "The result has the dtype of the first argument; the others are converted.",
    "none": "No promotion.",
}
PROMOTION_OF_ONE = {
    "same": "The result has the dtype of the argument.",
    "float": "The result has the dtype of the argument; integers and bools become the default dtype.",
    "bool": "The result is bool.",
}
CAST = {
    "lower": "`lower`: in the 16-bit dtype of the region.",
    "float32": "`float32`: in float32.",
    "promote": "`promote`: in the widest dtype of the arguments.",
    "none": "`none`: as it stands.",
}
KERNEL_KINDS = {"cpu": "backends/cpu/*.cpp", "reference": "backends/reference/*.cpp"}


def results(row):
    if row.mutates:
        lists = ", ".join(f"`{a.name}`" for a in row.args if a.mutated)
        return f"Writes {lists} in place" + (" and returns a tensor." if row.returns else "; returns nothing.")
    if row.returns == 1:
        return "A view of `self`: no element is copied." if row.kind == "view" else "A tensor."
    return f"{row.returns} tensors."


def operands(row):
    return sum(a.type in ("Tensor", "Operand") for a in row.args)


def dtypes(row):
    if not row.pointwise:
        return None
    rule = row.get("promotion", "same")
    text = PROMOTION[rule] if operands(row) > 1 else PROMOTION_OF_ONE.get(rule, PROMOTION[rule])
    if row.integers_only:
        text += " Integers and bools alone."
    elif "compute" in row.fields:
        text += f" Calculated in {', '.join(f'`{t}`' for t in row.get('compute').split())}."
    return text


def shape_rule(row, sources):
    if row.composite:
        return None
    name = row.get("shape", "pointwise" if row.pointwise else row.name)
    return sources.find(name, "core/ops/shape_*.cpp")


def shapes(row):
    if not broadcasts(row):
        return None
    return "Any shape; the result has the same one." if operands(row) < 2 else "Tensor arguments broadcast to the result's shape."


def broadcasts(row):
    """Whether the shape rule is that of all pointwise operators."""
    return row.pointwise and row.get("shape", "pointwise") == "pointwise"


def errors(row, sources):
    """[(kind, message)] that the shape rule or the composite states."""
    rule = composite(row, sources) if row.composite else shape_rule(row, sources)
    if rule is None:
        return []
    callable_too = {**sources.of("core/shape.cpp"), **sources.of("core/ops/shape_*.cpp")}
    own = sources.of(rule.path)
    found = stated_errors(rule, {**callable_too, **own}, row.name)
    # Of what the common rule checks, an operator with one argument can break nothing.
    return [(kind, text) for kind, text in found if not broadcasts(row) or operands(row) > 1 and "broadcast" in text]


def composite(row, sources):
    return sources.find(row.name, "core/ops/composite_*.cpp") if row.composite else None


def decomposition(row, sources):
    """The C++ function, where the decomposition is one."""
    if row.get("decompose") is True:
        return sources.find(row.name, "core/ops/decompositions*.cpp")
    return None


def formula_lines(row):
    if isinstance(row.get("decompose"), str):
        return formula(row.get("decompose"))
    return formula(row.get("reference")) if "reference" in row.fields else []


def derivative(row):
    """(sentence, [(argument, expression lines)])"""
    vjp = row.get("vjp")
    if row.composite:
        return "Follows from the operators that it consists of.", []
    if vjp is None:
        return "None: gradients end here.", []
    if vjp == "decompose":
        return "Follows from differentiating its decomposition.", []
    if row.pointwise:
        return "", [(name, formula(text)) for name, text in vjp.items()]
    read = sorted({n for names in vjp.values() for n in names}) if isinstance(vjp, dict) else vjp
    wanted = f" For {', '.join(f'`{name}`' for name in vjp)}." if isinstance(vjp, dict) else ""
    if not read:
        return f"A rule in operators that reads nothing but the incoming gradient.{wanted}", []
    return f"A rule in operators that reads {', '.join(saved(n) for n in read)}.{wanted}", []


def saved(name):
    if name.endswith("_meta"):
        return f"sizes and dtype of `{name.removesuffix('_meta')}`"
    return "the result" if name == "result" else f"`{name}`"


def vjp_rule(row, sources):
    if row.pointwise or row.composite or not row.differentiable or row.get("vjp") == "decompose":
        return None
    return sources.find(row.name, "autograd/rules/*.cpp")


def places(row, sources):
    """[(role, path:line)] of everything written for this row by hand."""
    found = [("row", sources.table_line(row.name, "core/ops/*.toml"))]
    if row.pointwise and not isinstance(row.get("decompose"), str):
        found.append(("formula", sources.find(row.get("formula", row.name), "core/formulas/*.h")))
    found += [("shape rule", shape_rule(row, sources)), ("derivative", vjp_rule(row, sources)),
              ("decomposition", decomposition(row, sources)), ("composite", composite(row, sources))]
    if not row.pointwise and not row.composite:
        found += [(f"{kind} kernel", sources.find(row.name, pattern)) for kind, pattern in KERNEL_KINDS.items()]
    return [(role, getattr(place, "place", place)) for role, place in found if place]
