"""grad(f), vjp(f, …) and the like: derivatives of functions of tensors in nested lists, tuples and dicts.

They nest: grad(grad(f)) is the second derivative. At the outermost level results have a history where an argument, or a tensor
that the function reads besides its arguments, requires grad: the gradient of a penalty on derivatives reaches the parameters.
In a compiled function only the arguments count.
"""

from __future__ import annotations

import functools
import threading

from .. import _C
from ..autograd import functional
from ..autograd.nested import flatten
from ..grad_mode import enable_grad

_F = _C.functions
_depth = threading.local()


class _Level:
    """One transform in progress: whether its results must keep a history for somebody outside."""

    def __init__(self, tensors):
        for t in tensors:
            if not t.is_floating_point():
                raise RuntimeError(f"only floating tensors have derivatives, got an argument of dtype {t.dtype}")
        self.nested = getattr(_depth, "value", 0) > 0 or any(t.requires_grad for t in tensors)
        self._recorded = _C.is_grad_enabled()

    def __enter__(self):
        self._grad = enable_grad()
        self._grad.__enter__()
        _depth.value = getattr(_depth, "value", 0) + 1
        return self

    def __exit__(self, *exception):
        _depth.value -= 1
        self._grad.__exit__()

    def tracked(self, tensors):
        return list(functional._tracked(tensors, self.nested))

    def look_for_others(self, outputs, given):
        """Keeps the history of outputs that depend on leaves besides the given ones."""
        if not self.nested and self._recorded:
            own = set(map(id, given))
            leaves = _C._leaves([o for o in outputs if o.requires_grad])
            self.nested = any(id(leaf) not in own and not functional._is_tracked(leaf) for leaf in leaves)
        return self.nested

    def results(self, tensors):
        return tensors if self.nested else [t.detach() for t in tensors]

    def gradients(self, outputs, inputs, seeds=None):
        seeds = seeds or [_F.ones_like(o) for o in outputs]
        # Kept, for the outputs are given to the caller with their history.
        return functional._gradients(outputs, inputs, seeds, self.nested)


def _chosen(args, argnums):
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if any(not -len(args) <= n < len(args) for n in numbers):
        raise RuntimeError(f"argnums {argnums} is out of range for {len(args)} arguments")
    numbers = tuple(n % len(args) for n in numbers)
    return numbers, (args[numbers[0]] if isinstance(argnums, int) else tuple(args[n] for n in numbers))


def _put(args, argnums, numbers, value):
    args = list(args)
    for n, v in zip(numbers, (value,) if isinstance(argnums, int) else value):
        args[n] = v
    return args


def value_and_grad(func, argnums=0, has_aux=False):
    """A function that gives (func(…), gradients of the arguments argnums); func gives one number, with has_aux (number, aux):
    then the value is that pair."""

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        numbers, chosen = _chosen(args, argnums)
        tensors, rebuild = flatten(chosen)
        with _Level(tensors) as level:
            given = level.tracked(tensors)
            result = func(*_put(args, argnums, numbers, rebuild(given)), **kwargs)
            value, aux = result if has_aux else (result, None)
            if not isinstance(value, _C.TensorBase) or value.numel() != 1:
                raise RuntimeError("grad: the function must give a tensor of one element, got "
                                   f"{list(value.shape) if isinstance(value, _C.TensorBase) else type(value).__name__}")
            parts, rebuild_aux = flatten(aux)
            level.look_for_others([value, *parts], given)
            found = level.gradients([value], given)
            value, *parts = level.results([value, *parts])
            return ((value, rebuild_aux(parts)) if has_aux else value), rebuild(level.results(list(found)))

    return wrapped


