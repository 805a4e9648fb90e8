"""Decompositions written as expressions in the table: as C++ over tensors, and as formulas over lanes.

An expression has names of arguments, numbers, + - * / and comparisons, and calls of pointwise rows.
"""

import ast
import re

from .cpp_api import HEADER, parameters, return_type
from .rows import Row

ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def has_expression(row: Row) -> bool:
    return isinstance(row.get("decompose"), str)


def tensor_functions(rows: list[Row]) -> str:
    """The expression is C++ but for the namespace of what it calls, which has a decomposition of the same name here."""
    return "".join(f"{return_type(row)} {row.name}({', '.join(parameters(row.args, False))}) {{ return {qualified(row.get('decompose'))}; }}\n"
                   for row in rows if has_expression(row))


def qualified(expression: str) -> str:
    return re.sub(r"\b([a-z_]\w*)\(", r"fuselet::\1(", expression)


def lane_parameters(row: Row, names=True) -> str:
    return ", ".join(f"V {a.name}" if names else "V" for a in row.args)


def derived_formulas(rows: list[Row]) -> str:
    out = [HEADER, "// The formulas of rows that the table decomposes, in terms of core/formulas.h.\n#pragma once\n\n"
           '#include "core/formulas.h"\n\nnamespace fuselet::formula {\n\n']
    derived = [row for row in rows if has_expression(row)]
    # Declared first, or a call of one that comes later would find the C library's function of that name.
    out += [f"template <class V>\nFUSELET_FN V {row.name}({lane_parameters(row, names=False)});\n" for row in derived]
    out.append("\n")
    for row in derived:
        tree = ast.parse(row.get("decompose"), mode="eval").body
        check_operands(row, tree)
        body = LaneText(row).value(tree)
        out.append(f"// {row.get('decompose')}\ntemplate <class V>\nFUSELET_FN V {row.name}({lane_parameters(row)}) {{\n  return {body};\n}}\n\n")
    return "".join(out) + "}  // namespace fuselet::formula\n"


def check_operands(row: Row, tree) -> None:
    """Every operation has a tensor among its operands: numbers alone would meet in the default dtype, not in the row's."""
    tensors = {a.name for a in row.args if a.type == "Tensor"}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.BinOp, ast.Call)):  # a comparison gives a bool in any case
            continue
        parts = node.args[1:] if isinstance(node, ast.Call) and node.func.id == "where" else [node]
        if not any(isinstance(n, ast.Name) and n.id in tensors for part in parts for n in ast.walk(part)):
            raise SystemExit(f"operator table: row '{row.name}': '{ast.unparse(node)}' is an operation on numbers alone")


class LaneText:
    """An expression as calls of formulas. A comparison gives 0 or 1 in V; as a condition it stays a mask."""

    def __init__(self, row: Row):
        self.row = row

    def value(self, node) -> str:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant):
            return f"splat<V>({node.value})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            if isinstance(node.operand, ast.Constant):
                return f"splat<V>(-{node.operand.value})"
            return f"neg({self.value(node.operand)})"
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            return f"{ARITHMETIC[type(node.op)]}({self.value(node.left)}, {self.value(node.right)})"
        if isinstance(node, ast.Compare):
            return f"select({self.mask(node)}, splat<V>(1), splat<V>(0))"
        if isinstance(node, ast.Call):
            if node.func.id == "where":
                condition, yes, no = node.args
                return f"select({self.mask(condition)}, {self.value(yes)}, {self.value(no)})"
            return f"{node.func.id}({', '.join(self.value(a) for a in node.args)})"
        raise SystemExit(f"operator table: row '{self.row.name}': cannot read the expression '{self.row.get('decompose')}'")

    def mask(self, node) -> str:
        if isinstance(node, ast.Compare):
            return f"{self.value(node.left)} {COMPARISONS[type(node.ops[0])]} {self.value(node.comparators[0])}"
        return f"{self.value(node)} != splat<V>(0)"
