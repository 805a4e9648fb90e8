"""Distributions of real numbers."""

from __future__ import annotations

import math

from .. import _C
from .distribution import Distribution, as_tensors

_F = _C.functions


class Normal(Distribution):
    """Of mean loc and standard deviation scale."""

    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = as_tensors(loc, scale)
        if not (self.scale.detach() > 0).all().item():
            raise ValueError("Normal: scale must be positive")
        super().__init__(self.loc.shape)

    mean = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale * self.scale)

    def rsample(self, sample_shape=()):
        return self.loc + self.scale * _F.randn(self._extended(sample_shape), dtype=self.loc.dtype, device=self.loc.device)

    def log_prob(self, value):
        return -((value - self.loc) / self.scale).square() / 2 - self.scale.log() - math.log(2 * math.pi) / 2

    def cdf(self, value):
        """The probability of less than the value."""
        return (1 + ((value - self.loc) / (self.scale * math.sqrt(2))).erf()) / 2

    def entropy(self):
        return self.scale.log() + (1 + math.log(2 * math.pi)) / 2


class Uniform(Distribution):
    """Of [low, high)."""

    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = as_tensors(low, high)
        if not (self.low.detach() < self.high.detach()).all().item():
            raise ValueError("Uniform: low must be less than high")
        super().__init__(self.low.shape)

    mean = property(lambda self: (self.low + self.high) / 2)
    variance = property(lambda self: (self.high - self.low).square() / 12)

    def rsample(self, sample_shape=()):
        drawn = _F.rand(self._extended(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value):
        inside = _F.logical_and(value >= self.low, value < self.high)
        return _F.where(inside, -(self.high - self.low).log(), -math.inf)

    def entropy(self):
        return (self.high - self.low).log()
