"""What the Python package shows its users: modules, and the names in them.

A module is public if the package above it imports it by itself (`from . import nn`) under a name without underscore.
A name of a public module is public if `__all__` lists it; without `__all__`, if it has no underscore and the module
defines it or hands it on. The reference and the test of docstrings go by this list.
"""

import __future__
import ast
import functools
import importlib
import inspect
import re
import types
from pathlib import Path

PACKAGE = "fuselet"
SIGNATURE = re.compile(r"\A\w+\(.*\)(?: -> .*)?(?:\n|\Z)")


def parsed(module):
    return ast.parse(Path(module.__file__).read_text())


def is_package(module):
    return Path(module.__file__).name == "__init__.py"


def submodules(module):
    """Those that a package imports by themselves, in the order of their names."""
    if not is_package(module):
        return []
    names = {alias.name for node in ast.walk(parsed(module))
             if isinstance(node, ast.ImportFrom) and node.module is None and node.level == 1
             for alias in node.names if alias.asname in (None, alias.name)}
    return sorted(n for n in names if not n.startswith("_") and isinstance(getattr(module, n, None), types.ModuleType))


def modules(name=PACKAGE):
    """Names of all public modules, a package before what it holds."""
    module = importlib.import_module(name)
    out = [name]
    for sub in submodules(module):
        out += modules(f"{name}.{sub}")
    return out


def names(module_name):
    """The public names of a module, sorted, without modules."""
    module = importlib.import_module(module_name)
    listed = getattr(module, "__all__", None)
    found = [n for n in (listed or dir(module)) if not n.startswith("_")]
    found = [n for n in found if not isinstance(getattr(module, n), (types.ModuleType, __future__._Feature))]
    shown = set() if listed else handed_on(module)
    return sorted(n for n in found if listed or n in shown or is_own(getattr(module, n), module))


def is_own(value, module):
    """Whether a module shows a value as its own: a package what comes from anywhere below it, any other module what it
    defines or takes from the extension. Values without a home (numbers, texts) belong to whoever names them."""
    home = getattr(value, "__module__", None)
    if home is None:
        return not isinstance(value, types.BuiltinFunctionType)
    if home.split(".")[0] != PACKAGE:
        return False
    return is_package(module) or home == module.__name__ or home.startswith(f"{PACKAGE}._C")


def handed_on(module):
    """Names that a module imports and does not use itself: they are there for its users."""
    tree = parsed(module)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imported = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level
                for alias in node.names}
    return imported - used


def members(owner):
    """(name, value) of the public methods and properties that a class defines itself or takes from a class that users
    do not see."""
    found = {}
    for cls in reversed(owner.__mro__):
        if cls is owner or (cls.__module__.split(".")[0] == PACKAGE and is_private(cls)):
            found.update({n: v for n, v in vars(cls).items() if not n.startswith("_") and is_member(v)})
    # Names that only refuse.
    found = {n: v for n, v in found.items() if type(v).__name__ != "AbsentName"}
    return sorted(found.items())


def text_of(value):
    """A docstring without the signature that the bindings write at its top."""
    return SIGNATURE.sub("", inspect.getdoc(value) or "").strip()


def needs_doc(owner, name, value):
    """Whether a member should say what it does: methods should, unless they override one that does or are what Python's
    own lists and dicts have."""
    known = hasattr(list, name) or hasattr(dict, name)
    return inspect.isroutine(value) and not known and not text_of(getattr(owner, name))


@functools.cache
def public_classes():
    return {value for module in modules() for name in names(module)
            if inspect.isclass(value := getattr(importlib.import_module(module), name))}


def is_private(cls):
    return cls not in public_classes()


def is_shown(base):
    """Whether a class is worth naming as another's base."""
    return base is not object and (base.__module__.split(".")[0] != PACKAGE or not is_private(base)) and \
        "pybind11" not in base.__name__


def is_member(value):
    return isinstance(value, (staticmethod, classmethod)) or inspect.isroutine(value) or inspect.isdatadescriptor(value)
