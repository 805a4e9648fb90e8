"""Functions of statistics and analysis by the names of torch.special: those of the package itself, and a few more.

Pointwise, differentiable, for floating tensors (integers become the default dtype) of any shape.
"""

from __future__ import annotations

import math

from . import _C, composed, reductions
from .pytorch_names import absent as _absent

_F = _C.functions

erf, erfc, erfinv, exp2, expm1, log1p, xlogy = _F.erf, _F.erfc, _F.erfinv, _F.exp2, _F.expm1, _F.log1p, _F.xlogy
expit = _F.sigmoid
logit, round, sinc, logsumexp = composed.logit, composed.round, composed.sinc, reductions.logsumexp


def softmax(input, dim, *, dtype=None):
    """exp(input) / sum(exp(input)) along dim; see nn.functional.softmax."""
    return _F.softmax(input, dim, dtype)


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of softmax(); see nn.functional.log_softmax."""
    return _F.log_softmax(input, dim, dtype)


def _floating(input):
    return input if input.is_floating_point() else input.to(_C.get_default_dtype())


def entr(input):
    """-input log(input), the term of an entropy: 0 at 0, -inf below."""
    x = _floating(input)
    positive = x > 0
    safe = _F.where(positive, x, 1.0)
    return _F.where(positive, -safe * safe.log(), _F.where(x < 0, -math.inf, x * 0))


def xlog1py(input, other):
    """input log(1 + other), and 0 where input is 0 and other no NaN. Tensors or numbers, which broadcast."""
    logs = _F.log1p(_floating(other)) if isinstance(other, _C.TensorBase) else math.log1p(other) if other > -1 else -math.inf if other == -1 else math.nan
    zero = _F.logical_and(_F.eq(input, 0), _F.logical_not(_F.isnan(other)) if isinstance(other, _C.TensorBase) else other == other)
    return _F.where(zero, 0.0, input * _F.where(zero, 0.0, logs))


def ndtr(input):
    """The probability that a standard normal number is at most input: erfc(-input / sqrt(2)) / 2."""
    return _F.erfc(_floating(input) * -math.sqrt(0.5)) * 0.5


__all__ = ("entr erf erfc erfinv exp2 expit expm1 log1p log_softmax logit logsumexp ndtr round sinc softmax xlog1py xlogy").split()

__getattr__ = _absent("torch.special")
