"""Type stubs of the operators for the Python package: functions and Tensor methods with their docstrings."""

from .rows import Row

PYTHON_TYPES = {
    "Tensor": "Tensor", "Operand": "Tensor | float", "Tensor[]": "Sequence[Tensor]", "Scalar": "float", "int": "int",
    "sym": "int", "int[]": "int | Sequence[int]", "sym[]": "Sequence[int]", "float": "float", "bool": "bool", "str": "str",
    "DType": "dtype", "Device": "device | str",
}


def files(rows: list[Row]) -> dict[str, str]:
    return {"python/operators.pyi": functions(rows), "python/tensor_methods.pyi": methods(rows)}


def parameter(arg) -> str:
    text = f"{arg.name}: {PYTHON_TYPES[arg.type]}" + (" | None" if arg.optional else "")
    return text + (f" = {arg.default}" if arg.default is not None else "")


def result(row: Row) -> str:
    return "Tensor" if row.returns == 1 else f"tuple[{', '.join(['Tensor'] * row.returns)}]"


def functions(rows) -> str:
    out = ["# Generated from the operator table by core/ops/generate.py.\n"]
    for row in rows:
        if row.get("function", True):
            for name in (row.name, *row.aliases):
                out.append(f'def {name}({", ".join(map(parameter, row.args))}) -> {result(row)}:\n    """{row.doc}"""\n')
    return "".join(out)


def methods(rows) -> str:
    out = ["# Generated from the operator table by core/ops/generate.py.\n"]
    for row in rows:
        rest = "".join(", " + parameter(a) for a in row.args[1:])
        for name in (row.name, *row.aliases):
            if row.get("method"):
                out.append(f'    def {name}(self{rest}) -> {result(row)}:\n        """{row.doc}"""\n')
            if row.in_place and not row.mutates:
                out.append(f"    def {name}_(self{rest}) -> Tensor: ...\n")
    return "".join(out)
