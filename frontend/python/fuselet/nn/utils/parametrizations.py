"""Ready parametrisations."""

from __future__ import annotations

from ..module import Module
from .parametrize import register_parametrization
from .weight_norm import norm_except, normalized


class _WeightNorm(Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, g, v):
        return normalized(g, v, self.dim)

    def right_inverse(self, weight):
        return norm_except(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """module.<name> = g v / |v|, the norm taken over all dimensions but `dim`; g is original0, v original1."""
    return register_parametrization(module, name, _WeightNorm(dim))
