"""Functions that pick, write, search and count entries, in terms of the table's operators; most are methods too.

Where equal indices write, the last one wins. nonzero, masked_select, unique and their like have results whose size depends
on elements: the host reads them, and in a compiled function they raise NotImplementedError.
"""

from __future__ import annotations

from . import _C
from .composed import _wrap_dim
from .shaping import _refuse_in_compiled_function, broadcast_shapes, broadcast_tensors

_F = _C.functions


def _is_tensor(value):
    return isinstance(value, _C.TensorBase)


def _as_source(value, like, shape):
    """A number or a tensor of one element as a tensor of that shape."""
    if not _is_tensor(value):
        value = _F.full([], value, dtype=like.dtype, device=like.device)
    return value.to(like.dtype).expand(shape)


# ---- writing by index
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """input with src[i][j]… written at index[i][j]… along dim; src may be a number. reduce 'add' or 'multiply' takes
    src in instead. index and src have input's rank; the last of equal indices wins, and gets the gradient."""
    src = value if src is None else src
    if not _is_tensor(src):
        src = _as_source(src, input, index.shape)
    if reduce is None:
        return _F.scatter(input, dim, index, src)
    if reduce not in ("add", "multiply"):
        raise RuntimeError(f"scatter: reduce must be 'add' or 'multiply', got {reduce!r}")
    return _F.scatter_add(input, dim, index, src) if reduce == "add" else _C.internal.scatter_fold(input, dim, index, src, "prod")


def scatter_(self, dim, index, src=None, *, value=None, reduce=None):
    """scatter() into self, which is returned."""
    src = value if src is None else src
    if reduce is None:
        return _C.TensorBase.scatter_(self, dim, index, src if _is_tensor(src) else _as_source(src, self, index.shape))
    return self.copy_(scatter(self, dim, index, src, reduce=reduce))


def _identity(dtype, reduce):
    """What changes nothing it is folded with."""
    if reduce in ("sum", "mean", "prod"):
        return 1 if reduce == "prod" else 0
    if dtype.is_floating_point:
        return float("-inf") if reduce == "amax" else float("inf")
    from .number_limits import iinfo

    return iinfo(dtype).min if reduce == "amax" else iinfo(dtype).max


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """input with src[i][j]… folded in at index[i][j]… along dim: 'sum', 'prod', 'mean', 'amax' or 'amin'. Without
    include_self, an entry that something is folded into does not count itself."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"scatter_reduce: reduce must be 'sum', 'prod', 'mean', 'amax' or 'amin', got {reduce!r}")
    if not include_self:
        input = _F.scatter(input, dim, index, _as_source(_identity(input.dtype, reduce), input, index.shape))
    if reduce not in ("sum", "mean"):
        return _C.internal.scatter_fold(input, dim, index, src, reduce)
    total = _F.scatter_add(input, dim, index, src)
    if reduce == "sum":
        return total
    start = _F.full(input.shape, 1 if include_self else 0, dtype=input.dtype, device=input.device)
    count = _F.scatter_add(start, dim, index, _as_source(1, input, index.shape)).clamp(min=1)
    return total / count if input.is_floating_point() else total // count


def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """scatter_reduce() into self, which is returned."""
    return self.copy_(scatter_reduce(self, dim, index, src, reduce, include_self=include_self))


def index_add(input, dim, index, source, *, alpha=1):
    """input with alpha times source's entries along dim added at the entries that the 1-d index names."""
    return _F.index_add(input, dim, index, source if alpha == 1 else source * alpha)


def index_add_(self, dim, index, source, *, alpha=1):
    """index_add() into self, which is returned."""
    return _C.TensorBase.index_add_(self, dim, index, source if alpha == 1 else source * alpha)


def _rows_of(value, like, dim, index):
    shape = list(like.shape)
    if shape:
        shape[_wrap_dim(dim, like.dim(), "index_fill")] = index.numel()
    return _as_source(value, like, shape)


def index_fill(input, dim, index, value):
    """input with the entries along dim that the 1-d index names filled with a number."""
    return _F.index_copy(input, dim, index, _rows_of(value, input, dim, index))


