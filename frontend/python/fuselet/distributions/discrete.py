"""Distributions of whole numbers, given by probabilities or by logits."""

from __future__ import annotations

from .. import _C
from ..grad_mode import no_grad
from ..making import multinomial
from ..nn import functional as F
from .distribution import Distribution, as_tensors

_F = _C.functions


def _one_of(name, probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError(f"{name}: give either probs or logits")


class Categorical(Distribution):
    """Of 0 … C-1: probs (…, C), not negative and not all 0, are scaled to the sum 1; logits (…, C) are unscaled logarithms."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of("Categorical", probs, logits)
        if probs is not None:
            if probs.dim() < 1 or not ((probs.detach() >= 0).all().item() and (probs.detach().sum(-1) > 0).all().item()):
                raise ValueError("Categorical: probs must not be negative and have a positive sum along the last dimension")
            self.probs = probs / probs.sum(-1, keepdim=True)
            tiny = {_C.float16: 2.0 ** -10, _C.bfloat16: 2.0 ** -7, _C.float64: 2.0 ** -52}.get(probs.dtype, 2.0 ** -23)
            # An impossible value has a finite logit, so that 0 log 0 is 0.
            self.logits = self.probs.clamp(tiny, 1 - tiny).log()
        else:
            self.logits = F.log_softmax(logits, -1)
            self.probs = F.softmax(logits, -1)
        super().__init__(self.logits.shape[:-1])
        self._count = self.logits.size(-1)

    def sample(self, sample_shape=()):
        with no_grad():
            count = 1
            for n in sample_shape:
                count *= n
            drawn = multinomial(self.probs.reshape(-1, self._count), count, True)
            return drawn.transpose(0, 1).reshape(self._extended(sample_shape))

    def log_prob(self, value):
        value = value.to(_C.int64)
        shape = list((value.unsqueeze(-1) * 0 + self.logits.detach() * 0).shape)
        return self.logits.expand(shape).gather(-1, value.unsqueeze(-1).expand(shape[:-1] + [1])).squeeze(-1)

    def entropy(self):
        return -(self.probs * self.logits).sum(-1)

    @property
    def mode(self):
        """The most probable value."""
        return self.probs.argmax(-1)


class Bernoulli(Distribution):
    """1 with probability probs = sigmoid(logits), else 0."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of("Bernoulli", probs, logits)
        (given,) = as_tensors(probs if logits is None else logits)
        if logits is None:
            if not _F.logical_and(given.detach() >= 0, given.detach() <= 1).all().item():
                raise ValueError("Bernoulli: probs must lie in [0, 1]")
            self.probs = given
            inside = given.clamp(1.2e-7, 1 - 1.2e-7)
            self.logits = inside.log() - _F.log1p(-inside)
        else:
            self.logits, self.probs = given, given.sigmoid()
        super().__init__(given.shape)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        with no_grad():
            drawn = _F.rand(self._extended(sample_shape), device=self.probs.device)
            return (drawn < self.probs).to(self.probs.dtype)

    def log_prob(self, value):
        logits = self.logits.expand((self.logits.detach() + value * 0).shape)
        return -(_F.maximum(logits, 0) - logits * value + _F.log1p((-logits.abs()).exp()))

    def entropy(self):
        return -self.log_prob(self.probs)
