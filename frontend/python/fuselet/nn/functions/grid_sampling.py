"""Images and volumes sampled at a grid of places."""

from __future__ import annotations

import itertools

from ... import _C
from .resampling import _keys

_F = _C.functions


def affine_grid(theta, size, align_corners=False):
    """theta (N, 2, 3) and a size (N, C, H, W) -> (N, H, W, 2): theta @ (x, y, 1) for the places of a plane in [-1, 1]²; or theta
    (N, 3, 4) and (N, C, D, H, W) -> (N, D, H, W, 3)."""
    n, spatial = size[0], list(size[2:])
    rank = len(spatial)
    if rank not in (2, 3) or tuple(theta.shape) != (n, rank, rank + 1):
        raise RuntimeError(f"affine_grid: theta of shape {list(theta.shape)} for the size {list(size)}")

    def line(axis):
        count = spatial[axis]
        at = _F.arange(count, dtype=theta.dtype, device=theta.device)
        if align_corners:
            at = at * (2 / (count - 1)) - 1 if count > 1 else at
        else:
            at = (2 * at + 1) / count - 1
        return at.view([-1 if d == axis else 1 for d in range(rank)]).expand(spatial)

    places = [line(axis) for axis in reversed(range(rank))] + [_F.ones(spatial, dtype=theta.dtype, device=theta.device)]
    flat = _F.stack(places, -1).view(1, -1, rank + 1)
    return _F.matmul(flat, theta.transpose(1, 2)).view([n, *spatial, rank])


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """input (N, C, H, W) at the places (x, y) of grid (N, OH, OW, 2), where -1 and 1 are the edges of the plane (with
    align_corners the centres of its outer elements): (N, C, OH, OW); or volumes (N, C, D, H, W) at (x, y, z).

    mode 'bilinear', 'nearest', or, of planes, 'bicubic'; padding_mode 'zeros', 'border' or 'reflection' says what lies
    outside."""
    rank = input.dim() - 2
    if padding_mode not in ("zeros", "border", "reflection") or mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"grid_sample: mode {mode!r} and padding_mode {padding_mode!r}")
    if rank not in (2, 3) or grid.dim() != rank + 2 or grid.size(-1) != rank or grid.size(0) != input.size(0) or (
            mode == "bicubic" and rank == 3):
        raise RuntimeError(f"grid_sample: mode {mode!r} of input {list(input.shape)} at a grid {list(grid.shape)}")
    sizes = input.shape[2:]
    at = [_unscaled(grid.select(-1, rank - 1 - axis), sizes[axis], align_corners) for axis in range(rank)]

    def inside(places, axis):
        return _inside(places, sizes[axis], padding_mode, align_corners)

    if mode != "bicubic":
        at = [inside(places, axis) for axis, places in enumerate(at)]
    if mode == "nearest":
        return _picked(input, [places.detach().round() for places in at])
    taps = []
    for axis, places in enumerate(at):
        low = places.detach().floor()
        part = places - low
        if mode == "bicubic":
            taps.append([(inside(low + k, axis), _keys((part - k).abs())) for k in (-1, 0, 1, 2)])
        else:
            taps.append([(low, 1 - part), (low + 1, part)])
    out = None
    for choice in itertools.product(*taps):
        weight = choice[0][1]
        for _, other in choice[1:]:
            weight = weight * other
        part = _picked(input, [place for place, _ in choice]) * weight.unsqueeze(1)
        out = part if out is None else out + part
    return out


def _unscaled(at, size, align_corners):
    return (at + 1) * ((size - 1) / 2) if align_corners else ((at + 1) * size - 1) / 2


def _inside(at, size, padding_mode, align_corners):
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        if span == 0:
            return at * 0
        # The distance from the lower edge, folded at both edges.
        away = (at - low).abs()
        turns = (away.detach() / span).floor()
        rest = away - turns * span
        odd = turns - 2 * (turns * 0.5).floor() == 1
        at = _F.where(odd, span - rest, rest) + low
    return at if padding_mode == "zeros" else at.clamp(0, size - 1)


def _picked(input, places):
    """input's elements at whole places (N, …), one tensor a dimension, 0 outside: (N, C, …)."""
    inside, flat = None, None
    for at, size in zip(places, input.shape[2:]):
        within = _F.logical_and(at >= 0, at < size)
        inside = within if inside is None else _F.logical_and(inside, within)
        entry = at.detach().clamp(0, size - 1).to(_C.int64)
        flat = entry if flat is None else flat * size + entry
    n, channels = input.shape[:2]
    picked = input.flatten(2).gather(2, flat.view(n, 1, -1).expand(n, channels, flat[0].numel()))
    return _F.where(inside.unsqueeze(1), picked.view(n, channels, *flat.shape[1:]), 0)
