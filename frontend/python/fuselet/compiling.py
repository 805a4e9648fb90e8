"""compile(): functions and modules as compiled code."""

from __future__ import annotations

import functools
import types

from . import _C
from .nn.module import Module


class CompiledFunction:
    """What compile() makes of a function. Calls may come from several threads."""

    def __init__(self, fn, handle):
        functools.update_wrapper(self, fn)
        self._fn, self._handle = fn, handle

    def __call__(self, *args, **kwargs):
        return self._handle.call(self._fn, args, kwargs)

    # A compiled function in a class is a method.
    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"<compiled {getattr(self._fn, '__qualname__', self._fn)!s}>"


class _CompiledModule:
    """Comes before the module's own class; everything but the call is the module's."""

    def __call__(self, *args, **kwargs):
        return type(self)._compiled(self, *args, **kwargs)


def _compile_module(module, handle):
    # Shares the attributes of the module, so that either sees what happens to the other.
    cls = type(module)
    kind = type(cls.__name__, (_CompiledModule, cls), {"__module__": cls.__module__, "__qualname__": cls.__qualname__,
                                                       "__doc__": cls.__doc__})
    kind._compiled = CompiledFunction(cls.__call__, handle)
    compiled = object.__new__(kind)
    object.__setattr__(compiled, "__dict__", module.__dict__)
    return compiled


def compile(model=None, *, mode="default", fullgraph=False, dynamic=None, pure=False, numerics="fused",
            memory_budget=None, recompile_limit=8, stages=None):
    """A function or Module as compiled code; also a decorator, with or without options.

    Every call runs the Python code of the function, but its operators (backward() and optimizer steps among
    them) only say what is to be computed. They are compared with what earlier calls asked for, and when the
    function returns, code compiled for exactly this runs once; then every tensor that outlives the function
    holds its value. If the code raises, nothing of the call has happened. What the code reads besides tensors
    (globals, closures, flags, None) is read by Python on every call and is never stale. Floats in
    arithmetic with tensors are inputs, and so are learning rates and betas; another path through the code, shape,
    int, or value of an option (dropout's p, weight_decay, SGD's momentum, max_norm) is another compilation. A
    compiled Module shares state, attributes and train() with the module.

    mode: 'default', 'reduce-overhead', 'max-autotune-no-cudagraphs' or 'max-autotune'; on the CPU all of them
        compile alike.
    fullgraph, dynamic: accepted. A value asked for inside (item(), bool(t), numpy()) is always an error, and
        another size another compilation.
    pure: says that results and effects depend on the arguments alone: tensors, numbers, bools, texts and None, in
        tuples, lists and dicts. Then a call whose arguments are like those of an earlier one (the same but for
        the contents of the tensors; floats by value) skips the Python code. Tensors that the code met besides
        its arguments stay the same ones. Any other call, and a function that reads host cells (an optimizer's
        step), runs the code as always.
    numerics: 'exact' gives eager's results bit for bit; 'fused' may keep more digits inside a kernel.
    memory_budget: bytes that the forward may save for a backward that comes after the call.
    recompile_limit: most compilations; one more is a RuntimeError that lists the reasons.
    stages: {name: function}: replaces a stage of the compiler; the function takes a Graph and returns one.
    """
    options = dict(mode=mode, fullgraph=fullgraph, dynamic=dynamic, pure=pure, numerics=numerics,
                   memory_budget=memory_budget, recompile_limit=recompile_limit, stages=stages)
    if model is None:
        return lambda given: compile(given, **options)
    if not callable(model):
        raise TypeError(f"compile: expected a function or Module, got {type(model).__name__}")
    name = type(model).__name__ if isinstance(model, Module) else getattr(model, "__name__", type(model).__name__)
    handle = _C.CompiledFunction(name, mode, fullgraph, dynamic, pure, numerics, memory_budget, recompile_limit, stages or {})
    if isinstance(model, Module):
        return _compile_module(model, handle)
    return CompiledFunction(model, handle)
