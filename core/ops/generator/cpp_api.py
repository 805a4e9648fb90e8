"""The C++ face of the table: operator ids, free functions, Tensor methods, declarations of composites."""

from .rows import Row

HEADER = "// Generated from the operator table by core/ops/generate.py.\n"


def files(rows: list[Row]) -> dict[str, str]:
    return {
        "core/ops/op_ids.h": op_ids(rows),
        "core/ops/tensor_methods.inc": tensor_methods(rows),
        "core/ops/functions.h": functions(rows),
        "core/ops/composites.h": composites(rows),
    }


def op_ids(rows):
    names = "\n".join(f"  {r.name}," for r in rows)
    return (f"{HEADER}#pragma once\n#include <cstdint>\n\nnamespace fuselet {{\n\nenum class OpId : uint16_t {{\n{names}\n}};\n"
            f"inline constexpr int kNumOps = {len(rows)};\n\n}}  // namespace fuselet\n")


def parameters(args, defaults=True):
    parts = []
    for a in args:
        text = f"{a.cpp_type} {a.name}"
        if defaults and a.cpp_default is not None:
            text += f" = {a.cpp_default}"
        parts.append(text)
    return parts


def return_type(row: Row) -> str:
    if row.returns == 0:
        return "void"
    return "Tensor" if row.returns == 1 else f"std::array<Tensor, {row.returns}>"


def takes_line(row: Row) -> bool:
    """An Operand that must be given brings its own line; the rest take a defaulted one."""
    return not any(a.type == "Operand" and not a.optional for a in row.args)


def signature(row: Row, name: str, args, defaults=True) -> str:
    parts = parameters(args, defaults)
    if takes_line(row):
        parts.append("Location line" + (" = Location::current()" if defaults else ""))
    return f"{return_type(row)} {name}({', '.join(parts)})"


def body(row: Row) -> str:
    line = "&line" if takes_line(row) else next(f"&{a.name}.line()" for a in row.args if a.type == "Operand" and not a.optional)
    args = ", ".join(f"Arg({a.name})" for a in row.args)
    head = f"  Arg args[] = {{{args}}};\n"
    call = f"  Call call{{&op_of(OpId::{row.name}), args, {len(row.args)}, "
    if row.mutates:
        tail = {0: "", 1: "  return outs.back();\n"}[row.returns]
        return (head + f"  std::vector<Tensor> outs = call_operator(op_of(OpId::{row.name}), args, true, *{line});\n" + tail)
    ret = "  return out;\n" if row.returns == 1 else "  return outs;\n"
    decl = "  Tensor out;\n" if row.returns == 1 else f"  std::array<Tensor, {row.returns}> outs;\n"
    target = "&out, 1" if row.returns == 1 else f"outs.data(), {row.returns}"
    return head + decl + call + f"{target}, false, {line}}};\n  dispatch(call);\n" + ret


def in_place_body(row: Row, args) -> str:
    if row.composite:
        passed = [a.name for a in args] + (["line"] if takes_line(row) else [])
        return f"  return self.copy_({row.name}({', '.join(passed)}));\n"
    boxed = ", ".join(f"Arg({a.name})" for a in args)
    return (f"  Arg args[] = {{{boxed}}};\n  Tensor out = {args[0].name};\n"
            f"  Call call{{&op_of(OpId::{row.name}), args, {len(args)}, &out, 1, true, {in_place_line(row)}}};\n"
            f"  dispatch(call);\n  return {args[0].name};\n")


def self_as_tensor(row: Row):
    """The in-place form's first parameter is a Tensor even where the functional form takes an Operand."""
    first = row.args[0]
    return type(first)("Tensor", first.name, False, False, None), *row.args[1:]


def in_place_signature(row: Row, name: str, args, defaults=True) -> str:
    parts = parameters(args, defaults)
    if takes_line_in_place(row):
        parts.append("Location line" + (" = Location::current()" if defaults else ""))
    return f"const Tensor& {name}({', '.join(parts)})"


def takes_line_in_place(row: Row) -> bool:
    return not any(a.type == "Operand" and not a.optional for a in row.args[1:])


def in_place_line(row: Row) -> str:
    if takes_line_in_place(row):
        return "&line"
    return next(f"&{a.name}.line()" for a in row.args[1:] if a.type == "Operand" and not a.optional)


