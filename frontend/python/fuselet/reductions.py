"""Reductions written in terms of the table's operators: spread, norms, order statistics. Most are methods of Tensor too.

Squares and exponentials of 16-bit numbers are summed in float32; results have the input's dtype. `dim` is a number, a
tuple, or None for all dimensions.
"""

from __future__ import annotations

import collections
import math

from . import _C
from .composed import ValuesIndices, _narrow, _reduce_arguments, _wide, _wrap_dim, squeeze

_F = _C.functions

MinMax = collections.namedtuple("MinMax", "min max")


# ---- spread
def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False):
    """Variance over `dim`, divided by (count - correction); correction 1 unless unbiased=False."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 0 if unbiased is False else 1
    dims = _reduce_arguments(dim)
    if correction == int(correction):
        return _F.var(input, dims, int(correction), keepdim)
    count = math.prod(input.size(d) for d in dims or range(input.dim()))
    return _F.var(input, dims, 0, keepdim) * (count / (count - correction) if count > correction else math.inf)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False):
    """Square root of var()."""
    return _narrow(var(_wide(input), dim, unbiased, correction=correction, keepdim=keepdim).sqrt(), input)


def _mean(input, dim, keepdim):
    return input.mean(_reduce_arguments(None if isinstance(dim, bool) else dim), keepdim)


def var_mean(input, dim=None, unbiased=None, *, correction=None, keepdim=False):
    """(var(), mean()) over `dim`."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim), _mean(input, dim, keepdim)


def std_mean(input, dim=None, unbiased=None, *, correction=None, keepdim=False):
    """(std(), mean()) over `dim`."""
    return std(input, dim, unbiased, correction=correction, keepdim=keepdim), _mean(input, dim, keepdim)


def logsumexp(input, dim, keepdim=False):
    """log(sum(exp(input))) over `dim`, safe for large values; -inf, with gradient 0, where all are -inf or there is none."""
    dims = _reduce_arguments(dim)
    values = _wide(input)
    if input.numel() == 0:
        return _narrow(values.exp().sum(dims, keepdim).log(), input)
    top = values.detach().amax(dims, True)
    shift = _F.where(_F.isinf(top), 0.0, top)
    total = (values - shift).exp().sum(dims, True)
    # log'(0) is infinite: where the sum is 0 the logarithm is of 1, and the result a constant.
    empty = total == 0
    out = _narrow(_F.where(empty, -math.inf, _F.where(empty, 1.0, total).log() + shift), input)
    if keepdim:
        return out
    return squeeze(out, dims)


# ---- norms
def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """The p-norm of vectors along `dim` ("fro" is 2); its gradient at a zero vector is 0."""
    if dtype is not None:
        input = input.to(dtype)
    return _narrow(_norm(_wide(input), p, _reduce_arguments(dim), keepdim), input)


def _norm(input, p, dims, keepdim):
    if p == "fro":
        p = 2
    if isinstance(p, str):
        raise RuntimeError(f"norm: p must be a number or 'fro', got {p!r}")
    if p == 0:
        # 1 for each, with the gradient of a constant.
        return _F.where(input != 0, 1.0, input.floor()).sum(dims, keepdim)
    if p == 1:
        return input.abs().sum(dims, keepdim)
    if math.isinf(p):
        # Of no elements 0, as all norms; the smallest of none is an error.
        if p > 0 and input.numel() == 0:
            return input.abs().sum(dims, keepdim)
        return input.abs().amax(dims, keepdim) if p > 0 else input.abs().amin(dims, keepdim)
    if p == 2:
        powers = input * input
    elif p < 1:
        # The slope of |x|^p at 0 is infinite; a zero counts as a constant.
        zero = input == 0
        powers = _F.where(zero, 0.0 if p > 0 else math.inf, _F.where(zero, 1.0, input).abs().pow(p))
    else:
        powers = input.abs().pow(p)
    total = powers.sum(dims, keepdim)
    zero = total == 0
    safe = _F.where(zero, 1.0, total)
    return _F.where(zero, 0.0, safe.sqrt() if p == 2 else safe.pow(1.0 / p))


def dist(input, other, p=2):
    """The p-norm of input - other, as a 0-d tensor."""
    return norm(input - other, p)


# ---- order
def aminmax(input, *, dim=None, keepdim=False):
    """(min, max) over `dim`, as a named tuple."""
    dims = _reduce_arguments(dim)
    return MinMax(_F.amin(input, dims, keepdim), _F.amax(input, dims, keepdim))


def _selected(input, at, dim, keepdim):
    """(values, indices) of the entries at the indices `at`, which has size 1 along dim."""
    values = input.gather(dim, at)
    return ValuesIndices((values, at) if keepdim else (squeeze(values, dim), squeeze(at, dim)))


def _lines(input, dim, name):
    if input.dim() == 0:
        input = input.reshape(1)
    dim = _wrap_dim(dim, input.dim(), name)
    if input.size(dim) == 0:
        raise RuntimeError(f"{name}: dimension {dim} of shape {list(input.shape)} has no elements")
    return input, dim


def _median(input, dim, keepdim, name, skip_nan):
    if dim is None:
        if input.numel() == 0:
            return _F.full([], math.nan, dtype=input.dtype, device=input.device)
        return _median(input.reshape(-1), 0, False, name, skip_nan).values
    whole = input.dim() == 0
    input, dim = _lines(input, dim, name)
    order = input.detach().sort(dim).indices
    size = input.size(dim)
    if not input.is_floating_point():
        at = order.narrow(dim, (size - 1) // 2, 1)
    else:
        # NaN sorts behind all numbers.
        missing = _F.isnan(input.detach()).sum([dim], True)
        middle = (size - missing - 1).clamp(min=0) // 2
        at = order.gather(dim, middle if skip_nan else _F.where(missing > 0, size - missing, (size - 1) // 2))
    found = _selected(input, at, dim, keepdim)
    return ValuesIndices(part.reshape([]) for part in found) if whole else found


def median(input, dim=None, keepdim=False):
    """The lower of the two middle elements; with `dim`, (values, indices), all gradient going to the returned index.
    NaN where there is one."""
    return _median(input, dim, keepdim, "median", False)


def nanmedian(input, dim=None, keepdim=False):
    """median() of what is not NaN; NaN where nothing else is."""
    return _median(input, dim, keepdim, "nanmedian", True)


def mode(input, dim=-1, keepdim=False):
    """(values, indices) of the most frequent element along dim, of several the smallest, at its last place."""
    whole = input.dim() == 0
    input, dim = _lines(input, dim, "mode")
    values, order = input.detach().sort(dim)
    size = input.size(dim)
    changes = values.narrow(dim, 1, size - 1) != values.narrow(dim, 0, size - 1)
    first = _F.zeros_like(values.narrow(dim, 0, 1), dtype=_C.int64)
    run = _F.cat([first, changes.to(_C.int64)], dim).cumsum(dim)
    counts = _F.zeros_like(run).scatter_add(dim, run, _F.ones_like(run))
    best = _F.argmax(counts, dim, True)
    last = counts.cumsum(dim).gather(dim, best) - 1
    found = _selected(input, order.gather(dim, last), dim, keepdim)
    return ValuesIndices(part.reshape([]) for part in found) if whole else found


__all__ = "aminmax dist logsumexp median mode nanmedian norm std std_mean var var_mean".split()
