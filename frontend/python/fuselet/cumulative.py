"""The largest and smallest elements so far along a dimension, with their places; both are methods too.

A scan by doubling: after step k every place knows the extremum of the 2^k elements that end there, so that lines of N
elements take log2(N) steps of plain operators, and values come by one gather, through which gradients flow.
"""

from __future__ import annotations

from . import _C
from .composed import ValuesIndices, _wrap_dim

_F = _C.functions


def _wins(earlier, later, beats):
    """Where the earlier element stays: it is farther out, or NaN and the later one a number. The later one wins a tie."""
    stays = beats(earlier, later)
    if not earlier.is_floating_point():
        return stays
    return _F.logical_or(stays, _F.logical_and(_F.isnan(earlier), _F.logical_not(_F.isnan(later))))


def _extremum_so_far(input, dim, name, beats):
    dim = _wrap_dim(dim, input.dim(), name)
    if input.dim() == 0:
        return ValuesIndices((input.clone(), _F.zeros([], dtype=_C.int64, device=input.device)))
    size = input.size(dim)
    best = input.detach()
    at = _F.arange(size, device=input.device).view([-1 if d == dim else 1 for d in range(input.dim())]).expand(input.shape)
    step = 1
    while step < size:
        reach = size - step
        stays = _wins(best.narrow(dim, 0, reach), best.narrow(dim, step, reach), beats)
        best, at = (_F.cat([t.narrow(dim, 0, step), _F.where(stays, t.narrow(dim, 0, reach), t.narrow(dim, step, reach))], dim)
                    for t in (best, at))
        step *= 2
    return ValuesIndices((input.gather(dim, at), at.contiguous()))


def cummax(input, dim):
    """(values, indices): the largest of the elements up to each place along dim, and where it is: of equal ones the last.
    A NaN is largest. All gradient goes to the index. IndexError for a dimension out of range."""
    return _extremum_so_far(input, dim, "cummax", _F.gt)


def cummin(input, dim):
    """(values, indices): the smallest of the elements up to each place along dim, and where it is: of equal ones the last.
    A NaN is smallest. All gradient goes to the index. IndexError for a dimension out of range."""
    return _extremum_so_far(input, dim, "cummin", _F.lt)


METHODS = ["cummax", "cummin"]

__all__ = METHODS
