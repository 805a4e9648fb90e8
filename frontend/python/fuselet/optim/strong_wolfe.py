"""A line search for the strong Wolfe conditions (Nocedal and Wright, Numerical Optimization, 2006: algorithms 3.5 and 3.6).

Of a function f of the step t along a descent direction, with f'(0) < 0, it finds a t with

    f(t) <= f(0) + c1 t f'(0)        and        |f'(t)| <= c2 |f'(0)|

by steps that grow until they bracket one, and then by cubic interpolation inside the bracket.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Point(NamedTuple):
    """A step with the function's value, its derivative along the direction, and the whole gradient."""

    t: float
    loss: float
    slope: float
    gradient: Any


def _cubic_minimum(a, b, low, high):
    """Where the cubic through both points with their slopes is smallest (formula 3.59), within [low, high]; the middle
    where it has no minimum, or a value is not finite."""
    try:
        d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
        d2 = math.copysign(math.sqrt(d1 * d1 - a.slope * b.slope), b.t - a.t)
        t = b.t - (b.t - a.t) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2)
    except (ValueError, ZeroDivisionError, OverflowError):
        t = math.nan
    return min(max(t, low), high) if math.isfinite(t) else (low + high) / 2


def strong_wolfe(evaluate, start, t, *, c1=1e-4, c2=0.9, most=25, narrowest=1e-9):
    """(the Point that was found, how often evaluate ran). evaluate(t) gives a Point; start is the one of 0, t the first step.

    After `most` evaluations, or in a bracket below `narrowest`, the lowest point that decreases f enough; start itself
    where there is none."""
    count, before = 0, start

    def is_high(point):
        return not math.isfinite(point.loss) or point.loss > start.loss + c1 * point.t * start.slope

    while count < most:
        now = evaluate(t)
        count += 1
        if is_high(now) or (count > 1 and now.loss >= before.loss):
            return _zoom(evaluate, start, before, now, is_high, c2, most - count, narrowest, count)
        if abs(now.slope) <= -c2 * start.slope:
            return now, count
        if now.slope >= 0:
            return _zoom(evaluate, start, now, before, is_high, c2, most - count, narrowest, count)
        t = _cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), 10 * now.t)
        before = now
    return before, count


def _zoom(evaluate, start, low, high, is_high, c2, most, narrowest, count):
    """The search inside a bracket, whose lowest point is low and towards whose other end f falls from there."""
    for _ in range(most):
        width = abs(high.t - low.t)
        if width < narrowest:
            break
        # Not too near to an end, so that the bracket shrinks.
        t = _cubic_minimum(low, high, min(low.t, high.t) + 0.1 * width, max(low.t, high.t) - 0.1 * width)
        now = evaluate(t)
        count += 1
        if is_high(now) or now.loss >= low.loss:
            high = now
            continue
        if abs(now.slope) <= -c2 * start.slope:
            return now, count
        if now.slope * (high.t - low.t) >= 0:
            high = low
        low = now
    return low, count
