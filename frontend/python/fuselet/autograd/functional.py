"""Derivatives of functions of tensors: products with the Jacobian and the Hessian, and both in full.

inputs is a tensor or a tuple of tensors; func takes them and gives a tensor or a tuple of tensors. Products with the
Jacobian from the right go backward twice. Results are without history unless create_graph.
"""

from __future__ import annotations

from .. import _C
from ..grad_mode import enable_grad

_F = _C.functions


def _tuple(value):
    return (value,) if isinstance(value, _C.TensorBase) else tuple(value)


def _like(value, parts):
    """parts as a tensor where value is one, else as a tuple."""
    return parts[0] if isinstance(value, _C.TensorBase) else tuple(parts)


def _tracked(inputs, create_graph):
    """Tensors of the same values to differentiate by; with create_graph, ones that keep the history of the inputs."""
    given = []
    for t in _tuple(inputs):
        if create_graph and t.requires_grad:
            given.append(_C.internal.alias(t))
        else:
            given.append(t.detach().requires_grad_())
            given[-1]._is_tracked_by_a_transform = True
    return tuple(given)


def _is_tracked(leaf):
    """Whether _tracked() made it: nobody outside of the transform can differentiate by it."""
    return hasattr(leaf, "_is_tracked_by_a_transform")


def _evaluate(name, func, inputs, create_graph):
    given = _tracked(inputs, create_graph)
    result = func(*given)
    outputs = _tuple(result)
    if not all(isinstance(o, _C.TensorBase) for o in outputs):
        raise TypeError(f"{name}: the function must give a tensor or a tuple of tensors, got {type(result).__name__}")
    return given, result, outputs


def _gradients(outputs, given, seeds, create_graph, retain=True, strict=False):
    from . import grad

    pairs = [(o, s) for o, s in zip(outputs, seeds) if o.requires_grad]
    if not pairs:
        found = (None,) * len(given)
    else:
        found = grad([o for o, _ in pairs], given, [s for _, s in pairs], retain_graph=retain, create_graph=create_graph,
                     allow_unused=True)
    if strict and any(g is None for g in found):
        raise RuntimeError(f"the outputs do not depend on input {[g is None for g in found].index(True)}, and strict=True")
    return tuple(_F.zeros_like(t) if g is None else g for g, t in zip(found, given))


def _seeds(name, v, outputs):
    if v is None:
        if len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError(f"{name}: v may only be left out for a function of one number")
        return tuple(_F.ones_like(o) for o in outputs)
    seeds = _tuple(v)
    if [tuple(s.shape) for s in seeds] != [tuple(o.shape) for o in outputs]:
        raise RuntimeError(f"{name}: v has shapes {[list(s.shape) for s in seeds]}, expected {[list(o.shape) for o in outputs]}")
    return seeds


def _plain(tensors, create_graph):
    return tuple(tensors) if create_graph else tuple(t.detach() for t in tensors)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), vᵀ J): the gradients of the inputs for the gradients v of the outputs."""
    with enable_grad():
        given, result, outputs = _evaluate("vjp", func, inputs, create_graph)
        found = _gradients(outputs, given, _seeds("vjp", v, outputs), create_graph, strict=strict)
    return _like(result, _plain(outputs, create_graph)), _like(inputs, _plain(found, create_graph))


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), J v): the derivative of the outputs along the direction v of the inputs."""
    with enable_grad():
        given, result, outputs = _evaluate("jvp", func, inputs, create_graph)
        directions = _seeds("jvp", v, given)
        # uᵀ J is linear in u, and its gradient by u along v is J v.
        u = tuple(_F.zeros_like(o).requires_grad_() for o in outputs)
        products = _gradients(outputs, given, u, True, strict=strict)
        found = _gradients(products, u, directions, create_graph)
    return _like(result, _plain(outputs, create_graph)), _like(result, _plain(found, create_graph))


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivative of every element of the outputs by every element of the inputs: for an output of shape S and an input
    of shape T a tensor of shape S + T; tuples (of tuples) where func gives or takes several."""
    return jacobian_blocks(func, inputs, create_graph, strict)


def jacobian_blocks(func, inputs, create_graph, strict=False, keeps_history=None):
    """jacobian(); keeps_history(outputs, inputs) may ask for a history of the results once the outputs are known."""
    with enable_grad():
        given, result, outputs = _evaluate("jacobian", func, inputs, create_graph)
        create_graph = keeps_history(outputs, given) if keeps_history else create_graph
        blocks = []
        for output in outputs:
            rows = []
            for i in range(output.numel()):
                seed = (_F.arange(output.numel(), device=output.device) == i).to(output.dtype).view(output.shape)
                rows.append(_gradients([output], given, [seed], create_graph, strict=strict))
            block = []
            for k, t in enumerate(given):
                shape = [*output.shape, *t.shape]
                whole = _F.stack([row[k] for row in rows]).view(shape) if rows else output.new_zeros(shape)
                block.append(whole if create_graph else whole.detach())
            blocks.append(_like(inputs, block))
    return _like(result, blocks)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function of one number: for one input of shape T a tensor of shape T + T, for several a
    tuple of tuples."""
    several = not isinstance(inputs, _C.TensorBase)

    def gradient(*given):
        # Through given itself, so that the second derivative reaches it.
        tracked = tuple(t if t.requires_grad else t.requires_grad_() for t in given)
        out = func(*tracked)
        if not isinstance(out, _C.TensorBase) or out.numel() != 1:
            raise RuntimeError("hessian: the function must give one number")
        found = _gradients([out.reshape([])], tracked, [_F.ones([], dtype=out.dtype, device=out.device)], True, strict=strict)
        return found if several else found[0]

    return jacobian(gradient, inputs, create_graph, strict)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), vᵀ H) with the Hessian H of a function of one number."""
    with enable_grad():
        given, result, outputs = _evaluate("vhp", func, inputs, create_graph)
        first = _gradients(outputs, given, _seeds("vhp", None, outputs), True, strict=strict)
        found = _gradients(first, given, _seeds("vhp", v, given), create_graph)
    return _like(result, _plain(outputs, create_graph)), _like(inputs, _plain(found, create_graph))


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), H v); H being symmetric, the same as vhp()."""
    return vhp(func, inputs, v, create_graph, strict)
