"""Pooling layers over functional: windows, and windows that fit a wanted output size."""

from __future__ import annotations

from . import functional as F
from .module import Module


class _MaxPool(Module):
    name = ""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.padding, self.dilation = kernel_size, padding, dilation
        self.stride = kernel_size if stride is None else stride
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input):
        return getattr(F, self.name)(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
                                     self.return_indices)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool1d(_MaxPool):
    """The largest element of each window of (N, C, L); see functional.max_pool1d."""

    name = "max_pool1d"


class MaxPool2d(_MaxPool):
    """The largest element of each window of (N, C, H, W); see functional.max_pool2d."""

    name = "max_pool2d"


class MaxPool3d(_MaxPool):
    """The largest element of each window of (N, C, D, H, W); see functional.max_pool3d."""

    name = "max_pool3d"


class _MaxUnpool(Module):
    name = ""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(self, input, indices, output_size=None):
        return getattr(F, self.name)(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The values of MaxPool1d at the places it gives with return_indices, 0 elsewhere; see functional.max_unpool1d."""

    name = "max_unpool1d"


class MaxUnpool2d(_MaxUnpool):
    """The values of MaxPool2d at the places it gives with return_indices, 0 elsewhere; see functional.max_unpool2d."""

    name = "max_unpool2d"


class MaxUnpool3d(_MaxUnpool):
    """The values of MaxPool3d at the places it gives with return_indices, 0 elsewhere; see functional.max_unpool3d."""

    name = "max_unpool3d"


class AvgPool1d(Module):
    """The mean of each window of (N, C, L); see functional.avg_pool1d."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(AvgPool1d):
    """The mean of each window of (N, C, H, W); see functional.avg_pool2d."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def forward(self, input):
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
                            self.divisor_override)


class AvgPool3d(AvgPool2d):
    """The mean of each window of (N, C, D, H, W); see functional.avg_pool3d."""

    def forward(self, input):
        return F.avg_pool3d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
                            self.divisor_override)


class _Adaptive(Module):
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """(N, C, L) -> (N, C, output_size): means of windows that cover L."""

    def forward(self, input):
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """(N, C, H, W) -> (N, C, *output_size): means of windows that cover the image; None keeps a size."""

    def forward(self, input):
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """(N, C, D, H, W) -> (N, C, *output_size): means of windows that cover the volume; None keeps a size."""

    def forward(self, input):
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMax(_Adaptive):
    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMax):
    """(N, C, L) -> (N, C, output_size): the largest elements of windows that cover L."""

    def forward(self, input):
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """(N, C, H, W) -> (N, C, *output_size): the largest elements of windows that cover the image."""

    def forward(self, input):
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """(N, C, D, H, W) -> (N, C, *output_size): the largest elements of windows that cover the volume."""

    def forward(self, input):
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)
