"""Functions with a backward of one's own.

forward runs without recording. What forward returns is given to the caller as new tensors over the same
memory, so that outputs kept on the context make no cycle with the graph. A value that forward computed
and kept (neither input nor output) has no history: with create_graph, differentiating through it again
raises an error instead of leaving out its part.
"""

from __future__ import annotations

import functools

from .. import _C
from ..grad_mode import no_grad

_Base = _C.TensorBase


class FunctionContext:
    """What forward hands on to backward; any attribute may be set."""

    def __init__(self):
        self.needs_input_grad = ()
        self._saved = ()
        self._input_ids = frozenset()
        self._outputs = ()
        self._no_gradient = ()
        self._dirty = ()
        self._materialize = True
        self._released = False
        self._name = ""

    def save_for_backward(self, *tensors):
        """Keeps inputs, outputs or intermediate values; a write to one before backward is an error."""
        for t in tensors:
            if t is not None and not isinstance(t, _Base):
                raise TypeError(f"save_for_backward: expected Tensors or None, got {type(t).__name__}; "
                                "keep other values as attributes of ctx")
        self._saved = tuple((t, None if t is None else t._version) for t in tensors)

    @property
    def saved_tensors(self):
        if self._released:
            raise RuntimeError(f"{self._name}: backward a second time: what it had saved was freed by the first; "
                               "pass retain_graph=True to the first one")
        return tuple(self._unpack(t, version) for t, version in self._saved)

    def _unpack(self, t, version):
        if t is None:
            return None
        if t._version != version:
            raise RuntimeError(f"{self._name}: a tensor of shape {list(t.shape)} was saved for backward at version {version} "
                               f"and has been written in place since: it is now at version {t._version}")
        for i, output in enumerate(self._outputs):
            if t is output:
                return _C._restore_output(t, i)
        return t

    def mark_non_differentiable(self, *tensors):
        """These outputs get no history."""
        self._no_gradient = tensors

    def mark_dirty(self, *tensors):
        """These inputs have been written in place and are outputs."""
        self._dirty = tensors

    def set_materialize_grads(self, value):
        """Whether backward gets zeros (the default) or None for outputs that no gradient reached."""
        self._materialize = value


def _among(t, tensors):
    return any(t is other for other in tensors)


def _tensors_in(value, depth=0):
    """The tensors of nested lists, tuples and dicts."""
    if isinstance(value, _Base):
        yield value
    elif depth < 4 and isinstance(value, (list, tuple)):
        for v in value:
            yield from _tensors_in(v, depth + 1)
    elif depth < 4 and isinstance(value, dict):
        for v in value.values():
            yield from _tensors_in(v, depth + 1)


def _refuse_untracked(ctx):
    """Values kept by forward that have no history: their derivative is unknown, not zero."""
    kept = [t for name, value in vars(ctx).items() if not name.startswith("_") for t in _tensors_in(value)]
    kept += [t for t, _ in ctx._saved if t is not None and not _among(t, ctx._outputs)]
    for t in kept:
        if not t.requires_grad and id(t) not in ctx._input_ids and t.is_floating_point():
            _C._refuse_derivative(
                t, [], f"{ctx._name}Intermediate",
                f"{ctx._name}: its backward uses a value that forward computed and kept on ctx, which is not tracked, so its "
                "second derivative is unknown; save inputs and outputs only, and compute the value again in backward")


