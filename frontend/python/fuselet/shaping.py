"""Functions that rearrange and repeat tensors, in terms of the table's operators; most are methods too.

Each is differentiable through its parts, and gives views where PyTorch does unless its text says otherwise.
"""

from __future__ import annotations

from . import _C
from .composed import _wrap_dim
from .joining import atleast_2d

_F = _C.functions


def _numbers(given):
    """The ints of f(1, 2), f([1, 2]) or f(1)."""
    if len(given) == 1 and not isinstance(given[0], int):
        return tuple(given[0])
    return tuple(given)


def broadcast_shapes(*shapes):
    """The common shape that tensors of these shapes broadcast to."""
    from .tensor_class import Size

    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    rank = max((len(s) for s in shapes), default=0)
    common = [1] * rank
    for shape in shapes:
        for d, size in enumerate(shape, rank - len(shape)):
            if size != 1 and common[d] not in (1, size):
                raise RuntimeError(f"broadcast_shapes: {[list(s) for s in shapes]} do not broadcast together")
            common[d] = size if common[d] == 1 else common[d]
    return Size(common)


def broadcast_tensors(*tensors):
    """The tensors expanded to their common shape."""
    shape = broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t.expand(shape) for t in tensors)


def cartesian_prod(*tensors):
    """(N1), (N2), … -> (N1 N2 …, count): every choice of one element each; one tensor as it is."""
    if len(tensors) == 1:
        return tensors[0]
    return _F.stack([t.reshape(-1) for t in _grid(tensors)], 1)


def combinations(input, r=2, with_replacement=False):
    """(choices, r): the entries of a vector chosen r at a time, in their order, each once or, with_replacement, often."""
    import itertools

    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = [place for choice in choose(range(input.numel()), r) for place in choice]
    if r == 0 or not places:
        return input.narrow(0, 0, 0).reshape(0, r) if r else input.narrow(0, 0, 0)
    return input.index_select(0, _numbers_on(places, input.device)).view(-1, r)


def _numbers_on(numbers, device):
    from .making import tensor

    return tensor(numbers, dtype=_C.int64, device=device)


def block_diag(*tensors):
    """Matrices along the diagonal of one, 0 elsewhere; vectors count as rows."""
    parts = [atleast_2d(t) for t in tensors]
    if not parts:
        return _F.zeros([1, 0])
    columns, before, rows = sum(p.size(1) for p in parts), 0, []
    for part in parts:
        behind = columns - before - part.size(1)
        around = [_F.zeros([part.size(0), n], dtype=part.dtype, device=part.device) for n in (before, behind)]
        rows.append(_F.cat([around[0], part, around[1]], 1))
        before += part.size(1)
    return _F.cat(rows, 0)


def _grid(tensors):
    sizes = [t.numel() for t in tensors]
    return [t.reshape([-1 if d == i else 1 for d in range(len(sizes))]).expand(sizes) for i, t in enumerate(tensors)]


# ---- order of entries
def flip(input, *given, dims=None):
    """The entries of `dims` in reverse order; a copy."""
    dims = [_wrap_dim(d, input.dim(), "flip") for d in (_numbers(given) if dims is None else _numbers([dims]))]
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"flip: a dimension stands twice in {dims}")
    out = input
    for dim in dims:
        out = out.index_select(dim, _F.arange(out.size(dim) - 1, -1, -1, device=out.device))
    return out if dims else input.clone()


def fliplr(input):
    """Columns in reverse order."""
    return flip(input, 1)


def flipud(input):
    """Rows in reverse order."""
    return flip(input, 0)


def roll(input, shifts, dims=None):
    """Entries moved by `shifts` along `dims` (along the flattened tensor without dims); those pushed out come in again."""
    if dims is None:
        return roll(input.reshape(-1), shifts, 0).view(input.shape)
    shifts, dims = ((v,) if isinstance(v, int) else tuple(v) for v in (shifts, dims))
    if len(shifts) != len(dims):
        raise RuntimeError(f"roll: {len(shifts)} shifts for {len(dims)} dimensions")
    for shift, dim in zip(shifts, dims):
        n = input.size(dim)
        if n and shift % n:
            at = n - shift % n
            input = _F.cat([input.narrow(dim, at, n - at), input.narrow(dim, 0, at)], dim)
    return input


def rot90(input, k=1, dims=(0, 1)):
    """Turned k times by 90° in the plane of two dimensions, from the first towards the second."""
    first, second = (_wrap_dim(d, input.dim(), "rot90") for d in dims)
    if first == second:
        raise RuntimeError(f"rot90: expected two dimensions, got {dims}")
    if k % 4 == 0:
        return input.clone()
    if k % 4 == 2:
        return flip(input, first, second)
    return flip(input.transpose(first, second), first if k % 4 == 1 else second)


# ---- order of dimensions
def movedim(input, source, destination):
    """Dimensions `source` (one or several) at places `destination`, the others in their order."""
    source, destination = ((v,) if isinstance(v, int) else tuple(v) for v in (source, destination))
    source, destination = ([_wrap_dim(d, input.dim(), "movedim") for d in v] for v in (source, destination))
    if len(source) != len(destination) or len(set(source)) != len(source) or len(set(destination)) != len(destination):
        raise RuntimeError(f"movedim: expected as many places as dimensions, each once, got {source} and {destination}")
    order = [d for d in range(input.dim()) if d not in source]
    for place, dim in sorted(zip(destination, source)):
        order.insert(place, dim)
    return input.permute(order)


def swapaxes(input, dim0, dim1):
    """transpose()."""
    return input.transpose(dim0, dim1)


moveaxis, swapdims = movedim, swapaxes


