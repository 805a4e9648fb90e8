"""Images in other sizes: interpolation and pixel shuffles."""

from __future__ import annotations

import math

from ... import _C, composed
from .pooling import _adaptive_avg_pool

_F = _C.functions


# ---- interpolate
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """input (N, C, spatial…) in another spatial size: `size`, or floor(sizes × scale_factor).

    mode 'nearest', 'nearest-exact' and 'area' (adaptive_avg_pool) for one to three dimensions, 'linear' for one, 'bilinear' and
    'bicubic' (Keys 1981, a = -0.75) for two, 'trilinear' for three. Output i takes place (i + 0.5) / scale -
    0.5, or with align_corners i (in - 1) / (out - 1). The scale is scale_factor where it was given, unless
    recompute_scale_factor, else out / in. 16-bit numbers are weighed in float32."""
    spatial = input.dim() - 2
    ranks = {"nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "area": (1, 2, 3), "linear": (1,), "bilinear": (2,),
             "trilinear": (3,), "bicubic": (2,)}
    if mode not in ranks or spatial not in ranks[mode]:
        raise NotImplementedError(f"interpolate: mode {mode!r} for input of shape {list(input.shape)}")
    if antialias:
        raise NotImplementedError("interpolate: antialias=True")
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(f"interpolate: align_corners means nothing for mode {mode!r}")
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: expected either size or scale_factor")
    sizes, scales = _target(input.shape[2:], size, scale_factor)
    if recompute_scale_factor:
        scales = [None] * spatial
    if mode == "area":
        return _adaptive_avg_pool(input, spatial, sizes, "interpolate")
    if mode.startswith("nearest"):
        for dim, (out, scale) in enumerate(zip(sizes, scales), 2):
            input = input.index_select(dim, _nearest(input.size(dim), out, scale, mode == "nearest-exact", input.device))
        return input
    wide = composed._wide(input)
    for dim, (out, scale) in enumerate(zip(sizes, scales), 2):
        at = _places(input.size(dim), out, scale, bool(align_corners), input.device)
        wide = _weighed(wide, dim, at, *(_cubic if mode == "bicubic" else _linear)(at, input.size(dim)))
    return composed._narrow(wide, input)


def _target(sizes, size, scale_factor):
    n = len(sizes)
    given = size if scale_factor is None else scale_factor
    given = list(given) if isinstance(given, (tuple, list)) else [given] * n
    if len(given) != n:
        raise ValueError(f"interpolate: expected one number or {n}, got {given}")
    if scale_factor is None:
        made, scales = [int(g) for g in given], [None] * n
    else:
        made, scales = [math.floor(s * g) for s, g in zip(sizes, given)], given
    if min(made) <= 0 or min(sizes) <= 0:
        raise RuntimeError(f"interpolate: sizes must be positive, got {list(sizes)} and {made}")
    return made, scales


def _step(size, out, scale):
    return size / out if scale is None else 1 / scale


def _nearest(size, out, scale, exact, device):
    """The entry of each output, floor(i size / out) in whole numbers."""
    at = _F.arange(out, device=device)
    if scale is None:
        return (at * 2 + 1) * size // (2 * out) if exact else at * size // out
    at = at.to(_C.float64)
    return ((at + 0.5 if exact else at) / scale).floor().clamp(max=size - 1).to(_C.int64)


def _places(size, out, scale, align_corners, device):
    """Where the outputs stand among `size` entries, as float64."""
    at = _F.arange(out, dtype=_C.float64, device=device)
    if align_corners:
        return at * ((size - 1) / (out - 1) if out > 1 else 0.0)
    return (at + 0.5) * _step(size, out, scale) - 0.5


def _linear(at, size):
    """Neighbours of each place and their weights."""
    at = at.clamp(min=0)
    low = at.floor()
    part = at - low
    return [(low, 1 - part), (low + 1, part)], size


def _cubic(at, size):
    low = at.floor()
    part = at - low
    return [(low + k, _keys((part - k).abs())) for k in (-1, 0, 1, 2)], size


def _keys(x, a=-0.75):
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return _F.where(x <= 1, near, far)


def _weighed(x, dim, at, neighbours, size):
    shape = [1] * x.dim()
    shape[dim] = at.numel()
    out = None
    for place, weight in neighbours:
        part = x.index_select(dim, place.clamp(0, size - 1).to(_C.int64)) * weight.to(x.dtype).view(shape)
        out = part if out is None else out + part
    return out


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """interpolate()."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate() of mode 'nearest'."""
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate() of mode 'bilinear' with align_corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)


# ---- pixel shuffles
def pixel_shuffle(input, upscale_factor):
    """(…, C r², H, W) -> (…, C, H r, W r): channels dealt out over blocks of r × r (Shi et al. 2016)."""
    r, (channels, height, width) = upscale_factor, input.shape[-3:]
    many = math.prod(input.shape[:-3])
    if channels % (r * r):
        raise RuntimeError(f"pixel_shuffle: {channels} channels do not divide by {r * r}")
    x = input.reshape(many, channels // (r * r), r, r, height, width).permute(0, 1, 4, 2, 5, 3)
    return x.reshape(list(input.shape[:-3]) + [channels // (r * r), height * r, width * r])


def pixel_unshuffle(input, downscale_factor):
    """(…, C, H r, W r) -> (…, C r², H, W): the inverse of pixel_shuffle."""
    r, (channels, height, width) = downscale_factor, input.shape[-3:]
    many = math.prod(input.shape[:-3])
    if height % r or width % r:
        raise RuntimeError(f"pixel_unshuffle: {height} by {width} does not divide by {r}")
    x = input.reshape(many, channels, height // r, r, width // r, r).permute(0, 1, 3, 5, 2, 4)
    return x.reshape(list(input.shape[:-3]) + [channels * r * r, height // r, width // r])


def channel_shuffle(input, groups):
    """(N, C, …) with the channels of `groups` groups dealt out in turn."""
    shape = list(input.shape)
    if shape[1] % groups:
        raise RuntimeError(f"channel_shuffle: {shape[1]} channels do not fall into {groups} groups")
    return input.reshape([shape[0], groups, shape[1] // groups] + shape[2:]).transpose(1, 2).reshape(shape)
