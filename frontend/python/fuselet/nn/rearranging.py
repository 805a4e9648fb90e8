"""Layers without parameters that change shapes: flattening, padding, resizing, moving channels into pixels."""

from __future__ import annotations

from . import functional as F
from .module import Module


class Flatten(Module):
    """Dimensions start_dim … end_dim as one."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Dimension `dim` as several."""

    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class _Pad(Module):
    spatial, mode = 1, "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = (padding,) * (2 * self.spatial) if isinstance(padding, int) else tuple(padding)
        if len(self.padding) != 2 * self.spatial:
            raise ValueError(f"{type(self).__name__}: expected {2 * self.spatial} counts, got {self.padding}")

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self):
        return f"{self.padding}"


class ConstantPad1d(_Pad):
    """`value` before and after the last dimension: padding is a number or (left, right)."""

    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    """`value` around the last two dimensions: padding is a number or (left, right, top, bottom)."""

    spatial = 2


class ZeroPad1d(_Pad):
    """Zeros before and after the last dimension."""


class ZeroPad2d(_Pad):
    """Zeros around the last two dimensions: padding is a number or (left, right, top, bottom)."""

    spatial = 2


class ReflectionPad1d(_Pad):
    """The elements mirrored at the edges of the last dimension."""

    mode = "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """The elements mirrored at the edges of the last two dimensions."""

    spatial = 2


class ReplicationPad1d(_Pad):
    """The outermost elements repeated beyond the last dimension."""

    mode = "replicate"


class ReplicationPad2d(ReplicationPad1d):
    """The outermost elements repeated beyond the last two dimensions."""

    spatial = 2


class CircularPad1d(_Pad):
    """The last dimension continued from its other end."""

    mode = "circular"


class CircularPad2d(CircularPad1d):
    """The last two dimensions continued from their other ends."""

    spatial = 2


class Upsample(Module):
    """(N, C, …) with another spatial size, or sizes times scale_factor; see functional.interpolate for the modes."""

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, align_corners

    def forward(self, input):
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)

    def extra_repr(self):
        given = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return f"{given}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample by the nearest element."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample bilinearly, the corners kept."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(Module):
    """(…, C r², H, W) -> (…, C, H r, W r) (Shi et al. 2016)."""

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self):
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(…, C, H r, W r) -> (…, C r², H, W)."""

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self):
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """(N, C, …): the channels of `groups` groups dealt out in turn."""

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return f"groups={self.groups}"


class Unfold(Module):
    """(N, C, H, W) -> (N, C kernel area, windows); see functional.unfold."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Module):
    """(N, C kernel area, windows) -> (N, C, *output_size), overlapping elements summed; see functional.fold."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input):
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return f"output_size={self.output_size}, kernel_size={self.kernel_size}"
