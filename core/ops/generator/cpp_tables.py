"""The tables that each layer fills: rows, VJP rules, decompositions, CPU kernels, references.

Every function that a row promises is declared and used here, so that a missing one does not link.
"""

import re

from .cpp_api import HEADER, parameters, return_type
from .expressions import derived_formulas, tensor_functions
from .rows import TYPES, Row

SHARDS = 6  # translation units for the CPU's pointwise loops: compile time, spread over cores


def files(rows: list[Row]) -> dict[str, str]:
    out = {
        "core/op_table.cpp": op_table(rows),
        "core/ops/decompositions.h": decompositions(rows),
        "core/ops/derived_formulas.h": derived_formulas(rows),
        "core/decomposition_table.cpp": decomposition_table(rows),
        "autograd/vjp_table.cpp": vjp_table(rows),
        "backends/cpu/kernel_table.cpp": kernel_table(rows),
        "backends/reference/reference_table.cpp": reference_table(rows),
    }
    pointwise = [r for r in rows if r.pointwise]
    for shard in range(SHARDS):
        out[f"backends/cpu/pointwise_loops_{shard}.cpp"] = pointwise_loops(pointwise[shard::SHARDS], shard)
    return out


def quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def bit(value) -> str:
    return "true" if value else "false"


# ---- rows ------------------------------------------------------------------------------------------------------------
def shape_name(row: Row) -> str:
    return row.get("shape", "pointwise" if row.pointwise else row.name)


PROMOTION = {"same": "Same", "float": "Float", "bool": "Bool", "first": "None", "none": "None"}
CAST = {"lower": "Lower", "float32": "Float32", "promote": "Promote", None: "None"}


def op_table(rows):
    out = [HEADER, '#include "core/op.h"\n#include "core/ops/composites.h"\n#include "core/ops/unbox.h"\n\nnamespace fuselet {\n\n']
    shapes = sorted({shape_name(r) for r in rows if not r.composite})
    out.append("namespace shape {\n" + "".join(f"void {s}(const Call&, TensorMeta*);\n" for s in shapes) + "}  // namespace shape\n\n")
    out.append("namespace {\n\n")
    for row in rows:
        specs = ", ".join(
            "{" + ", ".join([quote(a.name), f"ArgType::{TYPES[a.type][0]}", bit(a.optional), bit(a.mutated), "false",
                             quote(a.default) if a.default is not None else "nullptr"]) + "}" for a in row.args)
        out.append(f"constexpr ArgSpec k_{row.name}_args[] = {{{specs}}};\n")
        if row.aliases:
            out.append(f"constexpr const char* k_{row.name}_aliases[] = {{{', '.join(map(quote, row.aliases))}}};\n")
        if row.composite:
            args = ", ".join(a.unbox(i) for i, a in enumerate(row.args))
            out.append(f"void unfold_{row.name}(Call& call) {{ call.outs[0] = composite::{row.name}({args}); }}\n")
    out.append("\nconstexpr Op kOps[] = {\n")
    for row in rows:
        fields = [f"OpId::{row.name}", quote(row.name), quote(row.schema), quote(row.doc), f"k_{row.name}_args",
                  str(row.returns), "false", f"OpKind::{row.kind.capitalize()}", f"Promotion::{PROMOTION[row.get('promotion', 'none')]}", str(row.get("promote_from", 0)),
                  f"CastPolicy::{CAST[row.get('cast')]}", bit(row.differentiable), bit(row.in_place), bit(row.get("function", True)),
                  bit(row.get("method", False)), "nullptr" if row.composite else f"shape::{shape_name(row)}",
                  f"unfold_{row.name}" if row.composite else "nullptr",
                  quote(row.get("formula", row.name)) if row.pointwise else "nullptr", *map(str, row.get("domain", [-3, 3])),
                  bit(row.get("crosses_devices", False)), bit(row.integers_only),
                  f"k_{row.name}_aliases" if row.aliases else "{}"]
        out.append("    {" + ", ".join(fields) + "},\n")
    out.append("};\nstatic_assert(std::size(kOps) == kNumOps);\n\n}  // namespace\n\n"
               "const Op& op_of(OpId id) { return kOps[static_cast<int>(id)]; }\n"
               "std::span<const Op> all_ops() { return kOps; }\n\n}  // namespace fuselet\n")
    return "".join(out)


# ---- decompositions --------------------------------------------------------------------------------------------------
def has_decomposition(row):
    return row.get("decompose", False)


def decomposition_type(row) -> str:
    """A row that mutates gives its outputs as one vector: what was mutated, then what it returns."""
    return "std::vector<Tensor>" if row.mutates else return_type(row)


