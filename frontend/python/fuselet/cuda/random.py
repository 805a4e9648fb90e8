"""Seeds. One generator serves the CPU and every device: these are the functions of fuselet itself, which without a
device do nothing."""

from __future__ import annotations

from .. import _C
from .devices import is_available


def manual_seed(seed):
    """fuselet.manual_seed(seed), where there is a device."""
    if is_available():
        _C.default_generator.manual_seed(seed)


def manual_seed_all(seed):
    """manual_seed(seed)."""
    manual_seed(seed)


def seed():
    """A seed that is different every time."""
    if is_available():
        _C.default_generator.seed()


seed_all = seed


def initial_seed():
    """The default generator's seed."""
    return _C.default_generator.initial_seed()


def get_rng_state(device=None):
    """fuselet.get_rng_state()."""
    from .. import get_rng_state

    return get_rng_state()


def set_rng_state(state, device=None):
    """fuselet.set_rng_state(state)."""
    from .. import set_rng_state

    set_rng_state(state)
