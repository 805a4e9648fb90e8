"""Activations as functions. With inplace=True the result is written into the input as well."""

from __future__ import annotations

from ... import _C

_F = _C.functions

gelu, glu, logsigmoid, sigmoid, tanh = _F.gelu, _F.glu, _F.logsigmoid, _F.sigmoid, _F.tanh
hardshrink, prelu, softplus, softshrink, softsign, tanhshrink = (
    _F.hardshrink, _F.prelu, _F.softplus, _F.softshrink, _F.softsign, _F.tanhshrink)


def _applied(name, input, inplace, *numbers):
    if not inplace:
        return getattr(_F, name)(input, *numbers)
    if input.requires_grad and _C.is_grad_enabled():
        # The gradient reads what the input held.
        return input.copy_(getattr(_F, name)(input.clone(), *numbers))
    return getattr(input, name + "_")(*numbers)


def relu(input, inplace=False):
    """max(input, 0) for any shape and dtype; NaN stays NaN; the gradient at 0 is 0."""
    return input.relu_() if inplace else _F.relu(input)


def relu6(input, inplace=False):
    """input within [0, 6]; at a bound the gradient goes to the input, as clamp's does."""
    return _applied("relu6", input, inplace)


def silu(input, inplace=False):
    """input sigmoid(input)."""
    return _applied("silu", input, inplace)


def mish(input, inplace=False):
    """input tanh(softplus(input)) (Misra 2019)."""
    return _applied("mish", input, inplace)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """input where positive, else negative_slope input."""
    return _applied("leaky_relu", input, inplace, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """input where positive, else alpha (exp(input) - 1) (Clevert et al. 2015)."""
    return _applied("elu", input, inplace, alpha)


def celu(input, alpha=1.0, inplace=False):
    """input where positive, else alpha (exp(input / alpha) - 1) (Barron 2017). RuntimeError for alpha 0."""
    if alpha == 0:
        raise RuntimeError("celu: alpha must not be 0")
    return _applied("celu", input, inplace, alpha)


def selu(input, inplace=False):
    """scale (input where positive, else alpha (exp(input) - 1)) with the constants of Klambauer et al. 2017."""
    return _applied("selu", input, inplace)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input within [min_val, max_val]; at a bound the gradient goes to the input, as clamp's does. ValueError where
    min_val > max_val."""
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val {min_val} must not be above max_val {max_val}")
    return _applied("hardtanh", input, inplace, min_val, max_val)


def hardsigmoid(input, inplace=False):
    """(input + 3) / 6 within [0, 1]."""
    return _applied("hardsigmoid", input, inplace)


def hardswish(input, inplace=False):
    """input hardsigmoid(input) (Howard et al. 2019)."""
    return _applied("hardswish", input, inplace)


def rrelu(input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    """input where positive, else a input (Xu et al. 2015): while training each element has an a of its own, uniform in
    [lower, upper), which takes one draw of the default generator; else a is the middle. RuntimeError where lower > upper."""
    if lower > upper:
        raise RuntimeError(f"rrelu: lower {lower} must not be above upper {upper}")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    drawn = _F.rand(input.shape, dtype=_C.float32 if input.dtype.itemsize == 2 else input.dtype, device=input.device)
    slope = (drawn * (upper - lower) + lower).to(input.dtype)
    result = _F.where(input > 0, input, (input.clone() if inplace else input) * slope)
    return input.copy_(result) if inplace else result


def threshold(input, threshold, value, inplace=False):
    """input where it is above threshold, else value."""
    return _applied("threshold", input, inplace, threshold, value)


def softmin(input, dim=-1, dtype=None):
    """softmax of -input along dim."""
    return _F.softmax(-input, dim, dtype)


__all__ = ("celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish prelu relu relu6 rrelu selu sigmoid "
           "silu softmin softplus softshrink softsign tanh tanhshrink threshold").split()
