"""Functions of tensors written in terms of the table's operators; most are methods of Tensor too.

Each is differentiable through its parts. Shapes and errors are as in PyTorch where not said otherwise.
"""

from __future__ import annotations

import builtins
import math

from . import _C

_F = _C.functions


def _wrap_dim(dim, rank, name):
    size = builtins.max(rank, 1)
    if not -size <= dim < size:
        raise IndexError(f"{name}: dimension {dim} is out of range: a tensor of {rank} dimensions expects one of [{-size}, {size - 1}]")
    return dim % size


def _wide(input):
    """What squares and exponentials are summed in: float32 for 16-bit numbers, the default dtype for integers."""
    if not input.is_floating_point():
        return input.to(_C.get_default_dtype())
    return input.to(_C.float32) if input.dtype.itemsize == 2 else input


def _narrow(result, input):
    return result.to(input.dtype) if input.is_floating_point() else result


def _reduce_arguments(dim):
    if dim is None:
        return []
    return [dim] if isinstance(dim, int) else list(dim)


# ---- sizes
def squeeze(input, dim=None):
    """Without the dimensions of size 1, or those of them named by `dim`."""
    if dim is None or isinstance(dim, int):
        return _C.TensorBase.squeeze(input, dim)
    for d in sorted((_wrap_dim(d, input.dim(), "squeeze") for d in dim), reverse=True):
        input = _C.TensorBase.squeeze(input, d)
    return input


# ---- reductions
class ValuesIndices(tuple):
    """values, indices: what max(x, dim), min(x, dim), sort and topk return."""

    __slots__ = ()
    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])

    def __repr__(self):
        return f"(values={self[0]!r}, indices={self[1]!r})"


def _extremum(input, dim, keepdim, whole, pair, sign):
    if isinstance(dim, _C.TensorBase):
        return pair(input, dim)
    if dim is None:
        if input.numel() == 0:
            raise RuntimeError(f"max/min of a tensor of shape {list(input.shape)}, which has no element")
        return whole(input)
    at = _F.argmax(input if sign > 0 else _in_reverse(input), dim, True)
    values = input.gather(dim, at)
    return ValuesIndices((values, at) if keepdim else (_C.TensorBase.squeeze(values, dim), _C.TensorBase.squeeze(at, dim)))


def _in_reverse(input):
    """The largest where input is smallest, without overflow; NaN stays NaN."""
    if input.is_floating_point():
        return -input
    if input.dtype is _C.bool:
        return _F.logical_not(input)
    return (255 if input.dtype is _C.uint8 else -1) - input


def max(input, dim=None, keepdim=False):
    """The largest element; with `dim`, (values, indices), all gradient going to the returned index."""
    return _extremum(input, dim, keepdim, _F.amax, _F.maximum, 1)


def min(input, dim=None, keepdim=False):
    """The smallest element; with `dim`, (values, indices), all gradient going to the returned index."""
    return _extremum(input, dim, keepdim, _F.amin, _F.minimum, -1)




# ---- questions
def isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """True where |input - other| <= atol + rtol |other|; equal infinities are close, NaN only with equal_nan."""
    close = (input - other).abs() <= atol + rtol * other.abs()
    close = _F.logical_or(close, input == other)
    close = _F.logical_and(close, _F.logical_or(_F.isfinite(other), input == other))
    if equal_nan:
        close = _F.logical_or(close, _F.logical_and(_F.isnan(input), _F.isnan(other)))
    return close


def allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether isclose() everywhere; a Python bool."""
    return bool(_F.all(isclose(input, other, rtol, atol, equal_nan)).item())


def equal(input, other):
    """The same shape and equal elements; a Python bool."""
    return tuple(input.shape) == tuple(other.shape) and bool(_F.all(input == other).item())


# ---- pointwise
def _times(other, alpha):
    return other if alpha == 1 else _F.mul(other, alpha)


def add(input, other, *, alpha=1):
    """input + alpha other."""
    return _F.add(input, _times(other, alpha))


def sub(input, other, *, alpha=1):
    """input - alpha other."""
    return _F.sub(input, _times(other, alpha))


def rsub(input, other, *, alpha=1):
    """other - alpha input."""
    return _F.sub(other, _times(input, alpha))


def round(input, *, decimals=0):
    """The nearest integer, ties to even; with decimals, the nearest multiple of 10^-decimals."""
    if decimals == 0:
        return _F.round(input)
    scale = 10.0 ** builtins.abs(decimals)
    return _F.round(input * scale) / scale if decimals > 0 else _F.round(input / scale) * scale


def div(input, other, *, rounding_mode=None):
    """input / other: true division, or rounded to whole numbers with rounding_mode 'floor' or 'trunc' (towards 0)."""
    return _divide(rounding_mode)(input, other)


def _divide(rounding_mode):
    operators = {None: _F.div, "floor": _F.floor_divide, "trunc": _F.trunc_divide}
    if rounding_mode not in operators:
        raise RuntimeError(f"div: rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}")
    return operators[rounding_mode]


def logit(input, eps=None):
    """log(input / (1 - input)); with eps, of input within [eps, 1 - eps]."""
    return _F.logit(input if eps is None else input.clamp(eps, 1 - eps))


def fmax(input, other):
    """The larger one; a NaN loses against a number. A tie gives each half of the gradient."""
    return _F.where(_F.isnan(input), other, _F.where(_F.isnan(other), input, _F.maximum(input, other)))


def fmin(input, other):
    """The smaller one; a NaN loses against a number. A tie gives each half of the gradient."""
    return _F.where(_F.isnan(input), other, _F.where(_F.isnan(other), input, _F.minimum(input, other)))


def heaviside(input, values):
    """0 below 0, 1 above it, and values at 0."""
    return _F.where(input == 0, values, (input > 0).to(input.dtype))


def sinc(input):
    """sin(pi input) / (pi input), and 1 at 0."""
    zero = input == 0
    angle = _F.where(zero, 1.0, input) * math.pi
    return _F.where(zero, 1.0, _F.sin(angle) / angle)


def deg2rad(input):
    """An angle in degrees, in radians."""
    return input * (math.pi / 180)


def rad2deg(input):
    """An angle in radians, in degrees."""
    return input * (180 / math.pi)


def float_power(input, exponent):
    """input to the power exponent in float64."""
    wide = [t.to(_C.float64) if isinstance(t, _C.TensorBase) else builtins.float(t) for t in (input, exponent)]
    return _F.pow(*wide)


def isposinf(input):
    """True where an element is plus infinity."""
    return input == math.inf


def isneginf(input):
    """True where an element is minus infinity."""
    return input == -math.inf


divide = true_divide = div
sgn = _F.sign
subtract = sub

__all__ = [name for name, value in list(globals().items()) if callable(value) and not name.startswith("_")]
