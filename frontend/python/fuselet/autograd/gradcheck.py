"""Backward against central differences, in float64."""

from __future__ import annotations

from .. import _C
from ..grad_mode import no_grad


class GradcheckError(RuntimeError):
    """The analytic and the numeric gradient differ."""


def _outputs(function, inputs):
    result = function(*inputs)
    result = result if isinstance(result, (tuple, list)) else (result,)
    return [r for r in result if isinstance(r, _C.TensorBase) and r.is_floating_point()]


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True):
    """Compares the gradients of every output element with difference quotients; True if all agree."""
    from . import grad

    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    checked = [t for t in inputs if isinstance(t, _C.TensorBase) and t.requires_grad]
    if not checked:
        raise ValueError("gradcheck: no input requires grad")
    if any(t.dtype is not _C.float64 for t in checked):
        raise ValueError("gradcheck: the inputs must be float64")
    try:
        for k, output in enumerate(_outputs(func, inputs)):
            if output.requires_grad:
                _check_output(func, inputs, checked, k, output, grad, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_output(func, inputs, checked, k, output, grad, eps, atol, rtol):
    from ..making import zeros_like

    analytic = []
    for j in range(output.numel()):
        seed = zeros_like(output)
        seed.view(-1)[j] = 1.0
        row = grad(output, checked, seed, retain_graph=True, allow_unused=True)
        analytic.append([None if g is None else g.reshape(-1).tolist() for g in row])
    for i, t in enumerate(checked):
        for e in range(t.numel()):
            above, below = (_moved(func, inputs, t, e, step)[k].detach().reshape(-1).tolist() for step in (eps, -eps))
            for j in range(output.numel()):
                numeric = (above[j] - below[j]) / (2 * eps)
                got = 0.0 if analytic[j][i] is None else analytic[j][i][e]
                if not abs(got - numeric) <= atol + rtol * abs(numeric):
                    raise GradcheckError(f"gradcheck: output {k}[{j}] by input {i}[{e}]: backward gives {got}, differences give {numeric}")


def _moved(func, inputs, t, element, step):
    with no_grad():
        changed = t.detach().clone(contiguous=True)
        changed.view(-1)[element] += step
        return _outputs(func, [changed if x is t else x for x in inputs])


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True):
    """gradcheck of the gradient itself, with respect to inputs and incoming gradients."""
    from . import grad
    from ..making import randn

    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    n = len(inputs)
    outputs = _outputs(func, inputs)
    if grad_outputs is None:
        grad_outputs = [randn(o.shape, dtype=_C.float64, device=o.device).requires_grad_() for o in outputs]

    def first_derivative(*everything):
        given, seeds = everything[:n], everything[n:]
        given = tuple(t.detach().requires_grad_() if isinstance(x, _C.TensorBase) and x.requires_grad and not t.requires_grad else t
                      for t, x in zip(given, inputs))
        wanted = [t for t, x in zip(given, inputs) if isinstance(x, _C.TensorBase) and x.requires_grad]
        found = _with_recording(grad, func, given, wanted, seeds)
        return tuple(g for g in found if g is not None)

    return gradcheck(first_derivative, (*inputs, *grad_outputs), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)


def _with_recording(grad, func, given, wanted, seeds):
    from ..grad_mode import enable_grad

    with enable_grad():
        return grad(_outputs(func, given), wanted, list(seeds), create_graph=True, allow_unused=True)