def decompositions(rows):
    out = [HEADER, '#pragma once\n#include <array>\n\n#include "core/op.h"\n\nnamespace fuselet::decompose {\n\n']
    for row in rows:
        if has_decomposition(row):
            out.append(f"{decomposition_type(row)} {row.name}({', '.join(parameters(row.args, False))});\n")
    out.append("\n}  // namespace fuselet::decompose\n")
    return "".join(out)


def decomposition_table(rows):
    out = [HEADER, '#include "core/decomposition.h"\n#include "core/ops/decompositions.h"\n#include "core/ops/functions.h"\n'
           '#include "core/ops/unbox.h"\n\n'
           f"namespace fuselet {{\nnamespace decompose {{\n\n{tensor_functions(rows)}\n}}  // namespace decompose\n\nnamespace {{\n\n"]
    for row in rows:
        if not has_decomposition(row):
            continue
        args = ", ".join(a.unbox(i) for i, a in enumerate(row.args))
        if row.mutates:
            store = (f"std::vector<Tensor> outs = decompose::{row.name}({args}); "
                     "std::copy(outs.begin(), outs.end(), call.outs);")
        elif row.returns == 1:
            store = f"call.outs[0] = decompose::{row.name}({args});"
        else:
            store = (f"auto outs = decompose::{row.name}({args}); "
                     f"for (int i = 0; i < {row.returns}; ++i) call.outs[i] = outs[static_cast<size_t>(i)];")
        out.append(f"void decompose_{row.name}(Call& call) {{ {store} }}\n")
    entries = "\n".join(f"    {'decompose_' + r.name if has_decomposition(r) else 'nullptr'}," for r in rows)
    out.append(f"\nconstexpr Decomposition kDecompositions[kNumOps] = {{\n{entries}\n}};\n\n}}  // namespace\n\n"
               "Decomposition decomposition_of(const Op& op) { return kDecompositions[static_cast<int>(op.id)]; }\n\n}  // namespace fuselet\n")
    return "".join(out)