def functions(rows):
    out = [HEADER, "#pragma once\n#include <array>\n\n#include \"core/dispatch.h\"\n\nnamespace fuselet {\n"]
    for row in rows:
        out.append(f"\n// {row.doc}\ninline {signature(row, row.name, row.args)} {{\n{body(row)}}}\n")
        if row.in_place:
            args = self_as_tensor(row)
            out.append(f"// The same, written into self; returns self.\n"
                       f"inline {in_place_signature(row, row.name + '_', args)} {{\n{in_place_body(row, args)}}}\n")
        out += [alias_text(row, alias) for alias in row.aliases]
    for row in rows:
        out.append(method_definitions(row))
    for symbol, name in (("+", "add"), ("-", "sub"), ("*", "mul"), ("/", "div"), ("==", "eq"), ("!=", "ne"), ("<", "lt"),
                         ("<=", "le"), (">", "gt"), (">=", "ge")):
        out.append(operator_text(symbol, name))
    for symbol, name in (("+", "add"), ("-", "sub"), ("*", "mul"), ("/", "div")):
        out.append(f"inline Tensor& Tensor::operator{symbol}=(const Operand& other) {{\n  fuselet::{name}_(*this, other);\n"
                   "  return *this;\n}\n")
    out.append("inline Tensor Tensor::operator-() const { return fuselet::neg(*this); }\n"
               "inline Tensor Tensor::operator[](int64_t i) const { return fuselet::select(*this, 0, i); }\n")
    out.append("\n}  // namespace fuselet\n")
    return "".join(out)


def alias_text(row: Row, alias: str) -> str:
    passed = [a.name for a in row.args] + (["line"] if takes_line(row) else [])
    return (f"// {row.name}() under another name.\n"
            f"inline {signature(row, alias, row.args)} {{ return {row.name}({', '.join(passed)}); }}\n")


def operator_text(symbol, name):
    """`a + b`: two tensors, or a tensor and anything an Operand takes."""
    op = f"operator{symbol}"
    return (f"inline Tensor {op}(const Operand& self, const Operand& other) {{ return {name}(self, other); }}\n")


def method_args(row: Row):
    return row.args[1:]


def has_line(args) -> bool:
    return not any(a.type == "Operand" and not a.optional for a in args)


def method_signature(row: Row, name: str, scope: str, defaults: bool, ret: str) -> str:
    args = method_args(row)
    parts = parameters(args, defaults)
    if has_line(args):
        parts.append("Location line" + (" = Location::current()" if defaults else ""))
    return f"{ret} {scope}{name}({', '.join(parts)}) const"


def tensor_methods(rows):
    out = [HEADER]
    for row in rows:
        if row.get("method"):
            out.append(f"// {row.doc}\n{method_signature(row, row.name, '', True, return_type(row))};\n")
        if row.in_place and not row.mutates:
            out.append(f"{method_signature(row, row.name + '_', '', True, 'const Tensor&')};\n")
    return "".join(out)


def forward(row: Row, name: str, first_is_operand: bool) -> str:
    args = method_args(row)
    line = "line" if has_line(args) else next(f"{a.name}.line()" for a in args if a.type == "Operand" and not a.optional)
    first = f"Operand(*this, {line})" if first_is_operand else "*this"
    parts = [first] + [a.name for a in args]
    needs_line = takes_line_in_place(row) if name.endswith("_") else takes_line(row)
    if needs_line:
        parts.append(line)
    return f"fuselet::{name}({', '.join(parts)})"


def method_definitions(row: Row) -> str:
    out = ""
    if row.get("method"):
        call = forward(row, row.name, row.args[0].type == "Operand")
        out += f"inline {method_signature(row, row.name, 'Tensor::', False, return_type(row))} {{ return {call}; }}\n"
    if row.in_place and not row.mutates:
        call = forward(row, row.name + "_", False)
        out += f"inline {method_signature(row, row.name + '_', 'Tensor::', False, 'const Tensor&')} {{ return {call}; }}\n"
    return out


def composites(rows):
    out = [HEADER, "#pragma once\n#include \"core/op.h\"\n\nnamespace fuselet::composite {\n\n"]
    for row in rows:
        if row.composite:
            out.append(f"{return_type(row)} {row.name}({', '.join(parameters(row.args, False))});\n")
    out.append("\n}  // namespace fuselet::composite\n")
    return "".join(out)
