"""The default generator: its seed and its state.

Random numbers do not depend on the device: one generator serves the CPU and CUDA devices alike.
"""

from __future__ import annotations

import contextlib

from . import _C
from .making import tensor
from .tensor_class import Tensor

default_generator = _C.default_generator


def manual_seed(seed):
    """Seeds the default generator and starts its draws anew; returns it. A negative seed counts from 2^64."""
    return default_generator.manual_seed(int(seed) % (1 << 64))


def initial_seed():
    """The seed of the default generator."""
    return default_generator.initial_seed()


def seed():
    """Seeds the default generator by chance, and gives that seed."""
    return default_generator.seed()


def get_rng_state():
    """The default generator's (seed, draws), as an int64 tensor."""
    # A seed of 64 bits as a signed number.
    return tensor([s - (1 << 64) if s >> 63 else s for s in default_generator.get_state()], dtype=_C.int64, device="cpu")


def set_rng_state(new_state):
    """Takes over what get_rng_state() gave."""
    numbers = new_state.tolist() if isinstance(new_state, Tensor) else list(new_state)
    default_generator.set_state(tuple(s & ((1 << 64) - 1) for s in numbers))


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, device_type="cuda"):
    """Afterwards the default generator is as it was before."""
    before = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(before)
