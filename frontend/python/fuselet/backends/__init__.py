"""Settings of the backends."""

from . import cuda, cudnn
from .absent import mkldnn, mps

__all__ = ["cuda", "cudnn", "mkldnn", "mps"]
