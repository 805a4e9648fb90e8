"""Numbers of Poisson's distribution, drawn exactly.

Rates below 10 count how many terms of the distribution function a uniform number exceeds. Larger ones take the
transformed rejection of Hörmann (1993, algorithm PTRS), whose rounds the host repeats until every element has been accepted.
All is worked out in double precision.
"""

from __future__ import annotations

import math

from . import _C
from .grad_mode import no_grad

_F = _C.functions

_SPLIT = 10.0
# Of a rate below 10 the terms after the 60th weigh less than 2^-53.
_TERMS = 60


def _log_factorial(k):
    """log(k!) by Stirling's series at k + 9, from where on 5 terms are exact to double precision."""
    x = k + 9.0
    square = x * x
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / x
    below = k + 1.0
    for i in range(2, 9):
        below = below * (k + float(i))
    return (x - 0.5) * x.log() - x + 0.5 * math.log(2 * math.pi) + series - below.log()


def _small(rate, uniform):
    term = (-rate).exp()
    reached, count = term, _F.zeros_like(rate)
    for k in range(1, _TERMS + 1):
        count = count + (uniform >= reached).to(_C.float64)
        term = term * rate / float(k)
        reached = reached + term
    return count


def _large(rate, draw):
    b = 0.931 + 2.53 * rate.sqrt()
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    found, waiting = _F.zeros_like(rate), _F.ones_like(rate, dtype=_C.bool)
    while waiting.any():
        u, v = draw() - 0.5, 1 - draw()
        us = 0.5 - u.abs()
        k = ((2 * a / us + b) * u + rate + 0.43).floor()
        # At once where the hat lies close; else by the ratio of the densities.
        surely = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        possible = (k >= 0) & ((us >= 0.013) | (v <= us))
        safe = _F.where(possible, k, 0.0)
        likely = (v * inverse_alpha / (a / (us * us) + b)).log() <= safe * rate.log() - rate - _log_factorial(safe)
        found = _F.where(waiting & (surely | (possible & likely)), k, found)
        waiting = waiting & ~(surely | (possible & likely))
    return found


def poisson(input, generator=None):
    """How many events happen where input's elements say how many there are in the mean: whole numbers in input's shape and
    dtype, without a gradient.

    Floating. Takes draws of the generator, as many as the slowest element needs. RuntimeError for a negative rate, NaN or
    infinity, or another dtype; NotImplementedError in a compiled function, for the host waits until all are accepted."""
    if not input.is_floating_point():
        raise RuntimeError(f"poisson: the rates must be floating, got {input.dtype}")
    if _C._is_inside_compiled_function():
        raise NotImplementedError("poisson: the number of its draws depends on them, which a compiled function cannot have; call it outside")
    with no_grad():
        rate = input.to(_C.float64)
        if not ((rate >= 0) & _F.isfinite(rate)).all():
            raise RuntimeError("poisson: the rates must be finite and not negative")

        def draw():
            return _F.rand(rate.shape, dtype=_C.float64, device=input.device, generator=generator)

        small = rate < _SPLIT
        drawn = _small(_F.where(small, rate, 0.0), draw())
        if not small.all():
            drawn = _F.where(small, drawn, _large(_F.where(small, _SPLIT, rate), draw))
        return drawn.to(input.dtype)


__all__ = ["poisson"]
