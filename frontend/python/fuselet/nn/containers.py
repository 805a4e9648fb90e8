"""Modules that hold modules."""

from __future__ import annotations

import collections

from .module import Module
from .parameter import Parameter


class Sequential(Module):
    """Each module's output is the next one's input. Takes modules, or an OrderedDict of them."""

    def __init__(self, *modules):
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], collections.OrderedDict):
            named = modules[0].items()
        else:
            named = ((str(i), m) for i, m in enumerate(modules))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def append(self, module):
        """One more module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, index):
        modules = list(self._modules.values())
        return Sequential(*modules[index]) if isinstance(index, slice) else modules[index]


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules=()):
        super().__init__()
        self.extend(modules)

    def append(self, module):
        """One more module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Several more modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, index):
        modules = list(self._modules.values())
        return ModuleList(modules[index]) if isinstance(index, slice) else modules[index]

    def __setitem__(self, index, module):
        self._modules[list(self._modules)[index]] = module


class ModuleDict(Module):
    """A dict of modules."""

    def __init__(self, modules=None):
        super().__init__()
        for name, module in (modules or {}).items():
            self[name] = module

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __getitem__(self, name):
        return self._modules[name]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, name):
        return name in self._modules

    def keys(self):
        """The names, in the order of their coming."""
        return self._modules.keys()

    def values(self):
        """The modules."""
        return self._modules.values()

    def items(self):
        """(name, module) pairs."""
        return self._modules.items()


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, parameters=()):
        super().__init__()
        for p in parameters:
            self.append(p)

    def append(self, parameter):
        """One more parameter at the end; a tensor becomes one."""
        self.register_parameter(str(len(self)), parameter if isinstance(parameter, Parameter) else Parameter(parameter))
        return self

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, index):
        return list(self._parameters.values())[index]