# ---- VJP rules -------------------------------------------------------------------------------------------------------
def uses(expression: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", expression) is not None


def pointwise_vjp(row: Row) -> str:
    lines = [f"void vjp_{row.name}(VjpContext& c) {{\n  Tensor grad = c.grad();\n"]
    for i, arg in enumerate(row.args):
        expression = row.get("vjp").get(arg.name)
        if expression is None:
            continue
        lines.append(f"  if (c.needs({i})) {{\n")
        for k, other in enumerate(row.args):
            if uses(expression, other.name):
                getter = "tensor" if other.type == "Tensor" else "operand"
                lines.append(f"    auto {other.name} = c.{getter}({k});\n")
        if uses(expression, "result"):
            lines.append("    Tensor result = c.result();\n")
        lines.append(f"    c.set({i}, {expression});\n  }}\n")
    return "".join(lines) + "}\n"


def saves(row: Row):
    """For each argument: bit masks of the arguments and of the results that its gradient reads."""
    vjp = row.get("vjp")
    if vjp == "decompose":
        return [((1 << len(row.args)) - 1, 0)] * len(row.args)
    if row.pointwise:
        texts = [vjp.get(a.name, "") for a in row.args]
        return [(sum(1 << i for i, a in enumerate(row.args) if uses(t, a.name)), int(uses(t, "result"))) for t in texts]
    if isinstance(vjp, dict):
        return [masks(row, vjp.get(a.name, [])) for a in row.args]
    return [masks(row, vjp)] * len(row.args)


def masks(row: Row, names):
    index = {a.name: i for i, a in enumerate(row.args)}
    args = results = 0
    for name in names:
        if name.endswith("_meta") and name.removesuffix("_meta") in index:
            continue
        if name in index:
            args |= 1 << index[name]
        elif re.fullmatch(r"result\d?", name):
            results |= 1 << int(name.removeprefix("result") or 0)
        else:
            raise SystemExit(f"operator table: row '{row.name}': vjp saves '{name}', which is no argument or result")
    return args, results


def vjp_table(rows):
    out = [HEADER, '#include "autograd/activation_curvature.h"\n#include "autograd/power_operands.h"\n#include "autograd/vjp.h"\n#include "core/ops/functions.h"\n\nnamespace fuselet {\n\nnamespace vjp {\n']
    differentiable = [r for r in rows if r.differentiable]
    own = [r for r in differentiable if not r.pointwise and r.get("vjp") != "decompose"]
    out += [f"void {r.name}(VjpContext&);\n" for r in own]
    out.append("}  // namespace vjp\n\nnamespace {\n\n")
    out += [pointwise_vjp(r) for r in differentiable if r.pointwise and r.get("vjp") != "decompose"]
    out.append("\nconstexpr VjpRule kRules[kNumOps] = {\n")
    for row in rows:
        if not row.differentiable:
            out.append("    {},\n")
            continue
        by_arg = saves(row)
        if len(by_arg) > 8:
            raise SystemExit(f"operator table: row '{row.name}' is differentiable and has more than 8 arguments")
        args, results = (", ".join(str(m[k]) for m in by_arg) for k in (0, 1))
        rule = f"vjp_{row.name}" if row.pointwise else f"vjp::{row.name}"
        if row.get("vjp") == "decompose":
            rule = "differentiate_decomposition"
        out.append(f"    {{{rule}, {{{args}}}, {{{results}}}}},  // {row.name}\n")
    out.append("};\n\n}  // namespace\n\nconst VjpRule& vjp_of(const Op& op) { return kRules[static_cast<int>(op.id)]; }\n\n}  // namespace fuselet\n")
    return "".join(out)


# ---- CPU -------------------------------------------------------------------------------------------------------------
def compute_types(row: Row):
    default = "f32 f64" if row.get("promotion") == "float" else "f32 f64 i64"
    return row.get("compute", default).split()


def loop_arity(row):
    return len(operands(row))


def operands(row):
    """The arguments that a pointwise formula takes; a Scalar is one that is a number always."""
    return [a for a in row.args if a.type in ("Tensor", "Operand", "Scalar")]


def pointwise_loops(rows, shard):
    out = [HEADER, '#include "backends/cpu/pointwise_loop.h"\n#include "core/ops/derived_formulas.h"\n\nnamespace fuselet::cpu {\nnamespace {\n\n']
    for row in rows:
        names = [a.name for a in operands(row)]
        params = ", ".join(f"V {n}" for n in names)
        formula = row.get("formula", row.name)
        out.append(f"struct Formula_{row.name} {{\n  template <class V>\n  static V apply({params}) {{ return formula::{formula}({', '.join(names)}); }}\n}};\n")
    out.append("\n}  // namespace\n\n")
    for row in rows:
        types = compute_types(row)
        entries = [f"block_loop<{t}, {loop_arity(row)}, Formula_{row.name}>" if k in types else "nullptr"
                   for k, t in (("f32", "float"), ("f64", "double"), ("i64", "int64_t"))]
        out.append(f"extern const PointwiseLoops k_{row.name}_loops = {{{loop_arity(row)}, {{{', '.join(entries)}}}}};\n")
    out.append("\n}  // namespace fuselet::cpu\n")
    return "".join(out)


def kernel_table(rows):
    out = [HEADER, '#include "backends/cpu/kernels.h"\n#include "backends/cpu/pointwise_loop.h"\n\nnamespace fuselet::cpu {\n\n']
    own = [r for r in rows if not (r.pointwise or r.composite or r.kind == "view")]
    out += [f"void {r.name}(const Call&);\n" for r in own]
    out += [f"extern const PointwiseLoops k_{r.name}_loops;\n" for r in rows if r.pointwise]
    out.append("\nnamespace {\n\nconstexpr Kernel kKernels[kNumOps] = {\n")
    for r in rows:
        out.append(f"    {'pointwise' if r.pointwise else cpu_name(r)},\n")
    out.append("};\n\nconst PointwiseLoops* const kLoops[kNumOps] = {\n")
    for r in rows:
        out.append(f"    {f'&k_{r.name}_loops' if r.pointwise else 'nullptr'},\n")
    out.append("};\n\n}  // namespace\n\nconst Kernel* kernel_table() { return kKernels; }\n"
               "const PointwiseLoops& loops_of(const Op& op) { return *kLoops[static_cast<int>(op.id)]; }\n\n}  // namespace fuselet::cpu\n")
    return "".join(out)


def cpu_name(row):
    return "nullptr" if row.composite or row.kind == "view" else row.name


# ---- reference -------------------------------------------------------------------------------------------------------
def reference_table(rows):
    out = [HEADER, '#include <cmath>\n\n#include "backends/reference/reference.h"\n\nnamespace fuselet::reference {\n\n']
    own = [r for r in rows if not (r.pointwise or r.composite)]
    out += [f"void {r.name}(RefCall&);\n" for r in own]
    out.append("\nnamespace {\n\n")
    for row in rows:
        if not row.pointwise:
            continue
        names = [a.name for a in operands(row)]
        binds = "".join(f"  [[maybe_unused]] const double {n} = x[{i}];\n" for i, n in enumerate(names))
        out.append(f"double point_{row.name}(const double* x) {{\n{binds}  return {row.get('reference')};\n}}\n")
    out.append("\nconstexpr RefRule kRules[kNumOps] = {\n")
    for row in rows:
        entry = "{}" if row.composite else f"{{point_{row.name}, nullptr}}" if row.pointwise else f"{{nullptr, {row.name}}}"
        out.append(f"    {entry},\n")
    out.append("};\n\n}  // namespace\n\nconst RefRule& rule_of(const Op& op) { return kRules[static_cast<int>(op.id)]; }\n\n}  // namespace fuselet::reference\n")
    return "".join(out)
