"""Convolutions and their transposes.

weight and bias start uniform in ±1/sqrt(fan in), fan in being the channels of a group times the kernel's elements.
Sizes are a number or one a spatial dimension.
"""

from __future__ import annotations

import math

from ..making import empty
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def _sizes(value, count):
    return (value,) * count if isinstance(value, int) else tuple(value)


class _ConvNd(Module):
    spatial = 1
    transposed = False

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
                 dtype, output_padding=0):
        super().__init__()
        name, n = type(self).__name__, self.spatial
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = _sizes(kernel_size, n), _sizes(stride, n), _sizes(dilation, n)
        self.padding = padding if isinstance(padding, str) else _sizes(padding, n)
        self.output_padding, self.padding_mode = _sizes(output_padding, n), padding_mode
        pads = () if isinstance(padding, str) else self.padding
        if min(in_channels, out_channels, groups, *self.kernel_size, *self.stride, *self.dilation) <= 0 or min(pads, default=0) < 0:
            raise ValueError(f"{name}: channels, kernel, stride, dilation and groups must be positive and padding not negative, got "
                             f"{in_channels} and {out_channels}, {self.kernel_size}, {self.stride}, {self.dilation}, {groups} and "
                             f"{self.padding}")
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{name}: groups ({groups}) must divide in_channels ({in_channels}) and out_channels ({out_channels})")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"{name}: padding must be 'valid', 'same' or numbers, got {padding!r}")
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError(f"{name}: padding='same' needs stride 1, got {self.stride}")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular") or self.transposed and padding_mode != "zeros":
            raise ValueError(f"{name}: no padding_mode {padding_mode!r}")
        outer, inner = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = Parameter(empty(outer, inner // groups, *self.kernel_size, dtype=dtype, device=device))
        self.register_parameter("bias", Parameter(empty(out_channels, dtype=dtype, device=device)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws new initial values: weight and bias uniform in ±1/sqrt(weight.size(1) times the elements of a window)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.weight.size(1) * math.prod(self.kernel_size))
            init.uniform_(self.bias, -bound, bound)

    def _edges(self):
        """What F.pad adds before the convolution where the edge is not made of zeros."""
        if self.padding == "valid":
            return [0] * 2 * self.spatial
        if self.padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            sides = [(total // 2, total - total // 2) for total in totals]
        else:
            sides = [(p, p) for p in self.padding]
        return [count for side in reversed(sides) for count in side]

    def forward(self, input):
        convolve = getattr(F, f"conv{self.spatial}d")
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._edges(), mode=self.padding_mode), (0,) * self.spatial
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self):
        ones, zeros = (1,) * self.spatial, (0,) * self.spatial
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        parts += [f"padding={self.padding!r}"] if self.padding != zeros else []
        parts += [f"dilation={self.dilation}"] if self.dilation != ones else []
        parts += [f"output_padding={self.output_padding}"] if self.output_padding != zeros else []
        parts += [f"groups={self.groups}"] if self.groups != 1 else []
        parts += ["bias=False"] if self.bias is None else []
        parts += [f"padding_mode={self.padding_mode}"] if self.padding_mode != "zeros" else []
        return ", ".join(parts)


class _Conv(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype)


class Conv1d(_Conv):
    """Cross-correlation of (N, in_channels, L) or (in_channels, L): out_channels and
    L' = floor((L + 2 padding - dilation (kernel - 1) - 1) / stride) + 1. As Conv2d."""


class Conv2d(_Conv):
    """Cross-correlation: x (N, in_channels, H, W) -> (N, out_channels, H', W') with
    H' = floor((H + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, W' likewise; also without N. padding may be 'valid' or
    'same'; padding_mode fills it with zeros, or by reflect, replicate, circular (see functional.pad).

    With groups, the channels fall into groups that see nothing of each other. weight (out_channels, in_channels / groups,
    kernel height, kernel width), bias (out_channels). ValueError for sizes that cannot be, RuntimeError for other shapes."""

    spatial = 2


class Conv3d(_Conv):
    """Cross-correlation of (N, in_channels, D, H, W); as Conv2d."""

    spatial = 3


class _ConvTranspose(_ConvNd):
    transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
                         dtype, output_padding)

    def forward(self, input, output_size=None):
        convolve = getattr(F, f"conv_transpose{self.spatial}d")
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        return convolve(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)

    def _extra(self, input, output_size):
        """The output padding that gives output_size."""
        wanted, have = list(output_size)[-self.spatial:], list(input.shape)[-self.spatial:]
        least = [(h - 1) * s - 2 * p + d * (k - 1) + 1
                 for h, s, p, d, k in zip(have, self.stride, self.padding, self.dilation, self.kernel_size)]
        if any(not 0 <= w - m < max(s, d) for w, m, s, d in zip(wanted, least, self.stride, self.dilation)):
            raise ValueError(f"{type(self).__name__}: output_size {wanted} is out of reach; the smallest is {least}, stride {self.stride}")
        return tuple(w - m for w, m in zip(wanted, least))


class ConvTranspose1d(_ConvTranspose):
    """The gradient of Conv1d by its input, as a layer; as ConvTranspose2d."""


class ConvTranspose2d(_ConvTranspose):
    """The gradient of Conv2d by its input, as a layer: (N, in_channels, H, W) -> (N, out_channels, H', W') with
    H' = (H - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1; weight (in_channels, out_channels / groups,
    kernel height, kernel width)."""

    spatial = 2


class ConvTranspose3d(_ConvTranspose):
    """The gradient of Conv3d by its input, as a layer; as ConvTranspose2d."""

    spatial = 3
