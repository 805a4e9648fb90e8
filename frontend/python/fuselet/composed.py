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


# ---- splitting and joining
def unbind(input, dim=0):
    """A tuple of views, one an entry of `dim`."""
    return tuple(input.select(dim, i) for i in range(input.size(dim)))


def split(input, split_size, dim=0):
    """Views of `split_size` entries each (the last may be shorter), or of the sizes in a list."""
    size = input.size(dim)
    if isinstance(split_size, int):
        if split_size <= 0:
            raise RuntimeError(f"split: split_size must be positive, got {split_size}")
        starts = range(0, builtins.max(size, 1), split_size)
        return tuple(input.narrow(dim, s, builtins.min(split_size, size - s)) for s in starts)
    if builtins.sum(split_size) != size:
        raise RuntimeError(f"split: sizes {list(split_size)} do not sum to {size}, the size of dimension {dim}")
    parts, start = [], 0
    for length in split_size:
        parts.append(input.narrow(dim, start, length))
        start += length
    return tuple(parts)


def chunk(input, chunks, dim=0):
    """At most `chunks` views of equal size; the last may be smaller."""
    if chunks <= 0:
        raise RuntimeError(f"chunk: expected a positive number of chunks, got {chunks}")
    return split(input, builtins.max(1, -(-input.size(dim) // chunks)), dim)


def hstack(tensors):
    """Joined along dimension 1, or 0 for 1-d tensors."""
    if not tensors:
        raise RuntimeError("hstack: expected at least one tensor")
    return _F.cat(list(tensors), 0 if tensors[0].dim() == 1 else 1)


def vstack(tensors):
    """Joined along dimension 0; 1-d tensors count as rows."""
    if not tensors:
        raise RuntimeError("vstack: expected at least one tensor")
    return _F.cat([t.unsqueeze(0) if t.dim() == 1 else t for t in tensors], 0)


def flip(input, *dims):
    """The entries of `dims` in reverse order; a copy."""
    names = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    out = input
    for dim in names:
        out = out.index_select(dim, _F.arange(out.size(dim) - 1, -1, -1, device=out.device))
    return out


def roll(input, shifts, dims=None):
    """Entries moved by `shifts` along `dims` (along the flattened tensor without dims); those pushed out come in again."""
    if dims is None:
        return roll(input.reshape(-1), shifts, 0).view(input.shape)
    pairs = [(shifts, dims)] if isinstance(shifts, int) else zip(shifts, dims)
    for shift, dim in pairs:
        n = input.size(dim)
        if n and shift % n:
            at = n - shift % n
            input = _F.cat([input.narrow(dim, at, n - at), input.narrow(dim, 0, at)], dim)
    return input


def repeat(input, *repeats):
    """The whole tensor repeated along each dimension; a copy."""
    if len(repeats) == 1 and not isinstance(repeats[0], int):
        repeats = tuple(repeats[0])
    if len(repeats) < input.dim():
        raise RuntimeError(f"repeat: {len(repeats)} counts for {input.dim()} dimensions")
    shape = (1,) * (len(repeats) - input.dim()) + tuple(input.shape)
    spread, expanded = [], []
    for count, size in zip(repeats, shape):
        spread += [1, size]
        expanded += [count, size]
    total = [count * size for count, size in zip(repeats, shape)]
    return input.reshape(spread).expand(expanded).reshape(total)


def tile(input, *dims):
    """repeat(), where missing leading counts are 1."""
    if len(dims) == 1 and not isinstance(dims[0], int):
        dims = tuple(dims[0])
    return repeat(input, *((1,) * (input.dim() - len(dims)) + tuple(dims)))


def movedim(input, source, destination):
    """Dimension `source` at place `destination`, the others in their order."""
    source, destination = (_wrap_dim(d, input.dim(), "movedim") for d in (source, destination))
    order = [d for d in range(input.dim()) if d != source]
    order.insert(destination, source)
    return input.permute(order)


def swapaxes(input, dim0, dim1):
    """transpose()."""
    return input.transpose(dim0, dim1)


def unflatten(input, dim, sizes):
    """Dimension `dim` as several of the given sizes, whose product it is."""
    dim = _wrap_dim(dim, input.dim(), "unflatten")
    return input.reshape(list(input.shape[:dim]) + list(sizes) + list(input.shape[dim + 1:]))


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


# ---- order
def argsort(input, dim=-1, descending=False):
    """int64 indices that sort along dim; equal elements keep their order. NaN counts as largest."""
    import numpy

    dim = _wrap_dim(dim, input.dim(), "argsort")
    if input.dim() == 0:
        return _F.full([], 0, dtype=_C.int64, device=input.device)
    values = input.detach()
    values = (values.to(_C.float32) if values.dtype is _C.bfloat16 else values).cpu().numpy()
    if descending:
        # Backwards before and after, so that equal elements keep their order and NaN comes first.
        values = numpy.flip(values, dim)
    order = numpy.argsort(values, axis=dim, kind="stable")
    if descending:
        order = numpy.flip(values.shape[dim] - 1 - order, dim)
    return _C._copy_of_array(numpy.ascontiguousarray(order)).to(input.device)


def sort(input, dim=-1, descending=False):
    """(values, indices) in order along dim."""
    order = argsort(input, dim, descending)
    return ValuesIndices((input.gather(dim, order), order))


def topk(input, k, dim=-1, largest=True, sorted=True):
    """(values, indices) of the k largest (or smallest) elements along dim, in order."""
    if not 0 <= k <= input.size(dim):
        raise RuntimeError(f"topk: k = {k} is out of range for dimension {dim} of size {input.size(dim)}")
    order = argsort(input, dim, largest).narrow(dim, 0, k)
    return ValuesIndices((input.gather(dim, order), order))


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


def outer(input, other):
    """(N), (M) -> (N, M): every product of two elements."""
    return input.unsqueeze(1) * other.unsqueeze(0)


def dot(input, other):
    """(N), (N) -> (): the sum of products."""
    if input.dim() != 1 or other.dim() != 1:
        raise RuntimeError(f"dot: expected vectors of one length, got shapes {list(input.shape)} and {list(other.shape)}")
    return _F.matmul(input, other)


def tril(input, diagonal=0):
    """The elements on and below a diagonal, 0 above it."""
    return _F.where(_triangle(input, diagonal), input, 0)


def triu(input, diagonal=0):
    """The elements on and above a diagonal, 0 below it."""
    return _F.where(_triangle(input, diagonal - 1), 0, input)


def _triangle(input, diagonal):
    rows = _F.arange(input.size(-2), device=input.device).unsqueeze(1)
    return _F.arange(input.size(-1), device=input.device).unsqueeze(0) <= rows + diagonal


def index_put_(self, indices, values, accumulate=False):
    """Writes values at index tensors; with accumulate they add up. Broadcasts values."""
    if not accumulate:
        self[tuple(indices)] = values
        return self
    if len(indices) != 1:
        raise NotImplementedError("index_put_ accumulates through one index tensor only")
    index = indices[0]
    flat = index.reshape(-1)
    rest = list(self.shape[1:])
    if not isinstance(values, _C.TensorBase):
        values = _F.full([], values, dtype=self.dtype, device=self.device)
    source = values.to(self.dtype).expand(list(index.shape) + rest).reshape([flat.numel()] + rest)
    return self.index_add_(0, flat, source)


divide = true_divide = div
sgn = _F.sign
subtract = sub
concat = concatenate = _F.cat

__all__ = [name for name, value in list(globals().items()) if callable(value) and not name.startswith("_")]