def index_fill_(self, dim, index, value):
    """index_fill() into self, which is returned."""
    return self.index_copy_(dim, index, _rows_of(value, self, dim, index))


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """scatter_reduce() by a 1-d index of whole entries along dim; 'prod', 'mean', 'amax' or 'amin'."""
    dim = _wrap_dim(dim, input.dim(), "index_reduce")
    spread = index.view([-1 if d == dim else 1 for d in range(input.dim())]).expand(source.shape)
    return scatter_reduce(input, dim, spread, source, reduce, include_self=include_self)


def index_put_(self, indices, values, accumulate=False):
    """Writes values, broadcast, at what self[indices] reads; with accumulate they add up, in index order."""
    if not _is_tensor(values):
        values = _F.full([], values, dtype=self.dtype, device=self.device)
    _C._index_put(self, tuple(slice(None) if i is None else i for i in indices), values, accumulate)
    return self


def index_put(input, indices, values, accumulate=False):
    """A copy of input after index_put_()."""
    return index_put_(input.clone(), indices, values, accumulate)


# ---- reading by index
def take(input, index):
    """The elements at the given places of the flattened tensor, in index's shape."""
    return input.reshape(-1).index_select(0, index.reshape(-1)).view(index.shape)


def take_along_dim(input, indices, dim=None):
    """gather(), where input and indices broadcast in the other dimensions; without dim, of both flattened."""
    if dim is None:
        return input.reshape(-1).gather(0, indices.reshape(-1))
    if input.dim() != indices.dim():
        raise RuntimeError(f"take_along_dim: {indices.dim()} dimensions of indices for {input.dim()}")
    dim = _wrap_dim(dim, input.dim(), "take_along_dim")
    shape = list(broadcast_shapes(*([1 if d == dim else n for d, n in enumerate(t.shape)] for t in (input, indices))))
    rows, places = list(shape), list(shape)
    rows[dim], places[dim] = input.size(dim), indices.size(dim)
    return input.expand(rows).gather(dim, indices.expand(places))


def gather(input, dim, index):
    """out[i][j]… = input[…index[i][j]…] along dim. index has the rank of input, or no element; a 0-d input counts as 1-d."""
    if input.dim() != index.dim():
        if index.numel() == 0:
            return input.reshape(-1).narrow(0, 0, 0).view(index.shape)
        if input.dim() == 0:
            input = input.reshape(1)
    return _F.gather(input, dim, index)


def put(input, index, source, accumulate=False):
    """A copy of input with source's elements at the given places of the flattened tensor."""
    write = _F.index_add if accumulate else _F.index_copy
    return write(input.reshape(-1), 0, index.reshape(-1), source.reshape(-1)).view(input.shape)


def put_(self, index, source, accumulate=False):
    """put() into self, which is returned."""
    return self.copy_(put(self, index, source, accumulate))


def unravel_index(indices, shape):
    """The coordinates, one tensor a dimension, of places in the flattened tensor of that shape."""
    out = []
    for size in reversed([shape] if isinstance(shape, int) else list(shape)):
        out.append(indices % size)
        indices = indices // size
    return tuple(reversed(out))


# ---- masks
def nonzero(input, *, as_tuple=False):
    """int64 (count, rank): the coordinates of the elements that are not 0, in row-major order; as_tuple: one vector a
    dimension, which index the tensor (a 0-d one counts as 1-d). The host counts them."""
    if not as_tuple:
        return _C._nonzero(input, "nonzero")
    places = _C._nonzero(input.reshape(1) if input.dim() == 0 else input, "nonzero")
    return tuple(places.select(1, d) for d in range(places.size(1)))


def argwhere(input):
    """nonzero()."""
    return _C._nonzero(input, "argwhere")