def diff(input, n=1, dim=-1, prepend=None, append=None):
    """Each entry of `dim` minus the one before it, n times over; first joined with what is to stand before and behind."""
    if n < 0:
        raise RuntimeError(f"diff: n must not be negative, got {n}")
    if n == 0:
        return input
    parts = [part for part in (prepend, input, append) if part is not None]
    input = _F.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, input.size(dim))):
        size = input.size(dim)
        upper, lower = input.narrow(dim, 1, size - 1), input.narrow(dim, 0, size - 1)
        input = upper != lower if input.dtype is _C.bool else upper - lower
    return input


def adjoint(input):
    """The last two dimensions exchanged."""
    return input.transpose(-2, -1)


def ravel(input):
    """All elements as one dimension; a view where the strides allow it."""
    return input.reshape(-1)


def unflatten(input, dim, sizes):
    """Dimension `dim` as several of the given sizes, whose product it is; one of them may be -1."""
    dim = _wrap_dim(dim, input.dim(), "unflatten")
    sizes = [sizes] if isinstance(sizes, int) else list(sizes)
    if -1 in sizes:
        known = 1
        for size in sizes:
            known *= size if size != -1 else 1
        if known == 0 or sizes.count(-1) > 1 or input.size(dim) % known:
            raise RuntimeError(f"unflatten: {input.size(dim)} entries of dimension {dim} do not divide into {sizes}")
        sizes[sizes.index(-1)] = input.size(dim) // known
    return input.reshape(list(input.shape[:dim]) + sizes + list(input.shape[dim + 1:]))


# ---- repeating
def repeat(input, *given, repeats=None):
    """The whole tensor repeated along each dimension; a copy."""
    repeats = _numbers(given) if repeats is None else _numbers([repeats])
    if len(repeats) < input.dim():
        raise RuntimeError(f"repeat: {len(repeats)} counts for {input.dim()} dimensions")
    shape = (1,) * (len(repeats) - input.dim()) + tuple(input.shape)
    spread, expanded = [], []
    for count, size in zip(repeats, shape):
        spread += [1, size]
        expanded += [count, size]
    total = [count * size for count, size in zip(repeats, shape)]
    return input.reshape(spread).expand(expanded).clone(contiguous=True).view(total)


def tile(input, *given, dims=None):
    """repeat(), where missing leading counts are 1."""
    dims = _numbers(given) if dims is None else _numbers([dims])
    return repeat(input, *((1,) * (input.dim() - len(dims)) + dims))


def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each entry of `dim` (of the flattened tensor without dim) repeated: by a number, or by one count for each in a
    1-d integer tensor, which is read by the host. repeat_interleave(counts) gives the entries' numbers."""
    if repeats is None:
        return _entry_numbers(input).to(input.device)
    if dim is None:
        input, dim = input.reshape(-1), 0
    dim = _wrap_dim(dim, input.dim(), "repeat_interleave")
    size = input.size(dim)
    if isinstance(repeats, _C.TensorBase) and repeats.numel() != 1:
        if tuple(repeats.shape) != (size,):
            raise RuntimeError(f"repeat_interleave: expected {size} counts, got shape {list(repeats.shape)}")
        return input.index_select(dim, _entry_numbers(repeats).to(input.device))
    count = int(repeats)
    if count < 0:
        raise RuntimeError(f"repeat_interleave: counts must not be negative, got {count}")
    shape = list(input.shape)
    spread = input.unsqueeze(dim + 1).expand(shape[:dim + 1] + [count] + shape[dim + 1:])
    return spread.clone(contiguous=True).view(shape[:dim] + [size * count] + shape[dim + 1:])


def _entry_numbers(counts):
    import numpy

    _refuse_in_compiled_function(counts, "repeat_interleave")
    numbers = counts.detach().cpu().numpy()
    if numbers.size and numbers.min() < 0:
        raise RuntimeError("repeat_interleave: counts must not be negative")
    return _C._copy_of_array(numpy.repeat(numpy.arange(numbers.size, dtype=numpy.int64), numbers), counts.device)


def _refuse_in_compiled_function(tensor, name):
    """NotImplementedError in a compiled function, where no size may depend on elements."""
    if _C._is_inside_compiled_function():
        raise NotImplementedError(f"{name}: the size of its result depends on the elements of a tensor of shape "
                                  f"{list(tensor.shape)}, which a compiled function cannot have; call it outside")


# ---- windows
def unfold(input, dimension, size, step):
    """Every `step` entries of `dimension` a window of `size` entries, as last dimension: a view where windows lie side by
    side and leave nothing over, else a copy."""
    dim = _wrap_dim(dimension, input.dim(), "unfold")
    entries = input.size(dim) if input.dim() else 1
    if not 0 <= size <= entries or step <= 0:
        raise RuntimeError(f"unfold: windows of {size} every {step} do not fit dimension {dimension} of {entries} entries")
    if input.dim() == 0:
        return input.reshape(1)
    count = (entries - size) // step + 1
    if step == size and count * size == entries:
        windows = input
    else:
        places = (_F.arange(count, device=input.device) * step).unsqueeze(1) + _F.arange(size, device=input.device)
        windows = input.index_select(dim, places.view(-1))
    shape = list(input.shape)
    return movedim(windows.reshape(shape[:dim] + [count, size] + shape[dim + 1:]), dim + 1, -1)


METHODS = ("adjoint diff flip fliplr flipud moveaxis movedim ravel repeat repeat_interleave roll rot90 swapaxes "
           "swapdims tile unflatten unfold").split()

__all__ = [name for name, value in list(globals().items()) if callable(value) and getattr(value, "__module__", "") == __name__
           and not name.startswith("_")]
