"""LazyLinear: a Linear whose number of input features is that of the first input."""

from __future__ import annotations

from .. import _C
from .layers import Linear
from .parameter import Parameter
from ..making import empty


class LazyLinear(Linear):
    """x (…, in_features) -> (…, out_features), where in_features is known from the first call, or from a state that is loaded
    before it; from then on the layer is a Linear.

    Until then weight and bias are parameters without elements: optimizers may already hold them, and they keep their
    identity. NotImplementedError for a first call in a compiled function."""

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        self.register_parameter("bias", Parameter(empty(0, dtype=dtype, device=device)) if bias else None)
        self.register_load_state_dict_pre_hook(_take_size_from)

    def reset_parameters(self):
        """Draws new initial values, if the layer has its size."""
        if self.weight.numel():
            super().reset_parameters()

    def forward(self, input):
        if _C._is_inside_compiled_function():
            raise NotImplementedError("LazyLinear: the first call makes the parameters, which a compiled function cannot do; call the layer "
                                      "once outside")
        self._materialize(input.size(-1))
        return self.forward(input)

    def _materialize(self, in_features):
        self.in_features = in_features
        self.weight.data = empty(self.out_features, in_features, dtype=self.weight.dtype, device=self.weight.device)
        if self.bias is not None:
            self.bias.data = empty(self.out_features, dtype=self.bias.dtype, device=self.bias.device)
        for number in [n for n, hook in self._load_pre_hooks.items() if hook is _take_size_from]:
            del self._load_pre_hooks[number]
        self.__class__ = Linear
        self.reset_parameters()

    def extra_repr(self):
        return f"out_features={self.out_features}, bias={self.bias is not None}"


def _take_size_from(module, state, prefix, *unused):
    """Before a state is loaded: the size that its weight has."""
    weight = state.get(prefix + "weight")
    if isinstance(weight, _C.TensorBase) and weight.dim() == 2 and weight.numel():
        module._materialize(weight.size(1))
