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
    """Scales the gradients by min(1, max_norm / (norm + 1e-6)); returns their total norm before that, of any order.

    RuntimeError for a negative max_norm, and with error_if_nonfinite for a norm that is not finite; no gradient changes then."""
    grads = _gradients(parameters)
    if not grads:
        return zeros([])
    by_one_operator = norm_type in (1, 2, math.inf)
    if error_if_nonfinite or not by_one_operator:
        total = _total_norm("clip_grad_norm_", grads, norm_type, error_if_nonfinite)
    if by_one_operator:
        return _C.internal.clip_grad_norm(grads, max_norm, norm_type)
    _scale("clip_grad_norm_", grads, max_norm, total)
    return total


@no_grad
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits every element of the gradients to ±clip_value."""
    for g in _gradients(parameters):
        g.clamp_(-clip_value, clip_value)


@no_grad
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all elements of the tensors together, as a tensor of one element; float32 for 16-bit tensors."""
    tensors = [tensors] if isinstance(tensors, _C.TensorBase) else list(tensors)
    return _total_norm("get_total_norm", tensors, norm_type, error_if_nonfinite) if tensors else zeros([])


@no_grad
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients by min(1, max_norm / (total_norm + 1e-6)). RuntimeError for a negative max_norm."""
    _scale("clip_grads_with_norm_", _gradients(parameters), max_norm, total_norm)


def _total_norm(caller, tensors, order, error_if_nonfinite):
    # A norm of 16-bit gradients is soon beyond 65504.
    wide = [t.to(_C.float32) if t.dtype.itemsize == 2 else t for t in tensors]
    total = _C.functions.stack([t.norm(order) for t in wide]).norm(order)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f"{caller}: the total norm is {total.item()}")
    return total


def _scale(caller, gradients, max_norm, total_norm):
    if max_norm < 0:
        raise RuntimeError(f"{caller}: max_norm must not be negative, got {max_norm}")
    scale = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for g in gradients:
        g.mul_(scale.to(g.dtype))
