"""Which classes load() may make: those allowed here, besides containers, numbers, strings and tensors."""

from __future__ import annotations

import contextlib

_allowed = {}


def _name_of(cls):
    cls, name = cls if isinstance(cls, tuple) else (cls, f"{cls.__module__}.{cls.__qualname__}")
    return name, cls


def add_safe_globals(safe_globals):
    """Allows load() to make objects of the classes (or to call the functions): they run code of their own."""
    _allowed.update(map(_name_of, safe_globals))


def get_safe_globals():
    """The classes allowed so far."""
    return list(_allowed.values())


def clear_safe_globals():
    """Allows none of them any more."""
    _allowed.clear()


@contextlib.contextmanager
def safe_globals(safe_globals):
    """Allows classes within a `with` block."""
    before = dict(_allowed)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _allowed.clear()
        _allowed.update(before)


def allowed(module, name):
    """The allowed class of that name, or None."""
    return _allowed.get(f"{module}.{name}")
