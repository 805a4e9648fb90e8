"""The type stub names what the package has."""

import ast
from pathlib import Path

import fuselet as fl

STUB = Path(fl.__file__).with_name("__init__.pyi")


def test_every_name_of_the_stub_exists_and_every_operator_is_in_it():
    tree = ast.parse(STUB.read_text())
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    assert not {name for name in functions if not hasattr(fl, name)}
    assert not {name for name in dir(fl._C.functions) if not name.startswith("_")} - functions
    tensor = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor")
    methods = {n.name for n in tensor.body if isinstance(n, ast.FunctionDef)}
    assert not {name for name in methods if not hasattr(fl.Tensor, name)}


def test_operators_have_docstrings_with_schemas():
    for name in dir(fl._C.functions):
        if not name.startswith("_"):
            assert name + "(" in getattr(fl._C.functions, name).__doc__, name
