"""In-place forms of Tensor for functions that the operator table gives none: name_(…) writes name(…) into self, cast to its
dtype, and returns self. What the gradient needs of self is kept from before.

Those that only change the shape (squeeze_, transpose_, …) are for tensors outside of autograd and of compiled functions:
one that requires grad is refused under no_grad() as well, where PyTorch reshapes a leaf.
"""

from __future__ import annotations

import functools
import math

from . import _C, composed, contracting, selecting
from .dtype_rules import can_cast
from .grad_mode import no_grad

_F = _C.functions

WRITTEN = {name: getattr(_F, name) for name in ("eq ne lt le gt ge logical_and logical_or logical_xor logical_not less less_equal "
                                                "greater greater_equal not_equal").split()}
WRITTEN |= {name: getattr(composed, name) for name in "deg2rad float_power heaviside rad2deg sgn sinc".split()}
WRITTEN |= {name: getattr(contracting, name) for name in "addbmm addmm addmv addr baddbmm".split()}
WRITTEN["index_reduce"] = selecting.index_reduce

RESHAPED = "squeeze swapaxes swapdims t transpose unsqueeze".split()


def _written(name, function):
    @functools.wraps(function)
    def method(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        if tuple(result.shape) != tuple(self.shape):
            raise RuntimeError(f"{name}_: the result of shape {list(result.shape)} does not fit self of shape {list(self.shape)}")
        if not can_cast(result.dtype, self.dtype):
            raise RuntimeError(f"{name}_: the result is {result.dtype}, which self, of {self.dtype}, cannot hold")
        return self.copy_(result)

    method.__name__, method.__doc__ = name + "_", f"{name}() into self, which is returned."
    return method


def _reshaped(name):
    def method(self, *args, **kwargs):
        if self.requires_grad:
            raise RuntimeError(f"{name}_: self requires grad, and its shape is part of the graph; use {name}()")
        self.data = getattr(self, name)(*args, **kwargs)
        return self

    method.__name__ = name + "_"
    method.__doc__ = f"self takes the shape of {name}(), over the same memory. RuntimeError if it requires grad, under no_grad() too."
    return method


def fill_diagonal_(self, fill_value, wrap=False):
    """Writes a number to the elements whose indices are all equal: of a matrix, or of more dimensions of one size. wrap: in a
    tall matrix the diagonal begins again, one row below the last column. RuntimeError for other shapes."""
    sizes = list(self.shape)
    if len(sizes) < 2 or (len(sizes) > 2 and len(set(sizes)) > 1):
        raise RuntimeError(f"fill_diagonal_: expected a matrix, or dimensions of one size, got shape {sizes}")
    at = _F.arange(self.numel(), device=self.device)
    step = sum(sizes[-1] ** d for d in range(len(sizes)))
    if len(sizes) == 2:
        step = sizes[1] + 1
    on = at % step == 0
    if len(sizes) == 2 and not wrap:
        on = _F.logical_and(on, at < sizes[1] ** 2)
    return self.masked_fill_(on.view(sizes), fill_value)


def _drawn(self, number_of, generator):
    """self with number_of(uniform numbers in (0, 1]) written into it, without recording; one draw of the generator."""
    with no_grad():
        uniform = 1 - _F.rand(self.shape, dtype=_C.float64, device=self.device, generator=generator)
        return self.copy_(number_of(uniform))


def geometric_(self, p, *, generator=None):
    """Writes how many trials it takes to succeed, each with probability p: P(k) = (1 - p)^(k - 1) p. One draw of the
    generator. RuntimeError unless p lies in (0, 1)."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_: p must lie in (0, 1), got {p}")
    return _drawn(self, lambda u: (u.log() / math.log1p(-p)).ceil().clamp(min=1), generator)


def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Writes numbers of Cauchy's distribution: median + sigma tan(pi (u - 1/2)). One draw of the generator. RuntimeError unless
    sigma is positive and self floating."""
    if sigma <= 0 or not self.is_floating_point():
        raise RuntimeError(f"cauchy_: expected a positive sigma and a floating tensor, got {sigma} and {self.dtype}")
    return _drawn(self, lambda u: ((u - 0.5) * math.pi).tan() * sigma + median, generator)


def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    """Writes exp of normal numbers of that mean and standard deviation. One draw of the generator. RuntimeError unless std is
    positive and self floating."""
    if std <= 0 or not self.is_floating_point():
        raise RuntimeError(f"log_normal_: expected a positive std and a floating tensor, got {std} and {self.dtype}")
    with no_grad():
        return self.copy_((_F.randn(self.shape, dtype=_C.float64, device=self.device, generator=generator) * std + mean).exp())


METHODS = {**{name + "_": _written(name, function) for name, function in WRITTEN.items()},
           **{name + "_": _reshaped(name) for name in RESHAPED},
           "cauchy_": cauchy_, "fill_diagonal_": fill_diagonal_, "geometric_": geometric_, "log_normal_": log_normal_}
