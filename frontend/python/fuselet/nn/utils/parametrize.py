"""Parametrisation: an attribute of a module that is computed from other parameters on every use.

The parameters live in module.parametrizations.<name>: `original`, or original0, original1, … where right_inverse() of the
parametrisation gives several.
"""

from __future__ import annotations

from ..containers import ModuleDict, ModuleList
from ..parameter import Parameter


class ParametrizationList(ModuleList):
    """The parametrisations of one attribute, applied in order; calling it gives the attribute's value."""

    def __init__(self, parametrizations, original):
        super().__init__(parametrizations)
        value = original.detach()
        for p in reversed(list(self)):
            if hasattr(p, "right_inverse"):
                value = p.right_inverse(value)
        self._count = len(value) if isinstance(value, (tuple, list)) else 1
        if self._count == 1 and not isinstance(value, (tuple, list)):
            self.original = Parameter(value, original.requires_grad)
            return
        for i, part in enumerate(value):
            setattr(self, f"original{i}", Parameter(part, original.requires_grad))

    def forward(self):
        parts = list(self._parameters.values())
        first, *rest = list(self)
        value = first(*parts)
        for p in rest:
            value = p(value)
        return value


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """From now on module.<tensor_name> is parametrization(original); the optimizer sees the original."""
    if is_parametrized(module, tensor_name):
        raise NotImplementedError(f"register_parametrization: '{tensor_name}' has a parametrization already")
    if tensor_name not in module._parameters:
        raise ValueError(f"register_parametrization: {type(module).__name__} has no parameter '{tensor_name}'")
    made = ParametrizationList([parametrization], module._parameters.pop(tensor_name))
    if not hasattr(module, "parametrizations"):
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = made
    cls = type(module)
    parametrized = type(f"Parametrized{cls.__name__}", (cls,), {
        tensor_name: property(lambda self: self.parametrizations[tensor_name]()), "__module__": cls.__module__})
    object.__setattr__(module, "__class__", parametrized)
    return module


def is_parametrized(module, tensor_name=None):
    """Whether the module has a parametrised attribute (of that name)."""
    held = module._modules.get("parametrizations")
    return held is not None and (len(held) > 0 if tensor_name is None else tensor_name in held)


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes the attribute an ordinary parameter again, with its computed value."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"remove_parametrizations: '{tensor_name}' of {type(module).__name__} has no parametrization")
    held = module.parametrizations[tensor_name]
    value = held() if leave_parametrized else held.original
    trained = any(p.requires_grad for p in held.parameters())
    object.__setattr__(module, "__class__", type(module).__mro__[1])
    del module.parametrizations._modules[tensor_name]
    if not len(module.parametrizations):
        del module._modules["parametrizations"]
    module.register_parameter(tensor_name, Parameter(value.detach(), trained))
    return module
