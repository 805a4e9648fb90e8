"""Module: a function with parameters, buffers and submodules, all by name."""

from __future__ import annotations

import builtins
import collections

from .. import _C
from ..tensor_class import Tensor
from . import module_hooks, module_state
from .module_state import IncompatibleKeys
from .parameter import Buffer, Parameter

__all__ = ["IncompatibleKeys", "Module"]


_TABLES = ("_parameters", "_buffers", "_modules", "_forward_hooks", "_forward_pre_hooks", "_backward_hooks",
           "_backward_pre_hooks", "_state_hooks", "_load_hooks", "_load_pre_hooks")


class Module:
    """Derive, make submodules and parameters in __init__, and write forward()."""

    training = True

    def __init__(self):
        for name in _TABLES:
            object.__setattr__(self, name, {})
        object.__setattr__(self, "_transient", set())
        object.__setattr__(self, "training", True)

    def forward(self, *inputs):
        """What a call of the module does; a subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args, **kwargs):
        compiled = self.__dict__.get("_compiled_call")
        return self._call_impl(*args, **kwargs) if compiled is None else compiled(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        if not (self._forward_pre_hooks or self._forward_hooks or self._backward_hooks or self._backward_pre_hooks):
            return self.forward(*args, **kwargs)
        result, ended = None, False
        try:
            args, kwargs = module_hooks.run_forward_pre_hooks(self, args, kwargs)
            if self._backward_hooks or self._backward_pre_hooks:
                result = module_hooks.call_with_backward_hooks(self, args, kwargs)
            else:
                result = self.forward(*args, **kwargs)
            ended = True
        finally:
            if not ended:
                module_hooks.run_forward_hooks(self, args, kwargs, result, only_always=True)
        return module_hooks.run_forward_hooks(self, args, kwargs, result)

    def compile(self, **options):
        """Makes calls of this module compiled ones, with the options of fuselet.compile()."""
        from ..compiling import compile

        object.__setattr__(self, "_compiled_call", compile(self._call_impl, **options))

    def __getstate__(self):
        # Code is made anew where it is wanted.
        return {name: value for name, value in self.__dict__.items() if name != "_compiled_call"}

    # ---- attributes
    def __setattr__(self, name, value):
        if "_parameters" not in self.__dict__:
            if isinstance(value, (Parameter, Module)):
                raise AttributeError(f"call super().__init__() before assigning '{name}'")
            return object.__setattr__(self, name, value)
        tables = {"_parameters": Parameter, "_modules": Module, "_buffers": Buffer}
        for table, kind in tables.items():
            if isinstance(value, kind):
                # One that replaces its like keeps the place in the order.
                if name not in getattr(self, table):
                    self._forget(name)
                self.__dict__.pop(name, None)
                getattr(self, table)[name] = value
                if kind is Buffer:
                    (self._transient.discard if getattr(value, "persistent", True) else self._transient.add)(name)
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
        self._check_name(name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"register_parameter: '{name}' must be a Parameter or None")
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """State that is saved (if persistent) and moved with the module, but not trained."""
        self._check_name(name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: '{name}' must be a Tensor or None")
        self._buffers[name] = tensor
        (self._transient.discard if persistent else self._transient.add)(name)

    def add_module(self, name, module):
        """A submodule by name; KeyError for a name that is empty or contains a dot. None keeps the place."""
        self._check_name(name, self._modules)
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"add_module: '{name}' must be a Module or None")
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, name, own):
        if "." in name or not name:
            raise KeyError(f"a name must not be empty or contain '.', got '{name}'")
        if name not in own and hasattr(self, name):
            raise KeyError(f"{type(self).__name__} has another attribute '{name}' already")

    # ---- walking the tree
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(dotted name, module) of this module ("") and all below it, each once unless remove_duplicate is False."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

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
        walk = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in walk:
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
        """The module of a dotted name ("" is this one); AttributeError where there is none."""
        module = self
        for part in target.split(".") if target else []:
            if module._modules.get(part) is None:
                raise AttributeError(f"{type(module).__name__} has no submodule '{part}' (of '{target}')")
            module = module._modules[part]
        return module

    def set_submodule(self, target, module):
        """Puts a module in the place of a dotted name."""
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def get_parameter(self, target):
        """The parameter of a dotted name; AttributeError where there is none."""
        return self._get_member("_parameters", target)

    def get_buffer(self, target):
        """The buffer of a dotted name; AttributeError where there is none."""
        return self._get_member("_buffers", target)

    def _get_member(self, table, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if getattr(module, table).get(name) is None:
            raise AttributeError(f"{type(module).__name__} has no '{name}' among its {table[1:]} (of '{target}')")
        return getattr(module, table)[name]

    def apply(self, fn):
        """Calls fn on every submodule, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # ---- state
    def state_dict(self, destination=None, prefix="", keep_vars=False):
        """Parameters and persistent buffers by name; detached, over the same memory. A class with get_extra_state() and
        set_extra_state(value) keeps more under the name _extra_state."""
        out = collections.OrderedDict() if destination is None else destination
        module_state.collect(self, out, prefix, keep_vars)
        return out

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies values in by name. With strict, RuntimeError for missing or unknown names; for a wrong
        shape always. Nothing is copied unless all of it fits. assign takes over memory and dtype of the given tensors."""
        return module_state.load(self, state_dict, strict, assign)

    def register_state_dict_post_hook(self, hook):
        """hook(module, state_dict, prefix, {}) when this module has added its state."""
        return module_hooks.register(self._state_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """hook(module, state_dict, prefix, {}, strict, [], [], []) before anything is compared; it may rename entries."""
        return module_hooks.register(self._load_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook):
        """hook(module, incompatible_keys) when a state has been loaded; it may empty the lists."""
        return module_hooks.register(self._load_hooks, hook)

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
            if set_to_none:
                # Whether there is one or not: the first of compiled steps is like the others.
                p.grad = None
            elif p.grad is not None:
                p.grad.detach_()
                p.grad.zero_()

    def _apply(self, fn):
        return self._convert(fn)

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

    def type(self, dst_type):
        """to(dst_type)."""
        return self.to(_C.dtype(dst_type) if isinstance(dst_type, str) else dst_type)

    def to_empty(self, *, device, recurse=True):
        """On another device, with contents of any value."""
        return self._convert(lambda t: t.new_empty(t.shape, device=device))

    def cpu(self):
        """to("cpu")."""
        return self.to("cpu")

    def cuda(self, device=None):
        """to() a CUDA device, the current one by default."""
        return self.to("cuda" if device is None else device)

    # ---- hooks
    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """hook(module, args, output) after forward, with_kwargs hook(module, args, kwargs, output); what it returns (not
        None) replaces the output. always_call: also when forward raises, with None as output."""
        return module_hooks.register(self._forward_hooks, (hook, with_kwargs, always_call), prepend)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """hook(module, args) before forward; what it returns (not None) replaces the arguments. with_kwargs:
        hook(module, args, kwargs), which returns (args, kwargs)."""
        return module_hooks.register(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """hook(module, grad_input, grad_output) when the gradients of the module's tensor arguments are known: tuples, with
        None for arguments without gradient. What it returns (not None) replaces grad_input."""
        return module_hooks.register(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """hook(module, grad_output) when the gradients of the module's outputs are known; what it returns (not None)
        replaces them."""
        return module_hooks.register(self._backward_pre_hooks, hook, prepend)

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
