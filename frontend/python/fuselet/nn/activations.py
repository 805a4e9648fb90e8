"""Activations and dropout as modules."""

from __future__ import annotations

from . import functional as F
from .module import Module


class Identity(Module):
    """The input itself."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class ReLU(Module):
    """max(x, 0)."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.relu(input, self.inplace)


class GELU(Module):
    """x times the normal distribution function of x; approximate='tanh' for its tanh form."""

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class SiLU(Module):
    """x sigmoid(x)."""

    def __init__(self, inplace=False):
        super().__init__()

    def forward(self, input):
        return F.silu(input)


class Tanh(Module):
    """tanh(x)."""

    def forward(self, input):
        return input.tanh()


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input):
        return input.sigmoid()


class LeakyReLU(Module):
    """x where positive, else negative_slope x."""

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope)


class ELU(Module):
    """x where positive, else alpha (exp(x) - 1)."""

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha

    def forward(self, input):
        return F.elu(input, self.alpha)


class Softplus(Module):
    """log(1 + exp(x))."""

    def forward(self, input):
        return F.softplus(input)


class Softmax(Module):
    """exp(x) / sum(exp(x)) along dim; see functional.softmax."""

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.softmax(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class LogSoftmax(Softmax):
    """x - max - log(sum(exp(x - max))) along dim; see functional.log_softmax."""

    def forward(self, input):
        return F.log_softmax(input, self.dim)


class Dropout(Module):
    """While training, elements zeroed with probability p and the rest scaled by 1 / (1 - p)."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout: the probability must lie in [0, 1], got {p}")
        self.p = p

    def forward(self, input):
        return F.dropout(input, self.p, self.training)

    def extra_repr(self):
        return f"p={self.p}"
