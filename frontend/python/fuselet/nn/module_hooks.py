"""Hooks of modules: their tables, and the gates through which a backward hook sees gradients.

A gate is the identity on some tensors; its backward shows the gradients on their way. With backward hooks a module's
tensors go through one gate before forward() and through another after it. Inside a compiled function a gate is refused,
as every function with a backward of its own.
"""

from __future__ import annotations

import itertools

from .. import _C
from ..tensor_class import HookHandle, Tensor

_numbers = itertools.count()


def register(table, entry, prepend=False):
    """Puts a hook behind those of the table, or before them; the handle removes it."""
    number = next(_numbers)
    if prepend:
        others = dict(table)
        table.clear()
        table[number] = entry
        table.update(others)
    else:
        table[number] = entry
    return HookHandle(lambda: table.pop(number, None))


def run_forward_pre_hooks(module, args, kwargs):
    """(args, kwargs) after the hooks before forward()."""
    for hook, with_kwargs in tuple(module._forward_pre_hooks.values()):
        if with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError("a forward pre-hook with keywords must return None or (args, kwargs), got "
                                       f"{type(changed).__name__}")
                args, kwargs = changed
            continue
        changed = hook(module, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def run_forward_hooks(module, args, kwargs, result, only_always=False):
    """The result after the hooks behind forward()."""
    for hook, with_kwargs, always in tuple(module._forward_hooks.values()):
        if only_always and not always:
            continue
        changed = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        if changed is not None:
            result = changed
    return result


def call_with_backward_hooks(module, args, kwargs):
    """forward(), with a gate on either side of it."""
    hooks, pre_hooks = tuple(module._backward_hooks.values()), tuple(module._backward_pre_hooks.values())
    tracked = [i for i, a in enumerate(args) if isinstance(a, Tensor) and a.requires_grad]
    if not _C.is_grad_enabled():
        return module.forward(*args, **kwargs)
    outer = []

    def behind(grads):
        for hook in pre_hooks:
            grads = _replaced(hook(module, grads), grads, "full backward pre-hook")
        outer[:] = [grads]
        if not tracked:
            show((None,) * len(args))
        return grads

    def before(grads):
        inner = [None] * len(args)
        for i, g in zip(tracked, grads):
            inner[i] = g
        inner = show(tuple(inner))
        return [inner[i] for i in tracked]

    def show(inner):
        for hook in hooks:
            inner = _replaced(hook(module, inner, outer[0] if outer else ()), inner, "full backward hook")
        return inner

    if tracked and hooks:
        passed = dict(zip(tracked, _gate(before, [args[i] for i in tracked])))
        args = tuple(passed.get(i, a) for i, a in enumerate(args))
    result = module.forward(*args, **kwargs)
    return _through(behind, result)


def _replaced(changed, grads, what):
    if changed is None:
        return grads
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(grads):
        raise RuntimeError(f"a {what} returned {len(changed)} gradients, expected {len(grads)}")
    return changed


def _through(run, result):
    """The result with its tensors through a gate: a tensor, or a tuple or list that holds some."""
    if isinstance(result, Tensor):
        return _gate(run, [result])[0] if result.requires_grad else result
    if not isinstance(result, (tuple, list)):
        return result
    at = [i for i, r in enumerate(result) if isinstance(r, Tensor) and r.requires_grad]
    if not at:
        return result
    passed = dict(zip(at, _gate(run, [result[i] for i in at])))
    parts = [passed.get(i, r) for i, r in enumerate(result)]
    return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)


def _gate(run, tensors):
    from ..autograd.function import Function

    class Gate(Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.set_materialize_grads(False)
            return inputs

        @staticmethod
        def backward(ctx, *grads):
            return tuple(run(grads))

    return Gate.apply(*tensors)
