"""Layers with parameters, and those that change shapes."""

from __future__ import annotations

import math

from ..making import empty, ones, randn, zeros
from ..grad_mode import no_grad
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


class Linear(Module):
    """x (…, in_features) -> (…, out_features): x @ weight.T + bias.

    weight (out_features, in_features) and bias (out_features), of the default floating dtype unless dtype says
    otherwise, start uniform in ±1/sqrt(in_features). RuntimeError where x has another last size or dtype."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws new initial values: weight and bias uniform in ±1/sqrt(in_features)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Conv2d(Module):
    """Cross-correlation: x (N, in_channels, H, W) -> (N, out_channels, H', W') with
    H' = floor((H + 2 padding - kernel) / stride) + 1, W' likewise; also without N. padding may be 'valid' or 'same'.

    kernel_size, stride and padding are a number or a pair (height, width). weight (out_channels, in_channels,
    kernel height, kernel width) and bias (out_channels) start uniform in ±1/sqrt(in_channels · kernel area).
    RuntimeError for other shapes or dtypes; NotImplementedError for dilation or groups."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 device=None, dtype=None):
        super().__init__()
        if _pair(dilation) != (1, 1) or groups != 1:
            raise NotImplementedError("Conv2d: only dilation=1 and groups=1")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding = padding if isinstance(padding, str) else _pair(padding)
        pads = () if isinstance(padding, str) else self.padding
        if min(in_channels, out_channels, *self.kernel_size, *self.stride) <= 0 or min(pads, default=0) < 0:
            raise ValueError("Conv2d: channels, kernel and stride must be positive and padding not negative, got "
                             f"{in_channels} and {out_channels}, {self.kernel_size}, {self.stride} and {self.padding}")
        self.weight = Parameter(empty(out_channels, in_channels, *self.kernel_size, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_channels, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws new initial values: weight and bias uniform in ±1/sqrt(in_channels KH KW)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_channels * self.kernel_size[0] * self.kernel_size[1])
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return F.conv2d(input, self.weight, self.bias, self.stride, self.padding)

    def extra_repr(self):
        return (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
                + (f", padding={self.padding!r}" if self.padding != (0, 0) else "")
                + ("" if self.bias is not None else ", bias=False"))


class MaxPool2d(Module):
    """The largest element of each window of (N, C, H, W); see functional.max_pool2d."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(self, input):
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class Embedding(Module):
    """Integers (…) -> rows of weight (num_embeddings, embedding_dim): (…, embedding_dim).

    weight starts normal, of mean 0 and variance 1; the row padding_idx starts as 0 and gets no gradient.
    IndexError for an index outside [0, num_embeddings)."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and padding_idx < 0:
            padding_idx += num_embeddings
        self.padding_idx = padding_idx
        self.weight = Parameter(randn(num_embeddings, embedding_dim, dtype=dtype, device=device))
        if padding_idx is not None:
            with no_grad():
                self.weight[padding_idx].zero_()

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self):
        pad = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{pad}"


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the trailing dimensions normalized_shape (Ba et al. 2016).

    x (…, *normalized_shape) to the same; weight and bias have shape normalized_shape and start as 1 and 0.
    RuntimeError where x does not end in normalized_shape."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", None)
        self.register_parameter("bias", None)
        if elementwise_affine:
            self.weight = Parameter(ones(self.normalized_shape, dtype=dtype, device=device))
            if bias:
                self.bias = Parameter(zeros(self.normalized_shape, dtype=dtype, device=device))

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


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