def where(condition, input=None, other=None):
    """input where condition is true, else other; where(condition) is nonzero(condition, as_tuple=True)."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return _F.where(condition, input, other)


def _places_of(mask, name):
    if mask.dtype is not _C.bool:
        raise RuntimeError(f"{name}: the mask must be bool, got {mask.dtype}")
    return _C._nonzero(mask.reshape(-1), name).view(-1)


def masked_select(input, mask):
    """The elements where the bool mask, broadcast with input, is true, as a vector."""
    input, mask = broadcast_tensors(input, mask)
    return input.reshape(-1).index_select(0, _places_of(mask, "masked_select"))


def masked_scatter(input, mask, source):
    """input with the elements where the mask is true replaced by the first ones of source, in row-major order."""
    input, mask = broadcast_tensors(input, mask)
    places = _places_of(mask, "masked_scatter")
    if source.numel() < places.numel():
        raise RuntimeError(f"masked_scatter: {source.numel()} elements for {places.numel()} places")
    values = source.to(input.dtype).reshape(-1).narrow(0, 0, places.numel())
    return _F.index_copy(input.reshape(-1), 0, places, values).view(input.shape)


def masked_scatter_(self, mask, source):
    """masked_scatter() into self, which is returned."""
    return self.copy_(masked_scatter(self, mask, source))


# ---- searching
def searchsorted(sorted_sequence, values, *, out_int32=False, right=False, side=None, sorter=None):
    """For each value the first place in the ascending sequence (1-d, or one for each row of values) whose element is not
    below it; right: is above it. NaN counts as largest."""
    if side not in (None, "left", "right"):
        raise RuntimeError(f"searchsorted: side must be 'left' or 'right', got {side!r}")
    right = right or side == "right"
    if not _is_tensor(values):
        values = _F.full([], values, device=sorted_sequence.device)
    if sorter is not None:
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    one_row = sorted_sequence.dim() == 1
    if not one_row and tuple(sorted_sequence.shape[:-1]) != tuple(values.shape[:-1]):
        raise RuntimeError(f"searchsorted: rows of shape {list(sorted_sequence.shape)} for values {list(values.shape)}")
    size = sorted_sequence.size(-1)
    place = _F.zeros(values.shape, dtype=_C.int64, device=values.device)
    step = 1 << size.bit_length() >> 1
    while step and size:
        ahead = place + step
        at = ahead.clamp(max=size) - 1
        element = take(sorted_sequence, at) if one_row else sorted_sequence.gather(-1, at)
        stays = element > values if right else element >= values
        place = _F.where(_F.logical_or(stays, ahead > size), place, ahead)
        step >>= 1
    return place.to(_C.int32) if out_int32 else place


def bucketize(input, boundaries, *, out_int32=False, right=False):
    """searchsorted(boundaries, input)."""
    if boundaries.dim() != 1:
        raise RuntimeError(f"bucketize: expected 1-d boundaries, got shape {list(boundaries.shape)}")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each element is among the test elements, as a bool tensor."""
    if not _is_tensor(elements):
        elements = _F.full([], elements, dtype=test_elements.dtype, device=test_elements.device)
    if not _is_tensor(test_elements):
        return elements != test_elements if invert else elements == test_elements
    tests = test_elements.reshape(-1)
    if tests.numel() == 0:
        return _F.full(elements.shape, invert, dtype=_C.bool, device=elements.device)
    dtype = _C.promote_types(elements.dtype, tests.dtype)
    elements, tests = elements.to(dtype), tests.to(dtype)
    tests = tests.index_select(0, _F.argsort(tests))
    found = take(tests, searchsorted(tests, elements).clamp(max=tests.numel() - 1)) == elements
    return _F.logical_not(found) if invert else found


# ---- counting
def bincount(input, weights=None, minlength=0):
    """How often each integer from 0 on stands in the 1-d input, or the sums of its weights; at least `minlength` entries."""
    _refuse_in_compiled_function(input, "bincount")
    if input.dim() != 1 or input.is_floating_point() or minlength < 0:
        raise RuntimeError(f"bincount: expected a vector of integers and minlength >= 0, got {input.dtype} of shape "
                           f"{list(input.shape)} and {minlength}")
    low, high = (int(input.amin().item()), int(input.amax().item())) if input.numel() else (0, -1)
    if low < 0:
        raise RuntimeError(f"bincount: integers must not be negative, got {low}")
    if weights is None:
        weights = _F.ones(input.shape, dtype=_C.int64, device=input.device)
    elif weights.dtype is not _C.float32:
        weights = weights.to(_C.float64)
    size = max(high + 1, minlength)
    return _F.zeros([size], dtype=weights.dtype, device=input.device).index_add(0, input, weights)


