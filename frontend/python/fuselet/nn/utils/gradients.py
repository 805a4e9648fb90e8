"""Clipping of gradients."""

from __future__ import annotations

import math

from ... import _C
from ...grad_mode import no_grad
from ...making import zeros


def _gradients(parameters):
    parameters = [parameters] if isinstance(parameters, _C.TensorBase) else parameters
    # A gradient that is given twice is scaled once.
    return list({id(g): g for g in (p.grad for p in parameters) if g is not None}.values())


@no_grad
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales the gradients by min(1, max_norm / (norm + 1e-6)); returns their total norm before that, of any order."""
    grads = _gradients(parameters)
    if not grads:
        return zeros([])
    if norm_type in (1, 2, math.inf):
        total = _C.internal.clip_grad_norm(grads, max_norm, norm_type)
    else:
        total = get_total_norm(grads, norm_type)
        _scale(grads, max_norm, total)
    if error_if_nonfinite and not abs(total.item()) < float("inf"):
        raise RuntimeError(f"clip_grad_norm_: the total norm is {total.item()}")
    return total


@no_grad
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits every element of the gradients to ±clip_value."""
    for g in _gradients(parameters):
        g.clamp_(-clip_value, clip_value)


@no_grad
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all elements of the tensors together, as a tensor of one element."""
    tensors = [tensors] if isinstance(tensors, _C.TensorBase) else list(tensors)
    if not tensors:
        return zeros([])
    total = _C.functions.stack([t.norm(norm_type) for t in tensors]).norm(norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f"get_total_norm: the total norm is {total.item()}")
    return total


@no_grad
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients by min(1, max_norm / (total_norm + 1e-6))."""
    _scale(_gradients(parameters), max_norm, total_norm)


def _scale(gradients, max_norm, total_norm):
    scale = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for g in gradients:
        g.mul_(scale.to(g.dtype))
