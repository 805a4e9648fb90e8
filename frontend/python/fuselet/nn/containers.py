"""Modules that hold modules."""

from __future__ import annotations

import collections

from .module import Module
from .parameter import Parameter


class _Ordered(Module):
    """What Sequential and ModuleList share: modules by position, named by it where they come without a name."""

    def append(self, module):
        """One more module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """More modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index, module):
        """One more module at a position; those behind it move on."""
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, index=-1):
        """Takes the module at a position out and returns it."""
        module = list(self._modules.values())[index]
        del self[index]
        return module

    def _renumber(self, modules):
        self._modules.clear()
        self.extend(modules)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __setitem__(self, index, module):
        self.add_module(list(self._modules)[index], module)

    def __delitem__(self, index):
        gone = list(self._modules)[index]
        for name in gone if isinstance(gone, list) else [gone]:
            del self._modules[name]
        if all(name.isdigit() for name in self._modules):
            self._renumber(list(self._modules.values()))


class Sequential(_Ordered):
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

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(collections.OrderedDict(list(self._modules.items())[index]))
        return list(self._modules.values())[index]


class ModuleList(_Ordered):
    """A list of modules."""

    def __init__(self, modules=None):
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, index):
        modules = list(self._modules.values())
        return ModuleList(modules[index]) if isinstance(index, slice) else modules[index]

    def __add__(self, other):
        return ModuleList([*self, *other])


class ModuleDict(Module):
    """A dict of modules."""

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def update(self, modules):
        """Takes over the modules of a dict."""
        for name, module in dict(modules).items():
            self[name] = module

    def __delitem__(self, name):
        del self._modules[name]

    def pop(self, name):
        """Takes a module out and returns it."""
        return self._modules.pop(name)

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
        """The names."""
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
        self.extend(parameters or ())

    def extend(self, parameters):
        """More parameters at the end."""
        for p in parameters:
            self.append(p)
        return self

    def __setitem__(self, index, parameter):
        name = str(range(len(self))[index])
        self.register_parameter(name, parameter if isinstance(parameter, Parameter) else Parameter(parameter))

    def append(self, parameter):
        """One more parameter at the end."""
        self.register_parameter(str(len(self)), parameter if isinstance(parameter, Parameter) else Parameter(parameter))
        return self

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, index):
        return list(self._parameters.values())[index]


class ParameterDict(Module):
    """A dict of parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        self.update(parameters or {})

    def __setitem__(self, name, parameter):
        self.register_parameter(str(name), parameter if isinstance(parameter, Parameter) else Parameter(parameter))

    def __getitem__(self, name):
        return self._parameters[str(name)]

    def __delitem__(self, name):
        del self._parameters[str(name)]

    def update(self, parameters):
        """Takes over the parameters of a dict."""
        for name, parameter in dict(parameters).items():
            self[name] = parameter

    def pop(self, name):
        """Takes a parameter out and returns it."""
        return self._parameters.pop(str(name))

    def get(self, name, default=None):
        """The parameter of a name, or the default."""
        return self._parameters.get(str(name), default)

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters)

    def __contains__(self, name):
        return str(name) in self._parameters

    def keys(self):
        """The names."""
        return self._parameters.keys()

    def values(self):
        """The parameters."""
        return self._parameters.values()

    def items(self):
        """(name, parameter) pairs."""
        return self._parameters.items()
