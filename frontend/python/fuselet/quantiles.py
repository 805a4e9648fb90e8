"""Quantiles: elements of sorted lines, or numbers between two of them. All are methods too."""

from __future__ import annotations

from . import _C
from .composed import _wrap_dim

_F = _C.functions

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _probabilities(q, input, name):
    """q as a vector of input's dtype. The host reads a tensor's elements to check them, except in a compiled function."""
    if not isinstance(q, _C.TensorBase):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}: q must lie in [0, 1], got {q}")
        return _F.full([1], q, dtype=input.dtype, device=input.device)
    if q.dim() > 1 or q.dtype is not input.dtype:
        raise RuntimeError(f"{name}: q must be a number, or a 0-d or 1-d tensor of input's dtype {input.dtype}, got {q.dtype} of "
                           f"shape {list(q.shape)}")
    if not _C._is_inside_compiled_function() and not ((q >= 0) & (q <= 1)).all():
        raise RuntimeError(f"{name}: the elements of q must lie in [0, 1]")
    return q.reshape(-1)


def _ranks(lines, q, skip_nan):
    """Where the quantiles lie in the sorted lines (…, N), counted from 0 and with a fraction: (…, number of q)."""
    missing = _F.isnan(lines.detach()).sum([-1], True)
    last = lines.size(-1) - 1
    if skip_nan:
        return q * (last - missing).clamp(min=0).to(q.dtype)
    # NaN sorts behind all numbers, so a line that has one ends with it.
    return _F.where(missing > 0, float(last), q * last)


def _quantile(input, q, dim, keepdim, interpolation, name, skip_nan):
    if input.dtype not in (_C.float32, _C.float64):
        raise RuntimeError(f"{name}: input must be float32 or float64, got {input.dtype}")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(f"{name}: interpolation must be one of {', '.join(_INTERPOLATIONS)}, got {interpolation!r}")
    if input.numel() == 0:
        raise RuntimeError(f"{name}: input of shape {list(input.shape)} has no elements")
    at = 0 if dim is None else _wrap_dim(dim, input.dim(), name)
    lines = input.reshape(-1) if dim is None or input.dim() == 0 else input.movedim(at, -1)
    ranks = _ranks(lines, _probabilities(q, input, name), skip_nan)
    order = _F.argsort(lines.detach(), -1)

    def elements(places):
        return lines.gather(-1, order.gather(-1, places.to(_C.int64)))

    if interpolation in ("linear", "midpoint"):
        below, above = ranks.floor(), ranks.ceil()
        weight = ranks - below if interpolation == "linear" else 0.5
        found = _F.lerp(elements(below), elements(above), weight)
    else:
        found = elements({"lower": _F.floor, "higher": _F.ceil, "nearest": _F.round}[interpolation](ranks))
    return _placed(found, isinstance(q, _C.TensorBase) and q.dim() == 1, input, dim, at, keepdim)


def _placed(found, many, input, dim, at, keepdim):
    """The quantiles (…, number of q) with that number in front, or gone, and the searched dimension as keepdim says."""
    found = found.movedim(-1, 0) if many else found.squeeze(-1)
    if not keepdim or input.dim() == 0:
        return found
    if dim is None:
        return found.reshape(list(found.shape) + [1] * input.dim())
    return found.unsqueeze(at + 1 if many else at)


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """The element of rank q (n - 1), counted from 0, of the n sorted elements along dim, by default of all.

    input: float32 or float64, of any shape; q in [0, 1]: a number, or a tensor () or (K) of the same dtype, whose K comes
    in front of the result's shape. Between two ranks interpolation takes 'lower', 'higher', 'nearest' (a half to the even
    rank), 'midpoint' (the mean) or 'linear' (their mixture by the fraction: Hyndman and Fan 1996, definition 7). A line with
    a NaN gives NaN. RuntimeError for other dtypes, q out of range, or no elements."""
    return _quantile(input, q, dim, keepdim, interpolation, "quantile", False)


def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """quantile() of what is not NaN; NaN where nothing else is."""
    return _quantile(input, q, dim, keepdim, interpolation, "nanquantile", True)


METHODS = ["nanquantile", "quantile"]

__all__ = METHODS
