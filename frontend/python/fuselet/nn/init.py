"""Initial values, written in place without recording."""

from __future__ import annotations

import math
import warnings

from .. import _C
from ..grad_mode import no_grad

_F = _C.functions


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance through an activation; ValueError for an unknown one."""
    if nonlinearity in ("linear", "sigmoid", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
                        "conv_transpose3d"):
        return 1.0
    if nonlinearity == "tanh":
        return 5 / 3
    if nonlinearity == "relu":
        return math.sqrt(2)
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity == "selu":
        return 3 / 4
    raise ValueError(f"calculate_gain: no gain is known for {nonlinearity!r}")


def _fans(tensor):
    if tensor.dim() < 2:
        raise ValueError(f"fan in and fan out need at least two dimensions, got shape {list(tensor.shape)}")
    area = tensor.numel() // max(tensor.size(0) * tensor.size(1), 1)
    return tensor.size(1) * area, tensor.size(0) * area


def _fan(tensor, mode):
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode must be 'fan_in' or 'fan_out', got {mode!r}")
    return _fans(tensor)[0 if mode == "fan_in" else 1]


@no_grad
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform in [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal of the given mean and std, of values in [a, b] alone: the inverse of its distribution function at uniform numbers."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("trunc_normal_: the mean is more than two std beyond [a, b]", stacklevel=2)
    low, high = (math.erf((edge - mean) / std / math.sqrt(2)) for edge in (a, b))
    drawn = _F.rand(tensor.shape, dtype=_C.float64, device=tensor.device, generator=generator) * (high - low) + low
    values = _F.erfinv(drawn) * (std * math.sqrt(2)) + mean
    return tensor.copy_(values.clamp(a, b))


@no_grad
def constant_(tensor, val):
    """`val` everywhere."""
    return tensor.fill_(val)


def zeros_(tensor):
    """0 everywhere."""
    return constant_(tensor, 0.0)


def ones_(tensor):
    """1 everywhere."""
    return constant_(tensor, 1.0)


@no_grad
def eye_(tensor):
    """The identity of two dimensions, as far as the shape goes."""
    if tensor.dim() != 2:
        raise ValueError(f"eye_: expected two dimensions, got shape {list(tensor.shape)}")
    rows, columns = (_F.arange(n, device=tensor.device) for n in tensor.shape)
    return tensor.copy_((rows.unsqueeze(1) == columns.unsqueeze(0)).to(tensor.dtype))


@no_grad
def dirac_(tensor, groups=1):
    """A convolution that hands its input channels on: 1 in the middle of the kernel of each group's channel i and input i."""
    if tensor.dim() not in (3, 4, 5) or tensor.size(0) % groups:
        raise ValueError(f"dirac_: expected the weight of a convolution whose channels {groups} groups divide, got shape "
                         f"{list(tensor.shape)}")
    tensor.zero_()
    per_group = tensor.size(0) // groups
    for g in range(groups):
        for d in range(min(per_group, tensor.size(1))):
            tensor[(g * per_group + d, d, *(n // 2 for n in tensor.shape[2:]))] = 1
    return tensor


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform with variance 2 gain² / (fan in + fan out) (Glorot and Bengio 2010)."""
    bound = gain * math.sqrt(6 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal with variance 2 gain² / (fan in + fan out) (Glorot and Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(_fans(tensor))), generator)


def kaiming_uniform_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform with variance gain² / fan (He et al. 2015)."""
    fan = _fan(tensor, mode)
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / fan) if fan else 0.0
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal with variance gain² / fan (He et al. 2015)."""
    fan = _fan(tensor, mode)
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(fan), generator)


@no_grad
def orthogonal_(tensor, gain=1.0, generator=None):
    """gain times a (semi-)orthogonal matrix, dimensions after the first taken as one (Saxe et al. 2014)."""
    import numpy

    if tensor.dim() < 2:
        raise ValueError(f"orthogonal_: expected at least two dimensions, got shape {list(tensor.shape)}")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    drawn = _F.randn([rows, tensor.numel() // rows], dtype=_C.float64, device="cpu", generator=generator).numpy()
    wide = drawn.shape[0] < drawn.shape[1]
    q, r = numpy.linalg.qr(drawn.T if wide else drawn)
    q = q * numpy.sign(numpy.diag(r))  # without it the signs would not be uniform
    made = _C._copy_of_array(numpy.ascontiguousarray(q.T if wide else q), "cpu")
    return tensor.copy_((made * gain).view(tensor.shape))


@no_grad
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal, but in each column a fraction `sparsity` of the elements 0 (Martens 2010)."""
    if tensor.dim() != 2:
        raise ValueError(f"sparse_: expected two dimensions, got shape {list(tensor.shape)}")
    rows, columns = tensor.shape
    normal_(tensor, 0.0, std, generator)
    order = _F.rand([rows, columns], dtype=_C.float64, device="cpu", generator=generator).numpy().argsort(axis=0, kind="stable")
    rank = _C._copy_of_array(order.argsort(axis=0, kind="stable"), tensor.device)
    return tensor.copy_(tensor * (rank >= math.ceil(sparsity * rows)).to(tensor.dtype))
