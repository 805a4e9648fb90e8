"""Parameter: a tensor that a Module lists among what it trains."""

from __future__ import annotations

from .. import _C
from ..tensor_class import Tensor


class Parameter(Tensor):
    """A leaf over the memory of `data`; assigned to a Module's attribute it becomes one of its parameters."""

    __module__ = "fuselet.nn"

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            from ..making import empty

            data = empty(0)
        return _C._make_subclass(cls, data, requires_grad)

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """A tensor that, assigned to a Module's attribute, becomes one of its buffers."""

    __module__ = "fuselet.nn"

    def __new__(cls, data, *, persistent=True):
        made = _C._make_subclass(cls, data, False)
        made.persistent = persistent
        return made
