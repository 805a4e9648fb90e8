"""Initial values, written in place without recording."""

from __future__ import annotations

import math

from ..grad_mode import no_grad


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance through an activation."""
    if nonlinearity == "tanh":
        return 5 / 3
    if nonlinearity == "relu":
        return math.sqrt(2)
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    return 1.0


def _fans(tensor):
    if tensor.dim() < 2:
        raise ValueError(f"fan in and fan out need at least two dimensions, got shape {list(tensor.shape)}")
    area = tensor.numel() // max(tensor.size(0) * tensor.size(1), 1)
    return tensor.size(1) * area, tensor.size(0) * area


@no_grad
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform numbers of [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal numbers."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad
def constant_(tensor, val):
    """One number everywhere."""
    return tensor.fill_(val)


def zeros_(tensor):
    """0 everywhere."""
    return constant_(tensor, 0.0)


def ones_(tensor):
    """1 everywhere."""
    return constant_(tensor, 1.0)


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform with variance 2 gain² / (fan in + fan out) (Glorot and Bengio 2010)."""
    bound = gain * math.sqrt(6 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal with variance 2 gain² / (fan in + fan out) (Glorot and Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(_fans(tensor))), generator)


def kaiming_uniform_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform with variance gain² / fan (He et al. 2015)."""
    fan = _fans(tensor)[0 if mode == "fan_in" else 1]
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / fan) if fan else 0.0
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal with variance gain² / fan (He et al. 2015)."""
    fan = _fans(tensor)[0 if mode == "fan_in" else 1]
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(fan), generator)
