"""The Kullback-Leibler divergence of two distributions of one kind, in closed form."""

from __future__ import annotations

from .continuous import Normal
from .discrete import Bernoulli, Categorical


def kl_divergence(p, q):
    """The mean of log p - log q under p, in nats; NotImplementedError for kinds without a known form."""
    if isinstance(p, Normal) and isinstance(q, Normal):
        ratio, distance = (p.scale / q.scale).square(), ((p.loc - q.loc) / q.scale).square()
        return (ratio + distance - 1 - ratio.log()) / 2
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        return (p.probs * (p.logits - q.logits)).sum(-1)
    if isinstance(p, Bernoulli) and isinstance(q, Bernoulli):
        return p.probs * (p.logits - q.logits) + _log_none(p) - _log_none(q)
    raise NotImplementedError(f"kl_divergence: no form for {type(p).__name__} and {type(q).__name__}")


def _log_none(d):
    """log(1 - probs)."""
    return d.log_prob(d.probs * 0)
