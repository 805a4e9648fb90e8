"""Counts of elements by bins of equal width; a method too."""

from __future__ import annotations

import math

from . import _C
from .composed import _wide

_F = _C.functions


def histc(input, bins=100, min=0, max=0):
    """(bins): how many elements lie in each of `bins` parts of [min, max] of equal width, in input's dtype.

    A part has its lower bound and not its upper one, except the last, which has both; what lies outside, NaN too, is not
    counted. Floating. Where min and max are equal, they are the smallest and largest element, which the host reads; and
    where these are equal too, one less and one more. RuntimeError for other dtypes, no bins, min above max, or a range that
    is not finite; NotImplementedError in a compiled function without min and max."""
    if not input.is_floating_point():
        raise RuntimeError(f"histc: input must be floating, got {input.dtype}")
    if bins <= 0 or min > max:
        raise RuntimeError(f"histc: expected bins > 0 and min <= max, got {bins}, {min} and {max}")
    values = _wide(input.detach()).reshape(-1)
    if min == max and values.numel():
        if _C._is_inside_compiled_function():
            raise NotImplementedError("histc: without min and max the host reads the range, which a compiled function cannot do; give both")
        min, max = values.amin().item(), values.amax().item()
    if min == max:
        min, max = min - 1, max + 1
    if not (math.isfinite(min) and math.isfinite(max)):
        raise RuntimeError(f"histc: the range [{min}, {max}] is not finite")
    inside = _F.logical_and(values >= min, values <= max)
    at = _F.where(inside, (values - min) * bins / (max - min), 0.0).to(_C.int64).clamp(max=bins - 1)
    counts = _F.zeros([bins], dtype=_C.int64, device=input.device).index_add(0, at, inside.to(_C.int64))
    return counts.to(input.dtype)


METHODS = ["histc"]

__all__ = METHODS
