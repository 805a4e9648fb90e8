"""The list of primitives, for people: compiler/decompose/PRIMITIVES.md. A test compares it with the table."""

from .rows import KINDS, Row

HEAD = """# Primitives

What a graph holds after the decompose stage: the rows of the operator table without a decomposition, {count} of them.
Written by `python3 core/ops/generate.py --primitives > compiler/decompose/PRIMITIVES.md`.

Besides, dtypes are explicit (`explicit_dtypes.h`), views and sources have one spelling (`canonical_views.h`,
`canonical_sources.h`), and `compiler/ir/legality.h` checks all of it. A cast marked `boundary` stands for eager mode's load or
store of a 16-bit number; all others round because the program says so.
"""


def text(rows: list[Row]) -> str:
    primitives = [r for r in rows if not r.composite and not r.get("decompose")]
    out = [HEAD.format(count=len(primitives))]
    for kind in KINDS:
        of_kind = [r for r in primitives if r.kind == kind]
        if not of_kind:
            continue
        out.append(f"\n## {kind} ({len(of_kind)})\n\n")
        out += [f"- `{r.schema}`: {r.doc}\n" for r in of_kind]
    return "".join(out)
