"""Gradients: backward(), grad(), functions with a backward of one's own, and checks of both."""

from .. import _C
from ..grad_mode import enable_grad, no_grad, set_grad_enabled
from .function import Function, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .._C import Node

__all__ = ["Function", "GradcheckError", "Node", "backward", "enable_grad", "grad", "gradcheck", "gradgradcheck",
           "no_grad", "once_differentiable", "set_grad_enabled"]


def _as_list(tensors):
    if tensors is None:
        return []
    return [tensors] if isinstance(tensors, _C.TensorBase) else list(tensors)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of `tensors` to `.grad` of the leaves that they depend on (or of `inputs` alone).

    A tensor of one element needs no gradient of its own; others need one of their shape. What the graph
    has saved is freed unless retain_graph (default: create_graph)."""
    outputs, grads = _as_list(tensors), _as_list(grad_tensors)
    retain = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        _C._backward(outputs, grads, retain, create_graph)
        return
    leaves = _as_list(inputs)
    found = _C._grad(outputs, leaves, grads, retain, create_graph, True)
    with set_grad_enabled(create_graph):
        for leaf, gradient in zip(leaves, found):
            if gradient is not None:
                leaf.grad = gradient.clone() if leaf.grad is None else leaf.grad + gradient


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=False):
    """The gradients of `outputs` with respect to `inputs`, as a tuple; touches no `.grad`.

    RuntimeError for an input that the outputs do not depend on, unless allow_unused (then None)."""
    retain = create_graph if retain_graph is None else retain_graph
    return tuple(_C._grad(_as_list(outputs), _as_list(inputs), _as_list(grad_outputs), retain, create_graph, allow_unused))
