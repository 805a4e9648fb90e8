"""Saving and loading the state of a module: what state_dict() and load_state_dict() do."""

from __future__ import annotations

import collections
import itertools

from ..grad_mode import no_grad
from ..tensor_class import Tensor

EXTRA = "_extra_state"


class IncompatibleKeys(collections.namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict(strict=False) did not find, and what it did not know."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"


def collect(module, out, prefix, keep_vars):
    """Adds the state of a module and all below it to `out`, by dotted names; a shared tensor under each of its names."""
    for name, value in itertools.chain(module._parameters.items(), module._buffers.items()):
        if value is not None and name not in module._transient:
            out[prefix + name] = value if keep_vars else value.detach()
    extra = getattr(module, "get_extra_state", None)
    if extra is not None:
        out[prefix + EXTRA] = extra()
    for name, child in module.named_children():
        collect(child, out, f"{prefix}{name}.", keep_vars)
    for hook in tuple(module._state_hooks.values()):
        hook(module, out, prefix, {})


def load(module, state, strict, assign):
    """Copies a state in, all of it or (with an error) nothing; see Module.load_state_dict."""
    if not isinstance(state, collections.abc.Mapping):
        raise TypeError(f"load_state_dict: expected a dict, got {type(state).__name__}")
    state = dict(state)
    _run_pre_hooks(module, state, "")
    own = collections.OrderedDict()
    _own(module, own, "")
    sizes, shapes = _sizes(module, state)
    missing = [name for name in own if name not in state]
    unexpected = [name for name in state if name not in own]
    problems = []
    if strict and missing:
        problems.append("missing: " + ", ".join(missing))
    if strict and unexpected:
        problems.append("unexpected: " + ", ".join(unexpected))
    problems += [p for p in (_problem(name, own[name], state[name], shapes) for name in own if name in state) if p]
    if problems:
        raise RuntimeError(f"load_state_dict: {type(module).__name__} and the state do not fit: " + "; ".join(problems))
    for unsized, size in sizes.items():
        unsized._materialize(size)
    with no_grad():
        for name, place in own.items():
            if name not in state:
                continue
            if not isinstance(place, Tensor):
                place.set_extra_state(state[name])
            elif assign:
                place.data = state[name].detach()
            else:
                place.copy_(state[name].to(place.dtype))
    result = IncompatibleKeys(missing, unexpected)
    for m in module.modules():
        for hook in tuple(m._load_hooks.values()):
            hook(m, result)
    return result


def _own(module, out, prefix):
    """As collect(), with the module itself in the place of its extra state."""
    for name, value in itertools.chain(module._parameters.items(), module._buffers.items()):
        if value is not None and name not in module._transient:
            out[prefix + name] = value
    if hasattr(module, "get_extra_state"):
        out[prefix + EXTRA] = module
    for name, child in module.named_children():
        _own(child, out, f"{prefix}{name}.")


def _sizes(module, state):
    """({module without size: the size that the state gives it}, {name: the shape that its parameter will have})."""
    sizes, shapes = {}, {}
    unsized = [(f"{path}." if path else "", m) for path, m in module.named_modules(remove_duplicate=False) if hasattr(m, "_size_in")]
    for prefix, m in unsized:
        size = m._size_in(state, prefix)
        if size is not None:
            sizes.setdefault(m, size)
    for prefix, m in unsized:
        if m in sizes:
            shapes.update((prefix + name, shape) for name, shape in m._shapes_for(sizes[m]).items())
    return sizes, shapes


def _problem(name, place, given, shapes):
    if not isinstance(place, Tensor):
        return None
    if not isinstance(given, Tensor):
        return f"{name}: expected a tensor, got {type(given).__name__}"
    shape = shapes.get(name, tuple(place.shape))
    if tuple(given.shape) != shape:
        return f"{name}: expected shape {list(shape)}, got {list(given.shape)}"
    return None


def _run_pre_hooks(module, state, prefix):
    for hook in tuple(module._load_pre_hooks.values()):
        hook(module, state, prefix, {}, True, [], [], [])
    for name, child in module.named_children():
        _run_pre_hooks(child, state, f"{prefix}{name}.")
