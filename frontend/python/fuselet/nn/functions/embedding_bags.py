"""Sums, means and maxima of bags of embeddings.

V rows of weight, D numbers a row; N indices in B bags. A bag is a row of a matrix of indices, or a stretch of a vector of
them from its offset to the next. Sums of 16-bit numbers are float32.
"""

from __future__ import annotations

import math

from ... import _C
from ...composed import _narrow, _wide
from ...selecting import scatter_reduce, searchsorted

_F = _C.functions

MODES = ("sum", "mean", "max")


def _check(input, weight, offsets, mode, per_sample_weights, include_last_offset):
    if mode not in MODES:
        raise ValueError(f"embedding_bag: mode must be 'sum', 'mean' or 'max', got {mode!r}")
    if input.is_floating_point() or weight.dim() != 2:
        raise RuntimeError(f"embedding_bag: expected integer indices and weight (V, D), got {input.dtype} and shape {list(weight.shape)}")
    if input.dim() not in (1, 2) or (input.dim() == 1) != (offsets is not None):
        raise ValueError(f"embedding_bag: expected indices (B, L), or (N) with offsets (B), got indices of shape {list(input.shape)} and "
                         f"{'no offsets' if offsets is None else f'offsets of shape {list(offsets.shape)}'}")
    if per_sample_weights is not None and (mode != "sum" or tuple(per_sample_weights.shape) != tuple(input.shape)):
        raise ValueError(f"embedding_bag: per_sample_weights need mode 'sum' and the shape {list(input.shape)} of the indices, got mode "
                         f"{mode!r} and shape {list(per_sample_weights.shape)}")
    if offsets is None:
        return
    if offsets.dim() != 1 or (include_last_offset and offsets.numel() == 0):
        raise ValueError(f"embedding_bag: expected a vector of offsets{', one at least' if include_last_offset else ''}, got shape "
                         f"{list(offsets.shape)}")
    if not _C._is_inside_compiled_function() and offsets.numel():
        values = offsets.tolist()
        if values[0] != 0 or values != sorted(values) or values[-1] > input.numel():
            raise ValueError(f"embedding_bag: offsets must ascend from 0 to at most the number {input.numel()} of indices, got {values}")


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """(B, D): the sum, mean or elementwise maximum of the rows of weight (V, D) that each bag names; 0 for an empty bag.

    input: integers (B, L); or (N), where bag i begins at offsets[i] and ends where the next one begins, or input. Negative
    indices, padding_idx too, count from the end. With include_last_offset the last offset is an end alone. Rows padding_idx
    count for nothing, in the mean's divisor too.
    per_sample_weights, of input's shape, multiply the rows of a sum. Equal maxima share the gradient. ValueError for
    arguments that do not fit, IndexError for an index out of range, NotImplementedError for max_norm, scale_grad_by_freq
    and sparse. In a compiled function offsets are not checked."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotImplementedError("embedding_bag: max_norm, scale_grad_by_freq and sparse are not supported")
    _check(input, weight, offsets, mode, per_sample_weights, include_last_offset)
    if padding_idx is not None and not -weight.size(0) <= padding_idx < weight.size(0):
        raise RuntimeError(f"embedding_bag: padding_idx {padding_idx} is out of range for {weight.size(0)} rows")
    # Both may count from the end. The rows may be more than the dtype of the indices can count.
    counts = None if padding_idx is None else input.to(_C.int64) % weight.size(0) != padding_idx % weight.size(0)
    rows = _wide(_F.embedding(weight, input))
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.to(rows.dtype).unsqueeze(-1)
    if mode != "max" and counts is not None:
        rows = _F.where(counts.unsqueeze(-1), rows, 0.0)
    if offsets is None:
        return _narrow(_rows_together(rows, counts, mode), weight)
    return _narrow(_stretches_together(rows, counts, offsets, mode, include_last_offset), weight)


def _rows_together(rows, counts, mode):
    """rows (B, L, D), of which counts (B, L) says which count -> (B, D)."""
    if mode == "max":
        if rows.size(1) == 0:
            return rows.sum(1)
        if counts is None:
            return rows.amax(1)
        most = _F.where(counts.unsqueeze(-1), rows, -math.inf).amax(1)
        return _F.where(counts.any(1, True), most, 0.0)
    total = rows.sum(1)
    if mode == "sum":
        return total
    size = rows.size(1) if counts is None else counts.sum([1], True)
    return total / (max(size, 1) if counts is None else size.clamp(min=1).to(total.dtype))


def _stretches_together(rows, counts, offsets, mode, include_last_offset):
    """rows (N, D), of which counts (N) says which count -> (B, D)."""
    places = _F.arange(rows.size(0), device=rows.device)
    bag = searchsorted(offsets.to(_C.int64), places, right=True) - 1
    bags = offsets.numel()
    if bags == 0:
        return rows.narrow(0, 0, 0)
    # What does not count goes to a bag of its own, behind the others.
    if mode == "max" and counts is not None:
        bag = _F.where(counts, bag, bags)
    wanted = bags - 1 if include_last_offset else bags
    empty = _F.zeros([bags + 1, rows.size(1)], dtype=rows.dtype, device=rows.device)
    if mode == "max":
        at = bag.unsqueeze(1).expand(rows.shape)
        return scatter_reduce(empty, 0, at, rows, "amax", include_self=False).narrow(0, 0, wanted)
    total = empty.index_add(0, bag, rows).narrow(0, 0, wanted)
    if mode == "sum":
        return total
    ones = _F.ones(bag.shape, dtype=_C.int64, device=rows.device) if counts is None else counts.to(_C.int64)
    sizes = _F.zeros([bags + 1], dtype=_C.int64, device=rows.device).index_add(0, bag, ones).narrow(0, 0, wanted)
    return total / sizes.clamp(min=1).to(total.dtype).unsqueeze(1)


__all__ = ["embedding_bag"]
