"""Gradients: backward(), grad(), functions with a backward of one's own, and checks of both."""

from .. import _C
from ..grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .accumulated import after_accumulation as _after_accumulation
from .anomaly import detect_anomaly, is_anomaly_enabled, set_detect_anomaly
from .function import Function, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .._C import Node

__all__ = ["Function", "GradcheckError", "Node", "Variable", "backward", "detect_anomaly", "enable_grad", "functional", "grad",
           "gradcheck", "gradgradcheck", "inference_mode", "is_anomaly_enabled", "no_grad", "once_differentiable",
           "set_detect_anomaly", "set_grad_enabled"]


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
    with _after_accumulation() as run_hooks:
        if inputs is None:
            _C._backward(outputs, grads, retain, create_graph, is_anomaly_enabled())
        else:
            _accumulate(outputs, grads, retain, create_graph, _as_list(inputs))
        run_hooks()


def _accumulate(outputs, grads, retain, create_graph, leaves):
    found = _C._grad(outputs, leaves, grads, retain, create_graph, True, is_anomaly_enabled())
    with set_grad_enabled(create_graph):
        for leaf, gradient in zip(leaves, found):
            if gradient is not None:
                leaf.grad = gradient.clone() if leaf.grad is None else leaf.grad + gradient


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None, is_grads_batched=False,
         materialize_grads=False):
    """The gradients of `outputs` with respect to `inputs`, as a tuple; touches no `.grad`.

    RuntimeError for an input that the outputs do not depend on, unless allow_unused (then None, or with
    materialize_grads zeros). NotImplementedError for is_grads_batched."""
    if is_grads_batched:
        raise NotImplementedError("grad: is_grads_batched is not supported; call grad() for each gradient")
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: materialize_grads needs allow_unused")
    retain = create_graph if retain_graph is None else retain_graph
    wanted = _as_list(inputs)
    with _after_accumulation():
        found = _C._grad(_as_list(outputs), wanted, _as_list(grad_outputs), retain, create_graph, bool(allow_unused) or materialize_grads,
                         is_anomaly_enabled())
    if materialize_grads:
        found = [_C.functions.zeros_like(t) if g is None else g for t, g in zip(wanted, found)]
    return tuple(found)


def Variable(data, requires_grad=False):
    """The old name for a tensor that may require grad: `data` itself, or over its memory."""
    made = data.detach()
    return made.requires_grad_(requires_grad)


from . import functional  # noqa: E402