def _runs(values):
    """Places where a new element begins in a vector whose equal elements are neighbours."""
    n = values.numel()
    first = _F.full([min(n, 1)], True, dtype=_C.bool, device=values.device)
    return _C._nonzero(_F.cat([first, values.slice(0, 1, n) != values.slice(0, 0, max(n - 1, 0))]), "unique").view(-1)


def _groups(values, return_inverse, return_counts):
    """Of such a vector: the elements, and if wanted each one's group and the groups' sizes."""
    starts, n = _runs(values), values.numel()
    inverse = searchsorted(starts, _F.arange(n, device=values.device), right=True) - 1 if return_inverse else None
    ends = _F.cat([starts.slice(0, 1, n), _F.full([min(n, 1)], n, dtype=_C.int64, device=values.device)])
    return values.index_select(0, starts), inverse, ends - starts if return_counts else None


def _given(unique, inverse, counts):
    out = tuple(part for part in (unique, inverse, counts) if part is not None)
    return out if len(out) > 1 else out[0]


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The elements in ascending order, each once (the slices along dim, by their elements in turn, which the host
    compares); if wanted for each element its place among them, and how often each stands. Every NaN counts as another."""
    _refuse_in_compiled_function(input, "unique")
    if dim is not None:
        return _unique_slices(input, dim, return_inverse, return_counts)
    flat = input.reshape(-1)
    order = _F.argsort(flat)
    values, groups, counts = _groups(flat.index_select(0, order), return_inverse, return_counts)
    if groups is not None:
        groups = _F.scatter(_F.zeros(flat.shape, dtype=_C.int64, device=flat.device), 0, order, groups).view(input.shape)
    return _given(values, groups, counts)


def _rows(input, dim):
    """The slices along dim as rows of a NumPy array."""
    import numpy

    values = (input.to(_C.float32) if input.dtype is _C.bfloat16 else input).detach().cpu().numpy()
    return numpy.moveaxis(values, dim, 0).reshape(values.shape[dim], -1)


def _on_device(numbers, device):
    import numpy

    return _C._copy_of_array(numpy.ascontiguousarray(numbers.reshape(-1), dtype=numpy.int64), device)


def _unique_slices(input, dim, return_inverse, return_counts):
    import numpy

    dim = _wrap_dim(dim, input.dim(), "unique")
    _, *found = numpy.unique(_rows(input, dim), axis=0, return_index=True, return_inverse=True, return_counts=True)
    first, inverse, counts = (_on_device(a, input.device) for a in found)
    return _given(input.index_select(dim, first), inverse if return_inverse else None, counts if return_counts else None)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """Runs of equal elements of the flattened tensor (of slices along dim, which the host compares), each once; if wanted
    each element's run, and the runs' lengths."""
    _refuse_in_compiled_function(input, "unique_consecutive")
    if dim is not None:
        import numpy

        dim = _wrap_dim(dim, input.dim(), "unique_consecutive")
        rows = _rows(input, dim)
        starts = numpy.flatnonzero(numpy.append([True] * min(len(rows), 1), (rows[1:] != rows[:-1]).any(1)))
        runs = numpy.searchsorted(starts, numpy.arange(len(rows)), "right") - 1
        first, runs, lengths = (_on_device(a, input.device) for a in (starts, runs, numpy.diff(numpy.append(starts, len(rows)))))
        return _given(input.index_select(dim, first), runs if return_inverse else None, lengths if return_counts else None)
    values, groups, counts = _groups(input.reshape(-1), return_inverse, return_counts)
    return _given(values, groups if groups is None else groups.view(input.shape), counts)


METHODS = ("argwhere bincount gather put put_ index_add index_add_ index_fill index_fill_ index_put index_put_ index_reduce isin masked_scatter "
           "masked_scatter_ masked_select nonzero scatter scatter_ scatter_reduce scatter_reduce_ take take_along_dim unique "
           "unique_consecutive").split()

__all__ = [name for name, value in list(globals().items()) if callable(value) and getattr(value, "__module__", "") == __name__
           and not name.startswith("_") and not name.endswith("_")]
