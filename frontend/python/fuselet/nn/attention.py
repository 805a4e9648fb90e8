"""Which implementation scaled_dot_product_attention may take; here there is one, made of the library's own operators."""

from __future__ import annotations

import contextlib
import enum


class SDPBackend(enum.IntEnum):
    """Implementations by the names that PyTorch has for them; MATH is the one that is here."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Inside, attention may take one of the backends. RuntimeError where MATH is not among them: there is no other."""
    allowed = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if SDPBackend.MATH not in allowed:
        raise RuntimeError(f"sdpa_kernel: only SDPBackend.MATH is here, got {[b.name for b in allowed]}")
    yield
