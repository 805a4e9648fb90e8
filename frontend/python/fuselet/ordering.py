"""Sorting, in terms of the operator argsort; all are methods too.

Sorting is stable: equal elements keep their order. NaN counts as largest, and -0 equals 0.
"""

from __future__ import annotations

from . import _C
from .composed import ValuesIndices, _wrap_dim

_F = _C.functions


def argsort(input, dim=-1, descending=False, stable=False):
    """int64 indices that sort along dim."""
    return _F.argsort(input, dim, descending)


def sort(input, dim=-1, descending=False, stable=False):
    """(values, indices) in order along dim."""
    order = _F.argsort(input, dim, descending)
    return ValuesIndices((input.gather(dim, order), order))


def msort(input):
    """The values in order along dimension 0."""
    return sort(input, 0).values


def topk(input, k, dim=-1, largest=True, sorted=True):
    """(values, indices) of the k largest (or smallest) elements along dim, in order."""
    size = input.size(dim) if input.dim() else 1
    if not 0 <= k <= size:
        raise RuntimeError(f"topk: k = {k} is out of range for dimension {dim} of size {size}")
    order = _F.argsort(input, dim, largest)
    if input.dim():
        order = order.narrow(dim, 0, k)
    return ValuesIndices((input.gather(dim, order), order))


def kthvalue(input, k, dim=-1, keepdim=False):
    """(value, index) of the k-th smallest element along dim, counted from 1."""
    dim, size = _wrap_dim(dim, input.dim(), "kthvalue"), input.size(dim) if input.dim() else 1
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue: k = {k} is out of range for dimension {dim} of size {size}")
    values, order = sort(input, dim)
    if not input.dim():
        return ValuesIndices((values, order))
    parts = (part.narrow(dim, k - 1, 1) if keepdim else part.select(dim, k - 1) for part in (values, order))
    return ValuesIndices(parts)


METHODS = "argsort kthvalue msort sort topk".split()

__all__ = METHODS
