"""Dropout: of elements, and of whole channels.

inplace is accepted; the result is a new tensor.
"""

from __future__ import annotations

from ..making import ones
from . import functional as F
from .module import Module


class Dropout(Module):
    """While training, elements zeroed with probability p and the rest scaled by 1 / (1 - p)."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: the probability must lie in [0, 1], got {p}")
        self.p = p

    def forward(self, input):
        return F.dropout(input, self.p, self.training)

    def extra_repr(self):
        return f"p={self.p}"


class _ChannelDropout(Dropout):
    spatial = 1

    def forward(self, input):
        rank = input.dim()
        if rank not in (self.spatial + 1, self.spatial + 2):
            raise RuntimeError(f"{type(self).__name__}: expected {self.spatial + 2} dimensions (or {self.spatial + 1} without a "
                               f"batch), got shape {list(input.shape)}")
        if not self.training or self.p == 0:
            return input
        shape = list(input.shape[:rank - self.spatial]) + [1] * self.spatial
        return input * F.dropout(ones(shape, dtype=input.dtype, device=input.device), self.p, True)


class Dropout1d(_ChannelDropout):
    """While training, whole channels of (N, C, L) or (C, L) zeroed with probability p, the rest scaled by 1 / (1 - p)."""


class Dropout2d(_ChannelDropout):
    """While training, whole channels of (N, C, H, W) or (C, H, W) zeroed with probability p, the rest scaled."""

    spatial = 2


class Dropout3d(_ChannelDropout):
    """While training, whole channels of (N, C, D, H, W) or (C, D, H, W) zeroed with probability p, the rest scaled."""

    spatial = 3


class AlphaDropout(Dropout):
    """While training, elements set with probability p to SELU's lower limit, then all of them scaled and shifted so that mean
    0 and variance 1 stay (Klambauer et al. 2017)."""

    def forward(self, input):
        if not self.training or self.p == 0:
            return input
        low = -1.7580993408473766
        if self.p == 1:
            return input * 0
        keep = F.dropout(ones(input.shape, dtype=input.dtype, device=input.device), self.p, True) != 0
        scale = ((1 - self.p) * (1 + self.p * low * low)) ** -0.5
        return input.where(keep, low) * scale - scale * self.p * low
