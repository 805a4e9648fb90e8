"""Activations as modules.

inplace is accepted everywhere; ReLU alone writes its input, the others give a new tensor, for backward reads the input.
"""

from __future__ import annotations

from .. import _C
from ..making import full
from . import functional as F
from .module import Module
from .parameter import Parameter


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

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


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


class Mish(Module):
    """x tanh(softplus(x))."""

    def __init__(self, inplace=False):
        super().__init__()

    def forward(self, input):
        return F.mish(input)


class Tanh(Module):
    """tanh(x)."""

    def forward(self, input):
        return input.tanh()


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input):
        return input.sigmoid()


class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def forward(self, input):
        return F.logsigmoid(input)


class LeakyReLU(Module):
    """x where positive, else negative_slope x."""

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}"


class PReLU(Module):
    """x where positive, else weight x; one weight, or one a channel (dimension 1)."""

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(full([num_parameters], init, dtype=dtype or _C.get_default_dtype(), device=device))

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class ELU(Module):
    """x where positive, else alpha (exp(x) - 1)."""

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha

    def forward(self, input):
        return F.elu(input, self.alpha)

    def extra_repr(self):
        return f"alpha={self.alpha}"


class CELU(ELU):
    """max(x, 0) + min(alpha (exp(x / alpha) - 1), 0)."""

    def forward(self, input):
        return F.celu(input, self.alpha)


class SELU(Module):
    """scale (max(x, 0) + min(alpha (exp(x) - 1), 0)) with the constants of Klambauer et al. 2017."""

    def __init__(self, inplace=False):
        super().__init__()

    def forward(self, input):
        return F.selu(input)


class Softplus(Module):
    """log(1 + exp(beta x)) / beta; x itself where beta x > threshold."""

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self):
        return f"beta={self.beta}, threshold={self.threshold}"


class Softsign(Module):
    """x / (1 + |x|)."""

    def forward(self, input):
        return F.softsign(input)


class Hardtanh(Module):
    """x limited to [min_val, max_val]."""

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        super().__init__()
        if min_val >= max_val:
            raise ValueError(f"{type(self).__name__}: min_val must be less than max_val, got {min_val} and {max_val}")
        self.min_val, self.max_val = min_val, max_val

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}"


class ReLU6(Hardtanh):
    """min(max(x, 0), 6)."""

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0)

    def extra_repr(self):
        return ""


class Hardswish(Module):
    """x min(max(x + 3, 0), 6) / 6."""

    def __init__(self, inplace=False):
        super().__init__()

    def forward(self, input):
        return F.hardswish(input)


class Hardsigmoid(Module):
    """min(max(x + 3, 0), 6) / 6."""

    def __init__(self, inplace=False):
        super().__init__()

    def forward(self, input):
        return F.hardsigmoid(input)


class Softshrink(Module):
    """x moved by lambd towards 0, and 0 between -lambd and lambd."""

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.softshrink(input, self.lambd)

    def extra_repr(self):
        return f"{self.lambd}"


class Hardshrink(Softshrink):
    """x, but 0 between -lambd and lambd."""

    def forward(self, input):
        return F.hardshrink(input, self.lambd)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input):
        return F.tanhshrink(input)


class Threshold(Module):
    """x where it exceeds the threshold, else value."""

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value = threshold, value

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value)

    def extra_repr(self):
        return f"threshold={self.threshold}, value={self.value}"


class GLU(Module):
    """The first half along dim times the sigmoid of the second."""

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmax(Module):
    """exp(x) / sum(exp(x)) along dim (default: the last); see functional.softmax."""

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, input):
        return F.softmax(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmin(Softmax):
    """softmax(-x)."""

    def forward(self, input):
        return F.softmax(-input, self.dim)


class LogSoftmax(Softmax):
    """log(softmax(x)); see functional.log_softmax."""

    def forward(self, input):
        return F.log_softmax(input, self.dim)


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected (N, C, H, W) or (C, H, W), got shape {list(input.shape)}")
        return F.softmax(input, -3)


class RReLU(Module):
    """x where positive, else a x: while training a is uniform in [lower, upper) for each element, else the middle."""

    def __init__(self, lower=1 / 8, upper=1 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper = lower, upper

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training)

    def extra_repr(self):
        return f"lower={self.lower}, upper={self.upper}"
