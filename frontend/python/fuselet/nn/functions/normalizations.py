"""Normalizations as functions. Statistics of 16-bit inputs are float32; results have the input's dtype.

Variances are two-pass and biased. Shapes: N samples, C channels, … whatever follows.
"""

from __future__ import annotations

import math

from ... import _C, reductions
from ...composed import _narrow, _wide
from ...grad_mode import no_grad
from ...number_limits import finfo

_F = _C.functions


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(input - mean) / sqrt(var + eps) * weight + bias, mean and biased variance over the trailing dimensions
    normalized_shape (Ba et al. 2016).

    input (…, *normalized_shape), floating; weight and bias of shape normalized_shape. The statistics of 16-bit
    inputs are float32. RuntimeError where input does not end in normalized_shape."""
    return _F.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """input / sqrt(mean(input²) + eps) * weight, the mean over the trailing dimensions normalized_shape (Zhang and
    Sennrich 2019). eps defaults to the distance of 1 to the next number of the input's dtype. RuntimeError where input
    does not end in normalized_shape."""
    sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    if not sizes or list(input.shape[-len(sizes):]) != sizes or (weight is not None and list(weight.shape) != sizes):
        raise RuntimeError(f"rms_norm: input of shape {list(input.shape)} must end in normalized_shape {sizes}, which weight must "
                           f"have{'' if weight is None else f', got {list(weight.shape)}'}")
    values = _wide(input)
    eps = finfo(input.dtype).eps if eps is None else eps
    result = values * (values.square().mean(list(range(-len(sizes), 0)), True) + eps).rsqrt()
    return _narrow(result if weight is None else result * weight.to(result.dtype), input)


def _along_channels(values, input):
    """A tensor (C) so that it broadcasts over input (N, C, …)."""
    return values.reshape([-1] + [1] * (input.dim() - 2))


def _scaled(normalized, weight, bias):
    if weight is not None:
        normalized = normalized * _along_channels(weight, normalized).to(normalized.dtype)
    return normalized if bias is None else normalized + _along_channels(bias, normalized).to(normalized.dtype)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Each sample's channels in num_groups groups, each normalized by its own mean and variance (Wu and He 2018).

    input (N, C, …), floating; weight and bias (C). RuntimeError where num_groups does not divide C."""
    if input.dim() < 2 or num_groups < 1 or input.size(1) % num_groups:
        raise RuntimeError(f"group_norm: expected input (N, C, …) whose channels {num_groups} groups share evenly, got shape "
                           f"{list(input.shape)}")
    size = input.size(1) // num_groups * math.prod(input.shape[2:])
    groups = _wide(input).reshape([input.size(0), num_groups, size])
    return _narrow(_scaled(_F.layer_norm(groups, [size], None, None, eps).reshape(input.shape), weight, bias), input)


def _move(running, value, momentum):
    if running is not None:
        running.copy_(running * (1 - momentum) + value * momentum)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Each channel normalized over all samples and places (Ioffe and Szegedy 2015).

    input (N, C, …), floating; the others (C) or None. While training, by the batch's own mean and variance, towards which
    running_mean and running_var (unbiased) move by momentum, in place; else by these. ValueError while training on one
    value a channel, RuntimeError for other shapes."""
    if input.dim() < 2:
        raise RuntimeError(f"batch_norm: expected input (N, C, …), got shape {list(input.shape)}")
    for name, t in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if t is not None and tuple(t.shape) != (input.size(1),):
            raise RuntimeError(f"batch_norm: {name} must have the shape [{input.size(1)}] of the channels of input "
                               f"{list(input.shape)}, got {list(t.shape)}")
    values = _wide(input)
    if training:
        dims = [d for d in range(input.dim()) if d != 1]
        count = math.prod(input.shape[d] for d in dims)
        if count == 1:
            raise ValueError(f"batch_norm: expected more than 1 value per channel when training, got shape {list(input.shape)}")
        mean = values.mean(dims, True)
        centred = values - mean
        variance = centred.square().mean(dims, True)
        with no_grad():
            _move(running_mean, mean.detach().reshape(-1), momentum)
            if count > 0:
                _move(running_var, variance.detach().reshape(-1) * (count / (count - 1)), momentum)
    else:
        if running_mean is None or running_var is None:
            raise RuntimeError("batch_norm: without training it needs running_mean and running_var")
        centred = values - _along_channels(running_mean, input).to(values.dtype)
        variance = _along_channels(running_var, input).to(values.dtype)
    scale = (variance + eps).rsqrt()
    if weight is not None:
        scale = scale * _along_channels(weight, input).to(scale.dtype)
    return _narrow(_scaled(centred * scale, None, bias), input)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    """Each channel of each sample normalized over its places (Ulyanov et al. 2016); without use_input_stats by running_mean
    and running_var, else these move by momentum towards the mean over the samples of their statistics, in place."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if input.dim() < 3 or math.prod(input.shape[2:]) == 1:
        raise ValueError(f"instance_norm: expected input (N, C, …) of more than 1 place a channel, got shape {list(input.shape)}")
    if running_mean is not None or running_var is not None:
        with no_grad():
            variance, mean = reductions.var_mean(_wide(input.detach()), list(range(2, input.dim())))
            _move(running_mean, mean.mean(0), momentum)
            _move(running_var, variance.mean(0), momentum)
    return group_norm(input, input.size(1), weight, bias, eps)


def normalize(input, p=2.0, dim=1, eps=1e-12):
    """input / max(norm, eps) along dim; finite gradient at zero vectors, for which eps is at least 2^-14 in float16."""
    values = _wide(input)
    if input.dtype is _C.float16:
        eps = max(eps, 2.0 ** -14)
    return _narrow(values / reductions.norm(values, p, dim, True).clamp(min=eps), input)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """input / (k + alpha m)^beta, m being the mean over `size` neighbouring channels of input², those beyond the first and the
    last counting as 0 (Krizhevsky et al. 2012, with the mean for the sum).

    input (N, C, …), floating. Of an even size there is one channel more before than behind. ValueError for fewer than
    3 dimensions or a size below 1."""
    if input.dim() < 3 or size < 1:
        raise ValueError(f"local_response_norm: expected input (N, C, …) of 3 dimensions or more and a size of at least 1, got shape "
                         f"{list(input.shape)} and {size}")
    values, channels = _wide(input), input.size(1)
    around = [_F.zeros([input.size(0), n, *input.shape[2:]], dtype=values.dtype, device=input.device) for n in (size // 2, (size - 1) // 2)]
    squares = _F.cat([around[0], values.square(), around[1]], 1)
    total = squares.narrow(1, 0, channels)
    for first in range(1, size):
        total = total + squares.narrow(1, first, channels)
    return _narrow(values / (total * (alpha / size) + k).pow(beta), input)


__all__ = "batch_norm group_norm instance_norm layer_norm local_response_norm normalize rms_norm".split()
