"""Rows of the operator table, parsed and checked."""

import dataclasses
import pathlib
import re
import tomllib

# type in a signature -> (ArgType, C++ parameter type, accessor on Call by index)
TYPES = {
    "Tensor": ("Tensor", "const Tensor&", "call.tensor({i})"),
    "Operand": ("Operand", "const Operand&", "unbox_operand(call, {i})"),
    "Tensor[]": ("Tensors", "TensorList", "TensorList(call.tensors({i}))"),
    "Scalar": ("Scalar", "const Scalar&", "call.scalar({i})"),
    "int": ("Int", "int64_t", "call.integer({i})"),
    "sym": ("Int", "SymInt", "call.sym({i})"),
    "int[]": ("Ints", "IntList", "IntList(call.ints({i}))"),
    "sym[]": ("Ints", "IntList", "IntList(call.ints({i}))"),
    "float": ("Float", "double", "call.number({i})"),
    "bool": ("Bool", "bool", "call.flag({i})"),
    "str": ("Text", "const char*", "call.text({i})"),
    "DType": ("DType", "DType", "call.args[{i}].dtype"),
    "Device": ("Device", "Device", "call.args[{i}].device"),
}
KINDS = "pointwise reduction scan view factory random gather scatter join contraction fused optimizer composite".split()


@dataclasses.dataclass
class Arg:
    type: str
    name: str
    optional: bool
    mutated: bool
    default: str | None

    @property
    def cpp_type(self) -> str:
        if self.optional and self.type == "Tensor":
            return "const Tensor&"
        cpp = TYPES[self.type][1]
        if self.optional:
            return f"const std::optional<{cpp.removeprefix('const ').removesuffix('&')}>&"
        return cpp

    @property
    def cpp_default(self) -> str | None:
        if self.default is None:
            return None
        if self.default == "None":
            return "{}" if self.type == "Tensor" else "std::nullopt"
        if self.type.endswith("[]"):
            return "{" + self.default.strip("[]") + "}"
        return {"True": "true", "False": "false"}.get(self.default, self.default.replace("'", '"'))

    def unbox(self, i: int) -> str:
        if self.optional and self.type == "Tensor":
            return f"unbox_optional_tensor(call, {i})"
        value = TYPES[self.type][2].format(i=i)
        if not self.optional:
            return value
        inner = self.cpp_type.removeprefix("const ").removesuffix("&")
        return f"call.has({i}) ? {inner}({value}) : {inner}()"


@dataclasses.dataclass
class Row:
    name: str
    args: list[Arg]
    kind: str
    doc: str
    fields: dict

    def get(self, key, default=None):
        return self.fields.get(key, default)

    @property
    def returns(self) -> int:
        return self.get("returns", 1)

    @property
    def pointwise(self) -> bool:
        return self.kind == "pointwise"

    @property
    def composite(self) -> bool:
        return self.kind == "composite"

    @property
    def differentiable(self) -> bool:
        return "vjp" in self.fields

    @property
    def in_place(self) -> bool:
        return self.get("in_place", self.pointwise and self.get("method", False))

    @property
    def mutates(self) -> bool:
        return any(a.mutated for a in self.args)

    @property
    def aliases(self) -> list[str]:
        return self.get("aliases", "").split()

    @property
    def integers_only(self) -> bool:
        return self.get("compute") == "i64"

    @property
    def schema(self) -> str:
        ret = ["()", "Tensor", "(Tensor, Tensor)", "(Tensor, Tensor, Tensor)"][self.returns]
        return f"{self.name}({self.fields['args']}) -> {ret}"


def split_top_level(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return parts + [current.strip()] if current.strip() else parts


def parse_arg(text: str, row: str) -> Arg:
    m = re.fullmatch(r"(\w+(?:\[\])?)(\([a-z]!\))?(\?)?\s+(\w+)(?:=(.*))?", text)
    if not m or m[1] not in TYPES:
        raise SystemExit(f"operator table: row '{row}': cannot read argument '{text}'")
    return Arg(m[1], m[4], bool(m[3]), bool(m[2]), m[5])


def load_rows(folder: pathlib.Path) -> list[Row]:
    rows = {}
    for path in sorted(folder.glob("*.toml")):
        for name, fields in tomllib.loads(path.read_text()).items():
            kind = fields.get("kind", "pointwise")
            if name in rows or kind not in KINDS:
                raise SystemExit(f"operator table: row '{name}' stands twice or has the unknown kind '{kind}'")
            row = Row(name, [parse_arg(a, name) for a in split_top_level(fields["args"])], kind, fields["doc"], fields)
            check(row)
            rows[name] = row
    taken = [n for row in rows.values() for n in (row.name, *row.aliases)]
    for name in {n for n in taken if taken.count(n) > 1}:
        raise SystemExit(f"operator table: the name '{name}' stands twice")
    return list(rows.values())


def check(row: Row) -> None:
    names = {a.name for a in row.args}
    rule = row.get("vjp")
    if row.pointwise and row.differentiable and rule != "decompose" and not set(rule) <= names:
        raise SystemExit(f"operator table: row '{row.name}': vjp names an argument that does not exist")
    if row.pointwise and "reference" not in row.fields:
        raise SystemExit(f"operator table: row '{row.name}': a pointwise row needs a reference")
