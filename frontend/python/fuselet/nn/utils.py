"""Clipping of gradients."""

from __future__ import annotations

from .. import _C
from ..grad_mode import no_grad
from ..making import zeros


def _gradients(parameters):
    parameters = [parameters] if isinstance(parameters, _C.TensorBase) else parameters
    # A gradient that is given twice is scaled once.
    return list({id(g): g for g in (p.grad for p in parameters) if g is not None}.values())


@no_grad
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    """Scales the gradients by min(1, max_norm / (norm + 1e-6)); returns their total norm before that."""
    grads = _gradients(parameters)
    if not grads:
        return zeros([])
    total = _C.internal.clip_grad_norm(grads, max_norm, norm_type)
    if error_if_nonfinite and not abs(total.item()) < float("inf"):
        raise RuntimeError(f"clip_grad_norm_: the total norm is {total.item()}")
    return total


@no_grad
def clip_grad_value_(parameters, clip_value):
    """Limits every element of the gradients to ±clip_value."""
    for g in _gradients(parameters):
        g.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters):
    """All elements, one parameter after the other, as a vector; differentiable."""
    return _C.functions.cat([p.reshape(-1) for p in parameters])


@no_grad
def vector_to_parameters(vec, parameters):
    """Writes a vector's elements into the parameters, one after the other."""
    at = 0
    for p in parameters:
        p.copy_(vec[at:at + p.numel()].view(p.shape))
        at += p.numel()
