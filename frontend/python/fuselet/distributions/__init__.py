"""Probability distributions: samples, log probabilities, entropies."""

from .discrete import Bernoulli, Categorical
from .distribution import Distribution
from .divergence import kl_divergence
from .continuous import Normal, Uniform

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal", "Uniform", "kl_divergence"]
