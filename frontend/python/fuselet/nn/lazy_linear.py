"""LazyLinear: a Linear whose number of input features is that of the first input."""

from __future__ import annotations

from .. import _C
from ..grad_mode import no_grad
from ..making import empty
from . import functional as F
from .layers import Linear
from .parameter import Parameter


class LazyLinear(Linear):
    """x (…, in_features) -> (…, out_features), where in_features is known from the first call, or from a state that is loaded
    before it; from then on the layer is a Linear.

    Until then weight and bias are parameters without elements: optimizers may already hold them, and they keep their
    identity. NotImplementedError for a first call in a compiled function."""

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        self.register_parameter("bias", Parameter(empty(0, dtype=dtype, device=device)) if bias else None)

    def reset_parameters(self):
        """Draws new initial values, if the layer has its size."""
        if self.weight.numel():
            super().reset_parameters()

    def forward(self, input):
        if _C._is_inside_compiled_function():
            raise NotImplementedError("LazyLinear: the first call makes the parameters, which a compiled function cannot do; call the layer "
                                      "once outside")
        with no_grad():
            # An input that does not fit, by its dtype or device, must leave the layer as it is.
            F.linear(input, *self._empty(input.size(-1)))
        self._materialize(input.size(-1))
        return self.forward(input)

    def _empty(self, in_features):
        like = {"dtype": self.weight.dtype, "device": self.weight.device}
        return empty(self.out_features, in_features, **like), None if self.bias is None else empty(self.out_features, **like)

    def _size_in(self, state, prefix):
        """in_features by the weight of a state; None where it has none, or that of a layer without size."""
        weight = state.get(prefix + "weight")
        return weight.size(1) if isinstance(weight, _C.TensorBase) and weight.dim() == 2 and weight.numel() else None

    def _shapes_for(self, in_features):
        """The shapes that the parameters will have, by name."""
        return {"weight": (self.out_features, in_features), "bias": (self.out_features,)}

    def _materialize(self, in_features):
        """Makes the parameters, with initial values, and the layer a Linear."""
        self.in_features = in_features
        weight, bias = self._empty(in_features)
        self.weight.data = weight
        if bias is not None:
            self.bias.data = bias
        self.__class__ = Linear
        self.reset_parameters()

    def extra_repr(self):
        return f"out_features={self.out_features}, bias={self.bias is not None}"
