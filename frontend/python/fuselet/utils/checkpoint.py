"""Checkpointing: a part of a model whose intermediate values are computed again in backward instead of being kept.

The part runs once as always, and the tape tells which leaves it depends on; then its tape is dropped. In backward it runs
again, with the random numbers of the first time. Gradients of any order come out as without checkpointing. In a compiled
function the part is only called: there the compiler decides what to keep.
"""

from __future__ import annotations

from .. import _C
from ..autograd.function import Function
from ..autograd.nested import flatten
from ..grad_mode import enable_grad


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, context_fn=None, determinism_check="default",
               debug=False, **kwargs):
    """function(*args, **kwargs) without its intermediate values on the tape.

    Tensors that come from other operators must be among the arguments (in lists, tuples, dicts at any depth); parameters
    may be met anywhere. use_reentrant and determinism_check change nothing; NotImplementedError for context_fn."""
    if context_fn is not None:
        raise NotImplementedError("checkpoint: context_fn is not supported")
    inputs, rebuild = flatten((args, kwargs))
    if not _C.is_grad_enabled() or _C._is_compiling():
        return function(*args, **kwargs)
    generator = _C.default_generator
    before = generator.get_state()

    def run(tensors):
        given, named = rebuild(tensors)
        return flatten(function(*given, **named))

    tracked = _fresh(inputs)
    with enable_grad():
        outputs, rebuild_outputs = run(tracked)
    known = {id(t) for t in tracked}
    leaves = [t for t in _C._leaves([o for o in outputs if o.requires_grad]) if id(t) not in known]
    plain = [o.detach() for o in outputs]
    moving = [o.requires_grad for o in outputs]
    del outputs, tracked

    def again(tensors):
        now = generator.get_state()
        if preserve_rng_state:
            generator.set_state(before)
        try:
            return run(tensors)[0]
        finally:
            if preserve_rng_state:
                generator.set_state(now)

    return rebuild_outputs(list(_Checkpoint.apply(again, plain, moving, len(inputs), *inputs, *leaves)))


class _Checkpoint(Function):
    @staticmethod
    def forward(ctx, again, plain, moving, count, *tensors):
        ctx.again, ctx.moving, ctx.count = again, moving, count
        ctx.save_for_backward(*tensors)
        ctx.mark_non_differentiable(*(o for o, moves in zip(plain, moving) if not moves))
        outputs = tuple(plain)
        plain.clear()
        return outputs

    @staticmethod
    def backward(ctx, *grads):
        from ..autograd import grad

        higher = _C.is_grad_enabled()
        inputs, leaves = ctx.saved_tensors[:ctx.count], ctx.saved_tensors[ctx.count:]
        given = [_C.internal.alias(t) if t.requires_grad else t for t in inputs] if higher else _fresh(inputs)
        with enable_grad():
            outputs = [o for o, moves in zip(ctx.again(given), ctx.moving) if moves]
        wanted = [t for t in (*given, *leaves) if t.requires_grad]
        found = iter(grad(outputs, wanted, list(grads), create_graph=higher, allow_unused=True))
        return (None, None, None, None, *(next(found) if t.requires_grad else None for t in (*given, *leaves)))


def _fresh(tensors):
    """The same values, at the beginning of a tape of their own."""
    return [t.detach().requires_grad_() if t.requires_grad else t for t in tensors]


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Modules one after another, in `segments` checkpointed parts."""
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    if not 0 < segments <= len(functions):
        raise ValueError(f"checkpoint_sequential: segments must be between 1 and {len(functions)}, got {segments}")

    def through(part):
        def run(x):
            for f in part:
                x = f(x)
            return x

        return run

    size = len(functions) // segments
    for s in range(segments):
        end = (s + 1) * size if s + 1 < segments else len(functions)
        input = checkpoint(through(functions[s * size:end]), input, use_reentrant=use_reentrant, **kwargs)
    return input
