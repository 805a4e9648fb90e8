"""Functions of statistics and analysis by the names of torch.special: those of the package itself, and a few more.

Differentiable, for floating tensors of any shape. All but softmax, log_softmax and logsumexp, which take dimensions, are
pointwise. Integers become the default dtype, except in round, which leaves them as they are, and in softmax and log_softmax,
which refuse them unless dtype is given.
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
    """-input log(input), the term of an entropy: 0 at 0, where the slope is infinite; -inf below, with slope 0."""
    x = _floating(input)
    outside = x <= 0
    safe = _F.where(outside, 1.0, x)
    # sqrt, too, is 0 and upright at 0; the sum makes 0 of -0, at which it would point down.
    at_zero = _F.where(x == 0, x + 0.0, 1.0).sqrt()
    return _F.where(outside, _F.where(x < 0, -math.inf, at_zero), -safe * safe.log())


def _log1p(number):
    return math.log1p(number) if number > -1 else -math.inf if number == -1 else math.nan


def xlog1py(input, other):
    """input log(1 + other), and 0 where input is 0 and other no NaN. Tensors or numbers, which broadcast. Slopes are 0 where
    input is 0 and the logarithm is infinite or none."""
    nothing = _F.eq(input, 0)
    if not isinstance(other, _C.TensorBase):
        log = _log1p(other)
        if math.isfinite(log) or other != other:
            return input * log
        return _F.where(nothing, 0.0, _F.where(nothing, 1.0, input) * log)
    other = _floating(other)
    edge = _F.logical_and(nothing, _F.logical_or(other <= -1, other == math.inf))
    return input * _F.log1p(_F.where(edge, 0.0, other))


def ndtr(input):
    """The probability that a standard normal number is at most input: erfc(-input / sqrt(2)) / 2."""
    return _F.erfc(_floating(input) * -math.sqrt(0.5)) * 0.5


__all__ = ("entr erf erfc erfinv exp2 expit expm1 log1p log_softmax logit logsumexp ndtr round sinc softmax xlog1py xlogy").split()

__getattr__ = _absent("torch.special")
