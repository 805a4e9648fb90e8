"""Module: a function with parameters, buffers and submodules, all by name."""

from __future__ import annotations

import builtins
import collections
import itertools

from .. import _C
from ..grad_mode import no_grad
from ..tensor_class import HookHandle, Tensor
from .parameter import Buffer, Parameter


class IncompatibleKeys(collections.namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict(strict=False) did not find, and what it did not know."""

    __slots__ = ()


class Module:
    """Derive, make submodules and parameters in __init__, and write forward()."""

    training = True

    def __init__(self):
        for name, value in (("training", True), ("_parameters", {}), ("_buffers", {}), ("_modules", {}),
                            ("_transient", set()), ("_forward_hooks", {}), ("_forward_pre_hooks", {})):
            object.__setattr__(self, name, value)

    def forward(self, *inputs):
        """What a call of the module does; a subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args, **kwargs):
        for hook in tuple(self._forward_pre_hooks.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in tuple(self._forward_hooks.values()):
            changed = hook(self, args, result)
            if changed is not None:
                result = changed
        return result

    # ---- attributes
    def __setattr__(self, name, value):
        if "_parameters" not in self.__dict__:
            if isinstance(value, (Parameter, Module)):
                raise AttributeError(f"call super().__init__() before assigning '{name}'")
            return object.__setattr__(self, name, value)
        tables = {"_parameters": Parameter, "_modules": Module, "_buffers": Buffer}
        for table, kind in tables.items():
            if isinstance(value, kind):
                self._forget(name)
                getattr(self, table)[name] = value
                if kind is Buffer and not getattr(value, "persistent", True):
                    self._transient.add(name)
                return None
        for table in tables:
            if name in getattr(self, table):
                if value is not None and not (table == "_buffers" and isinstance(value, Tensor)):
                    raise TypeError(f"{type(self).__name__}.{name} is one of {table[1:]} and cannot become a {type(value).__name__}")
                getattr(self, table)[name] = value
                return None
        return object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for table in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")

    def __delattr__(self, name):
        if not self._forget(name):
            object.__delattr__(self, name)

    def _forget(self, name):
        self.__dict__.pop(name, None)
        self._transient.discard(name)
        return any([getattr(self, t).pop(name, self) is not self for t in ("_parameters", "_buffers", "_modules")])

    def __dir__(self):
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name, param):
        """None keeps the place of a parameter that is not there."""
        self._check_name(name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"register_parameter: '{name}' must be a Parameter or None")
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """State that is saved (if persistent) and moved with the module, but not trained."""
        self._check_name(name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: '{name}' must be a Tensor or None")
        self._buffers[name] = tensor
        if not persistent:
            self._transient.add(name)

    def add_module(self, name, module):
        """A submodule by name; KeyError for a name that is empty or contains a dot. None keeps the place."""
        self._check_name(name)
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"add_module: '{name}' must be a Module or None")
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, name):
        if "." in name or not name:
            raise KeyError(f"a name must not be empty or contain '.', got '{name}'")

    # ---- walking the tree
    def named_modules(self, memo=None, prefix=""):
        """(dotted name, module) of this module ("") and all below it, each once."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self):
        """This module and all below it, each once."""
        return (m for _, m in self.named_modules())

    def named_children(self):
        """(name, module) of the modules directly below."""
        return ((name, m) for name, m in self._modules.items() if m is not None)

    def children(self):
        """The modules directly below."""
        return (m for _, m in self.named_children())

    def _named_members(self, table, prefix, recurse, remove_duplicate=True):
        seen = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in getattr(module, table).items():
                if value is None or remove_duplicate and id(value) in seen:
                    continue
                seen.add(id(value))
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(name, parameter) in the order of definition; a shared one once."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """The parameters of this module and all below, each once."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(name, buffer) in the order of definition; a shared one once."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """The buffers of this module and all below, each once."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    def get_submodule(self, target):
        """The module of a dotted name ("" is this one)."""
        module = self
        for part in target.split(".") if target else []:
            module = module._modules[part]
        return module

    def get_parameter(self, target):
        """The parameter of a dotted name."""
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._parameters[name]

    def apply(self, fn):
        """Calls fn on every submodule, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # ---- state
    def state_dict(self, *, prefix="", keep_vars=False):
        """Parameters and persistent buffers by name; detached, over the same memory."""
        out = collections.OrderedDict()
        self._collect(out, prefix, keep_vars)
        return out

    def _collect(self, out, prefix, keep_vars):
        for name, value in itertools.chain(self._parameters.items(), self._buffers.items()):
            if value is not None and name not in self._transient:
                out[prefix + name] = value if keep_vars else value.detach()
        for name, module in self.named_children():
            module._collect(out, f"{prefix}{name}.", keep_vars)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies values in by name. With strict, RuntimeError for missing or unknown names; for a wrong
        shape always. Nothing is copied unless all of it fits."""
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        problems = []
        if strict and missing:
            problems.append("missing: " + ", ".join(missing))
        if strict and unexpected:
            problems.append("unexpected: " + ", ".join(unexpected))
        for name, value in own.items():
            if name in state_dict and not isinstance(state_dict[name], Tensor):
                problems.append(f"{name}: expected a tensor, got {type(state_dict[name]).__name__}")
            elif name in state_dict and tuple(state_dict[name].shape) != tuple(value.shape):
                problems.append(f"{name}: expected shape {list(value.shape)}, got {list(state_dict[name].shape)}")
        if problems:
            raise RuntimeError(f"load_state_dict: {type(self).__name__} and the state do not fit: " + "; ".join(problems))
        with no_grad():
            for name, value in own.items():
                if name not in state_dict:
                    continue
                if assign:
                    value.data = state_dict[name].detach()
                else:
                    value.copy_(state_dict[name].to(value.dtype))
        return IncompatibleKeys(missing, unexpected)

    # ---- modes and conversions
    def train(self, mode=True):
        """Training mode, for this module and all below; dropout and the like look at `training`."""
        if not isinstance(mode, bool):
            raise ValueError("train: the mode must be a bool")
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self):
        """train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Sets requires_grad of all parameters."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Drops the gradients, or sets them to 0."""
        for p in self.parameters():
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.detach_()
                    p.grad.zero_()

    def _convert(self, change):
        """Replaces the data of parameters and buffers; the objects stay, so optimizers keep theirs."""
        for p in self.parameters():
            p.data = change(p.data)
            if p.grad is not None:
                gradient, p.grad = p.grad, None
                p.grad = change(gradient.detach())
        for module in self.modules():
            for name, b in module._buffers.items():
                if b is not None:
                    module._buffers[name] = change(b)
        return self

    def to(self, *args, dtype=None, device=None, non_blocking=False, **kwargs):
        """Floating parameters and buffers with another dtype; everything on another device."""
        for given in args:
            if isinstance(given, Tensor):
                dtype, device = given.dtype, given.device
            elif isinstance(given, _C.dtype):
                dtype = given
            elif isinstance(given, (str, _C.device, builtins.int)) and not isinstance(given, builtins.bool):
                device = given
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(f"Module.to: expected a floating dtype, got {dtype}")
        return self._convert(lambda t: t.to(device=device, dtype=dtype if t.is_floating_point() else None,
                                            non_blocking=non_blocking))

    def float(self):
        """to(float32)."""
        return self.to(_C.float32)

    def double(self):
        """to(float64)."""
        return self.to(_C.float64)

    def half(self):
        """to(float16)."""
        return self.to(_C.float16)

    def bfloat16(self):
        """to(bfloat16)."""
        return self.to(_C.bfloat16)

    def cpu(self):
        """to("cpu")."""
        return self.to("cpu")

    def cuda(self, device=None):
        """to() a CUDA device, the current one by default."""
        return self.to("cuda" if device is None else device)

    # ---- hooks
    def register_forward_hook(self, hook):
        """hook(module, args, output) after forward; what it returns (not None) replaces the output."""
        return _register(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook):
        """hook(module, args) before forward; what it returns (not None) replaces the arguments."""
        return _register(self._forward_pre_hooks, hook)

    # ---- printing
    def extra_repr(self):
        """What is shown between the brackets."""
        return ""

    def __repr__(self):
        lines = [f"({name}): " + repr(m).replace("\n", "\n  ") for name, m in self._modules.items()]
        own = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({own})"
        return f"{type(self).__name__}({own}\n  " + "\n  ".join(lines) + "\n)"


_hook_numbers = itertools.count()


def _register(table, hook):
    number = next(_hook_numbers)
    table[number] = hook
    return HookHandle(lambda: table.pop(number, None))
