"""Dropout: of elements, and of whole channels.

inplace is accepted; the result is a new tensor.
"""

from __future__ import annotations

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


class Dropout1d(Dropout):
    """While training, whole channels of (N, C, L) or (C, L) zeroed with probability p, the rest scaled by 1 / (1 - p)."""

    def forward(self, input):
        return F.dropout1d(input, self.p, self.training)


class Dropout2d(Dropout):
    """While training, whole channels of (N, C, H, W) or (C, H, W) zeroed with probability p, the rest scaled."""

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training)


class Dropout3d(Dropout):
    """While training, whole channels of (N, C, D, H, W) or (C, D, H, W) zeroed with probability p, the rest scaled."""

    def forward(self, input):
        return F.dropout3d(input, self.p, self.training)


class AlphaDropout(Dropout):
    """While training, elements set with probability p to SELU's lower limit, then all of them scaled and shifted so that mean
    0 and variance 1 stay (Klambauer et al. 2017)."""

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)
