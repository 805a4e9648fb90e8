"""Writes the package's type stub from the operator table's stubs and what is written by hand.

usage: make_stubs.py GENERATED PACKAGE

GENERATED/python/operators.pyi and tensor_methods.pyi come from core/ops/generate.py. The rest is read from
the package's own Python sources: the signatures of the class Tensor and of the functions that the package
exports. The result is PACKAGE/__init__.pyi.
"""

import ast
import sys
from pathlib import Path

HEADER = '''# Assembled by frontend/python/make_stubs.py; edit the sources, not this file.
from collections.abc import Sequence
from typing import Any

from . import autograd as autograd, compiler as compiler, cuda as cuda, linalg as linalg, nn as nn, optim as optim, special as special, utils as utils
from .func import vmap as vmap
from .grad_mode import (enable_grad as enable_grad, inference_mode as inference_mode, no_grad as no_grad,
                        set_grad_enabled as set_grad_enabled)
from .number_limits import finfo as finfo, iinfo as iinfo
from .saving import load as load, save as save
from .tensor_class import Size as Size


class dtype:
    name: str
    itemsize: int
    is_floating_point: bool
    is_signed: bool
    def __init__(self, name: str) -> None: ...

float64: dtype
float32: dtype
float16: dtype
bfloat16: dtype
int64: dtype
int32: dtype
int8: dtype
uint8: dtype
double: dtype
float: dtype
half: dtype
long: dtype


class device:
    type: str
    index: int | None
    def __init__(self, type: str | device, index: int | None = None) -> None: ...
    def __enter__(self) -> device: ...
    def __exit__(self, *exception: Any) -> bool: ...


class Generator:
    def __init__(self, device: Any = "cpu") -> None: ...
    def manual_seed(self, seed: int) -> Generator: ...
    def initial_seed(self) -> int: ...
    def get_state(self) -> tuple[int, int]: ...
    def set_state(self, state: tuple[int, int]) -> Generator: ...

default_generator: Generator

class InternalError(RuntimeError): ...

def get_default_dtype() -> dtype: ...
def set_default_dtype(t: dtype) -> None: ...
def get_default_device() -> device: ...
def set_default_device(device: device | str | int | None) -> None: ...
def get_num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
def is_grad_enabled() -> bool: ...
'''

TENSOR = '''

class Tensor:
    shape: Size
    ndim: int
    dtype: dtype
    device: device
    requires_grad: bool
    grad: Tensor | None
    data: Tensor
    @property
    def grad_fn(self) -> Any: ...
    @property
    def is_leaf(self) -> bool: ...
    @property
    def T(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    def size(self, dim: int | None = None) -> Any: ...
    def stride(self, dim: int | None = None) -> Any: ...
    def dim(self) -> int: ...
    def numel(self) -> int: ...
    def element_size(self) -> int: ...
    def storage_offset(self) -> int: ...
    def data_ptr(self) -> int: ...
    def is_contiguous(self) -> bool: ...
    def is_floating_point(self) -> bool: ...
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def requires_grad_(self, requires_grad: bool = True) -> Tensor: ...
    def detach(self) -> Tensor: ...
    def detach_(self) -> Tensor: ...
    def retain_grad(self) -> None: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> Any: ...
    def __index__(self) -> int: ...
    def __neg__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __matmul__(self, other: Tensor) -> Tensor: ...
'''

OPERATORS = ["add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul", "imul", "truediv", "rtruediv", "itruediv", "floordiv",
             "rfloordiv", "ifloordiv", "mod", "rmod", "imod", "pow", "rpow", "and", "or", "xor", "lshift", "rshift", "lt", "le", "gt", "ge"]

# Modules whose functions the package exports, beside composed.py.
COMPOSED = ("shaping", "joining", "diagonals", "selecting", "ordering", "contracting", "einsum", "reductions", "quantiles", "cumulative",
            "histograms", "distances", "poisson")


def parameters(function):
    """The parameters as text, without annotations."""
    return ast.unparse(function.args)


def functions_of(body, indent=""):
    for node in body:
        if isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name in ("__iter__", "__contains__")):
            decorators = "".join(f"{indent}@{ast.unparse(d)}\n" for d in node.decorator_list)
            doc = ast.get_docstring(node)
            tail = f'\n{indent}    """{doc.splitlines()[0]}"""\n' if doc else " ...\n"
            yield node.name, f"{decorators}{indent}def {node.name}({parameters(node)}) -> Any:{tail}"


def main(generated, package):
    generated, package = Path(generated) / "python", Path(package)
    trees = {name: ast.parse((package / f"{name}.py").read_text()) for name in
             ("tensor_class", "composed", "making", "__init__", *COMPOSED)}
    tensor = next(n for n in trees["tensor_class"].body if isinstance(n, ast.ClassDef) and n.name == "Tensor")
    by_hand = dict(functions_of(tensor.body, "    "))
    composed = dict(functions_of(trees["composed"].body))
    for name in COMPOSED:
        composed |= {n: text for n, text in functions_of(trees[name].body) if not n.endswith("_")}
    methods = (generated / "tensor_methods.pyi").read_text().split("\n", 1)[1]
    functions = (generated / "operators.pyi").read_text().split("\n", 1)[1]
    plain = "".join(f"    def __{name}__(self, other: Any) -> Tensor: ...\n" for name in OPERATORS)
    exported = {**composed, **dict(functions_of(trees["making"].body)), **dict(functions_of(trees["__init__"].body))}
    shown_methods = [text for name, text in by_hand.items()]
    text = (HEADER + "\n\n" + functions + "".join(exported.values()) + TENSOR + plain + methods + "".join(shown_methods))
    out = package / "__init__.pyi"
    if not out.exists() or out.read_text() != text:
        ast.parse(text)
        out.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