def grad_and_value(func, argnums=0, has_aux=False):
    """value_and_grad with the pair the other way round."""
    both = value_and_grad(func, argnums, has_aux)
    return functools.wraps(func)(lambda *args, **kwargs: both(*args, **kwargs)[::-1])


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradients of func by its arguments argnums; with has_aux, (gradients, aux)."""
    both = value_and_grad(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapped


def vjp(func, *primals, has_aux=False):
    """(func(*primals), a function from gradients of the outputs to a tuple of gradients of the primals); with has_aux also
    aux at the end. The second may be differentiated as well."""
    tensors, rebuild = flatten(primals)
    level = _Level(tensors)
    with level:
        given = level.tracked(tensors)
        result = func(*rebuild(given))
        result, aux = result if has_aux else (result, None)
        outputs, rebuild_outputs = flatten(result)
        parts, rebuild_aux = flatten(aux)
        level.look_for_others([*outputs, *parts], given)

    def pull(*cotangents):
        seeds, _ = flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        # Somebody may differentiate by the cotangents, though nobody does by the primals.
        watched = _C.is_grad_enabled() and any(s.requires_grad for s in seeds)
        nested = level.nested or getattr(_depth, "value", 0) > 0 or watched
        with level:
            seeds = functional._seeds("vjp", tuple(seeds) or None, tuple(outputs))
            found = functional._gradients(outputs, given, list(seeds), nested)
            return rebuild(list(found) if nested else [t.detach() for t in found])

    value = rebuild_outputs(level.results(outputs))
    return (value, pull, rebuild_aux(level.results(parts))) if has_aux else (value, pull)


def jvp(func, primals, tangents, has_aux=False):
    """(func(*primals), its derivative along the tangents); with has_aux also aux at the end. Goes backward twice."""
    tensors, rebuild = flatten(tuple(primals))
    directions, _ = flatten(tuple(tangents))
    if [tuple(d.shape) for d in directions] != [tuple(t.shape) for t in tensors]:
        raise RuntimeError(f"jvp: tangents of shapes {[list(d.shape) for d in directions]} for primals of shapes "
                           f"{[list(t.shape) for t in tensors]}")
    with _Level([*tensors, *directions]) as level:
        given = level.tracked(tensors)
        result = func(*rebuild(given))
        result, aux = result if has_aux else (result, None)
        outputs, rebuild_outputs = flatten(result)
        parts, rebuild_aux = flatten(aux)
        level.look_for_others([*outputs, *parts], given)
        u = [_F.zeros_like(o).requires_grad_() for o in outputs]
        products = functional._gradients(outputs, given, u, True)
        moved = functional._gradients(products, u, directions, level.nested)
        pair = rebuild_outputs(level.results(outputs)), rebuild_outputs(level.results(list(moved)))
        return (*pair, rebuild_aux(level.results(parts))) if has_aux else pair


def jacrev(func, argnums=0, has_aux=False, *, chunk_size=None):
    """A function that gives the Jacobian of func by its arguments argnums, one backward for each element of the output; in
    the structure that func gives, with has_aux (Jacobian, aux). chunk_size changes nothing."""

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        numbers, chosen = _chosen(args, argnums)
        several, kept = not isinstance(chosen, _C.TensorBase), []

        def outputs(*given):
            result = func(*_put(args, argnums, numbers, given if several else given[0]), **kwargs)
            result, aux = result if has_aux else (result, None)
            parts, rebuild = flatten(result)
            kept[:] = [rebuild, *flatten(aux)]
            return tuple(parts)

        with _Level(list(chosen) if several else [chosen]) as level:
            blocks = functional.jacobian_blocks(outputs, chosen, level.nested,
                                                keeps_history=lambda found, given: level.look_for_others([*found, *kept[1]], given))
            rebuild, aux, rebuild_aux = kept
            return (rebuild(blocks), rebuild_aux(level.results(aux))) if has_aux else rebuild(blocks)

    return wrapped


def jacfwd(func, argnums=0, has_aux=False, *, chunk_size=None):
    """jacrev: derivatives go backward here."""
    return jacrev(func, argnums, has_aux)


def hessian(func, argnums=0):
    """A function that gives the second derivatives of func, which gives one number."""
    return jacrev(grad(func, argnums), argnums)