class Function:
    """Subclass with static methods forward(ctx, *args), or forward(*args) and setup_context(ctx, inputs, output), and
    backward(ctx, *grads); call with apply()."""

    @staticmethod
    def forward(ctx, *args, **kwargs):
        """Calculates the outputs, without recording; a subclass defines it. ctx takes what backward needs."""
        raise NotImplementedError("a Function needs a static method forward(ctx, …)")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Overridden: forward then takes no ctx, and this keeps what backward needs."""

    @staticmethod
    def backward(ctx, *grads):
        """The gradients of the outputs to one gradient (or None) an argument of forward; a subclass defines it."""
        raise NotImplementedError("a Function needs a static method backward(ctx, *grads) to be differentiated")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs forward and puts its outputs on the tape."""
        ctx = FunctionContext()
        ctx._name = cls.__name__ + "Backward"
        ctx.needs_input_grad = tuple(isinstance(a, _Base) and a.requires_grad for a in args)
        positions = [i for i, a in enumerate(args) if isinstance(a, _Base)]
        inputs = [args[i] for i in positions]
        # By id, so that the context keeps no input alive: one that forward keeps has its id still.
        ctx._input_ids = frozenset(map(id, inputs))
        recording = _C.is_grad_enabled() and any(ctx.needs_input_grad)
        with no_grad():
            if cls.setup_context is Function.setup_context:
                result = cls.forward(ctx, *args, **kwargs)
            else:
                result = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, result)
        if not recording:
            return result
        given = result if isinstance(result, tuple) else (result,)
        # One shape and one place among the recorded for every output; backward gets a gradient for each of them.
        out, recorded, shapes, places, kept = [], [], [], [], []
        for value in given:
            shapes.append((tuple(value.shape), value.dtype, value.device) if isinstance(value, _Base) else None)
            if not isinstance(value, _Base) or _among(value, ctx._no_gradient) or not value.is_floating_point():
                out.append(value)
                places.append(None)
                continue
            places.append(len(recorded))
            fresh, plain = _C._detached(value), value
            if _among(value, ctx._dirty):
                if value.is_leaf and value.requires_grad:
                    raise RuntimeError(f"{cls.__name__}: a leaf that requires grad has been written in place")
                fresh, plain = plain, fresh
                ctx._saved = tuple((plain if t is value else t, version) for t, version in ctx._saved)
            out.append(fresh)
            recorded.append(fresh)
            kept.append(plain)
        # What forward returned, without history: nothing on ctx may refer to the graph.
        ctx._outputs, ctx._dirty, ctx._no_gradient = tuple(kept), (), ()
        _record(cls, ctx, inputs, positions, len(args), recorded, shapes, places)
        return tuple(out) if isinstance(result, tuple) else out[0]


def _record(cls, ctx, inputs, positions, num_args, recorded, shapes, places):
    def backward(*found):
        from ..making import zeros

        grads = [None if place is None else found[place] for place in places]
        if ctx._materialize:
            grads = [zeros(like[0], dtype=like[1], device=like[2]) if g is None and like is not None else g
                     for g, like in zip(grads, shapes)]
        if _C.is_grad_enabled():
            _refuse_untracked(ctx)
        result = cls.backward(ctx, *grads)
        result = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(result) > num_args and any(r is not None for r in result[num_args:]) or len(result) < num_args:
            raise RuntimeError(f"{cls.__name__}: backward gave {len(result)} gradients for {num_args} arguments of forward")
        return [result[i] for i in positions]

    def released():
        ctx._released = True
        ctx._saved = ()

    _C._record_function(ctx._name, inputs, recorded, backward, released)


def once_differentiable(backward):
    """For backward: runs it without recording; differentiating its result raises an error."""

    @functools.wraps(backward)
    def wrapped(ctx, *grads):
        with no_grad():
            result = backward(ctx, *grads)
        if not _C.is_grad_enabled():
            return result
        sources = [t for t in grads if t is not None and t.requires_grad]
        results = list(result) if isinstance(result, tuple) else [result]
        for i, r in enumerate(results):
            if isinstance(r, _Base):
                results[i] = _C._detached(r)
                _C._refuse_derivative(results[i], sources, f"{ctx._name}Once",
                                      f"{ctx._name}: its backward is marked once_differentiable and cannot be differentiated again")
        return tuple(results) if isinstance(result, tuple) else results[0]

    return wrapped
