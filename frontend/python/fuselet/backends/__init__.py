"""Settings of the backends."""

from . import cuda

__all__ = ["cuda"]
