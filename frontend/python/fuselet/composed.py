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


def argmin(input, dim=None, keepdim=False):
    """int64 index of the first smallest element over `dim`, or of the flattened tensor; NaN counts as smallest."""
    return _F.argmax(_in_reverse(input), dim, keepdim)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False):
    """Variance over `dim`, divided by (count - correction); correction 1 unless unbiased=False."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 0 if unbiased is False else 1
    return _F.var(input, _reduce_arguments(dim), correction, keepdim)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False):
    """Square root of var()."""
    return _narrow(var(_wide(input), dim, unbiased, correction=correction, keepdim=keepdim).sqrt(), input)


def all(input, dim=None, keepdim=False):
    """Whether all elements (over `dim`) are nonzero, as a bool tensor."""
    return (input == 0).sum(_reduce_arguments(dim), keepdim) == 0


def any(input, dim=None, keepdim=False):
    """Whether an element (over `dim`) is nonzero, as a bool tensor."""
    return (input != 0).sum(_reduce_arguments(dim), keepdim) != 0


def count_nonzero(input, dim=None):
    """int64 number of nonzero elements over `dim`."""
    return (input != 0).sum(_reduce_arguments(dim))


def logsumexp(input, dim, keepdim=False):
    """log(sum(exp(input))) over `dim`, safe for large values; -inf, with gradient 0, where all are -inf."""
    dims = _reduce_arguments(dim)
    values = _wide(input)
    top = values.detach().amax(dims, True)
    shift = _F.where(isinf(top), 0.0, top)
    total = (values - shift).exp().sum(dims, True)
    # log'(0) is infinite: where the sum is 0 the logarithm is of 1, and the result a constant.
    empty = total == 0
    out = _narrow(_F.where(empty, -math.inf, _F.where(empty, 1.0, total).log() + shift), input)
    if keepdim:
        return out
    return squeeze(out, dims)


def norm(input, p=2, dim=None, keepdim=False):
    """The p-norm over `dim`, summed in float32 for 16-bit numbers; its gradient at a zero vector is 0."""
    return _narrow(_norm(_wide(input), p, _reduce_arguments(dim), keepdim), input)


def _norm(input, p, dims, keepdim):
    if p == 0:
        return (input != 0).sum(dims, keepdim).to(input.dtype)
    if p == 1:
        return input.abs().sum(dims, keepdim)
    if p == math.inf:
        return input.abs().amax(dims, keepdim)
    if p == -math.inf:
        return input.abs().amin(dims, keepdim)
    squares = p in ("fro", 2, 2.0)
    total = ((input * input) if squares else input.abs().pow(p)).sum(dims, keepdim)
    zero = total == 0
    safe = _F.where(zero, 1.0, total)
    return _F.where(zero, 0.0, safe.sqrt() if squares else safe.pow(1.0 / p))


# ---- questions
def isinf(input):
    """True where an element is infinite."""
    return input.abs() == math.inf


def isfinite(input):
    """True where an element is neither infinite nor NaN."""
    return input.abs() < math.inf


def isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """True where |input - other| <= atol + rtol |other|; equal infinities are close, NaN only with equal_nan."""
    close = (input - other).abs() <= atol + rtol * other.abs()
    close = _F.logical_or(close, input == other)
    close = _F.logical_and(close, _F.logical_or(isfinite(other), input == other))
    if equal_nan:
        close = _F.logical_or(close, _F.logical_and(_F.isnan(input), _F.isnan(other)))
    return close


def allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether isclose() everywhere; a Python bool."""
    return bool(all(isclose(input, other, rtol, atol, equal_nan)).item())


def equal(input, other):
    """The same shape and equal elements; a Python bool."""
    return tuple(input.shape) == tuple(other.shape) and bool(all(input == other).item())


# ---- pointwise
def log2(input):
    """Logarithm to base 2."""
    return _F.log(input) * (1 / math.log(2))


def log10(input):
    """Logarithm to base 10."""
    return _F.log(input) * (1 / math.log(10))


def tan(input):
    """sin(input) / cos(input)."""
    return _F.sin(input) / _F.cos(input)


def lerp(input, end, weight):
    """input + weight (end - input)."""
    return input + weight * (end - input)


def addcmul(input, tensor1, tensor2, *, value=1):
    """input + value tensor1 tensor2."""
    return input + value * tensor1 * tensor2


def addcdiv(input, tensor1, tensor2, *, value=1):
    """input + value tensor1 / tensor2."""
    return input + value * tensor1 / tensor2


def floor_divide(input, other):
    """input // other, rounded down."""
    return input // other


def remainder(input, other):
    """input % other, with the sign of other."""
    return input % other


def true_divide(input, other):
    """input / other."""
    return input / other


subtract = _F.sub
clip = _F.clamp
multiply = _F.mul
divide = _F.div
negative = _F.neg
absolute = _F.abs

__all__ = [name for name, value in list(globals().items()) if callable(value) and not name.startswith("_")]
