"""Tensors in nested lists, tuples and dicts: taken out as a flat list, and put back."""

from __future__ import annotations

from .. import _C


def flatten(value):
    """(the tensors inside in order, a function from as many values to the same structure with them in their places)."""
    found = []
    rebuild = _walk(value, found)
    return found, rebuild


def _walk(value, found):
    if isinstance(value, _C.TensorBase):
        at = len(found)
        found.append(value)
        return lambda values: values[at]
    if isinstance(value, dict):
        parts = {key: _walk(v, found) for key, v in value.items()}
        return lambda values: type(value)((key, part(values)) for key, part in parts.items())
    if isinstance(value, (list, tuple)):
        parts = [_walk(v, found) for v in value]
        if hasattr(value, "_fields"):
            return lambda values: type(value)(*(part(values) for part in parts))
        return lambda values: type(value)(part(values) for part in parts)
    return lambda values: value
