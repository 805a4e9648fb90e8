"""Distances between all pairs of vectors.

They are norms of differences, which are all made, so that near vectors lose no digits: memory for pairs times components.
A compiled function makes none of it.
"""

from __future__ import annotations

from . import _C
from .composed import _narrow, _wide
from .diagonals import triu_indices
from .reductions import _norm

_F = _C.functions

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def _check(name, p, *tensors):
    if p < 0:
        raise RuntimeError(f"{name}: p must not be negative, got {p}")
    if not all(t.is_floating_point() for t in tensors):
        raise RuntimeError(f"{name}: expected floating tensors, got {' and '.join(str(t.dtype) for t in tensors)}")


def cdist(x1, x2, p=2.0, compute_mode=_MODES[0]):
    """(…, P, M), (…, R, M) -> (…, P, R): the p-norm of the difference of every row of x1 and every row of x2.

    Floating; the leading dimensions broadcast. p is any number from 0 (components that differ) to infinity (the largest
    one). The gradient at distance 0 is 0. compute_mode is understood and changes nothing. RuntimeError for a negative p,
    other dtypes, fewer than 2 dimensions or rows of two lengths."""
    _check("cdist", p, x1, x2)
    if compute_mode not in (None, 0, 1, 2, *_MODES):
        raise ValueError(f"cdist: compute_mode must be one of {', '.join(_MODES)}, got {compute_mode!r}")
    if x1.dim() < 2 or x2.dim() < 2 or x1.size(-1) != x2.size(-1):
        raise RuntimeError(f"cdist: expected (…, P, M) and (…, R, M), got shapes {list(x1.shape)} and {list(x2.shape)}")
    return _narrow(_norm(_wide(x1).unsqueeze(-2) - _wide(x2).unsqueeze(-3), p, [-1], False), x1)


def pdist(input, p=2.0):
    """(N, M) -> (N (N - 1) / 2): the p-norms of the differences of rows i < j, by i and then j; otherwise as cdist."""
    _check("pdist", p, input)
    if input.dim() != 2:
        raise RuntimeError(f"pdist: expected (N, M), got shape {list(input.shape)}")
    n = input.size(0)
    pairs = triu_indices(n, n, 1, device=input.device)
    values = _wide(input)
    return _narrow(_norm(values.index_select(0, pairs.select(0, 0)) - values.index_select(0, pairs.select(0, 1)), p, [-1], False), input)


__all__ = ["cdist", "pdist"]
