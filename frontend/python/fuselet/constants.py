"""Numbers and marks that are names of the package itself."""

from __future__ import annotations

import math

pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
newaxis = None


class memory_format:
    """An order of dimensions in memory: contiguous_format (row-major), channels_last (N, H, W, C), preserve_format."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"fuselet.{self.name}"


class layout:
    """How elements are stored; strided is the one that is here."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"fuselet.{self.name}"


contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")
strided = layout("strided")
