"""Dropout of whole channels, and the kind that keeps mean and variance. inplace is accepted; results are new tensors."""

from __future__ import annotations

from ... import _C

_F = _C.functions

_ALPHA = -1.7580993408473766  # SELU's lower limit


def _mask(shape, like, p):
    """0 with probability p, else 1 / (1 - p)."""
    return _F.dropout(_F.ones(shape, dtype=like.dtype, device=like.device), p, True)


def _drop_channels(name, input, p, training, spatial):
    rank = input.dim()
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: the probability must lie in [0, 1], got {p}")
    if rank not in (spatial + 1, spatial + 2):
        raise RuntimeError(f"{name}: expected {spatial + 2} dimensions (or {spatial + 1} without a batch), got shape {list(input.shape)}")
    if not training or p == 0:
        return input
    return input * _mask(list(input.shape[:rank - spatial]) + [1] * spatial, input, p)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """While training, whole channels of (N, C, L) or (C, L) zeroed with probability p, the rest scaled by 1 / (1 - p)."""
    return _drop_channels("dropout1d", input, p, training, 1)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """While training, whole channels of (N, C, H, W) or (C, H, W) zeroed with probability p, the rest scaled by 1 / (1 - p)."""
    return _drop_channels("dropout2d", input, p, training, 2)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """While training, whole channels of (N, C, D, H, W) or (C, D, H, W) zeroed with probability p, the rest scaled."""
    return _drop_channels("dropout3d", input, p, training, 3)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """While training, elements set with probability p to SELU's lower limit, then all of them scaled and shifted so that mean
    0 and variance 1 stay (Klambauer et al. 2017)."""
    if not 0 <= p <= 1:
        raise ValueError(f"alpha_dropout: the probability must lie in [0, 1], got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    scale = ((1 - p) * (1 + p * _ALPHA * _ALPHA)) ** -0.5
    return _F.where(_mask(input.shape, input, p) != 0, input, _ALPHA) * scale - scale * p * _ALPHA


def gumbel_softmax(logits, tau=1.0, hard=False, eps=1e-10, dim=-1):
    """softmax((logits + g) / tau) with g of Gumbel's distribution (Jang et al. 2017); hard: 1 at the largest and 0 elsewhere,
    with the gradient of the soft one."""
    uniform = _F.rand(logits.shape, dtype=logits.dtype, device=logits.device).clamp(min=1e-20)
    soft = _F.softmax((logits - (-uniform.log()).log()) / tau, dim)
    if not hard:
        return soft
    at = soft.detach().argmax(dim, True)
    ones = _F.zeros_like(soft.detach()).scatter_add(dim, at, _F.ones(at.shape, dtype=soft.dtype, device=soft.device))
    return ones - soft.detach() + soft
