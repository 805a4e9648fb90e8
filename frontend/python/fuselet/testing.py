"""Comparing results in tests."""

from __future__ import annotations

import collections.abc
import numbers

from . import _C, composed
from .making import as_tensor

# (rtol, atol) by dtype: a few units in the last place of numbers near 1.
_TOLERANCES = {_C.float64: (1e-7, 1e-7), _C.float32: (1.3e-6, 1e-5), _C.float16: (1e-3, 1e-5), _C.bfloat16: (1.6e-2, 1e-5)}


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """AssertionError unless |actual - expected| <= atol + rtol |expected| everywhere, in shape, dtype and device too.

    Takes tensors, arrays and numbers, and sequences and dicts of them. rtol and atol are given together or not at all; then
    the dtype decides (float32: 1.3e-6 and 1e-5; integers: exactly)."""
    if (rtol is None) != (atol is None):
        raise ValueError("assert_close: give both rtol and atol or neither")
    options = dict(rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=check_device, check_dtype=check_dtype,
                   check_stride=check_stride)
    problem = _problem(actual, expected, "", **options)
    if problem:
        raise AssertionError(msg(problem) if callable(msg) else msg or problem)


def _problem(actual, expected, place, **options):
    """What is wrong, or None."""
    if isinstance(expected, collections.abc.Mapping):
        if not isinstance(actual, collections.abc.Mapping) or set(actual) != set(expected):
            return f"the keys{place} differ: {list(actual)} and {list(expected)}"
        pairs = [(actual[k], expected[k], f"{place}[{k!r}]") for k in expected]
    elif isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return f"the sequences{place} have different lengths"
        pairs = [(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(actual, expected))]
    else:
        return _of_tensors(actual, expected, place, **options)
    return next((p for p in (_problem(a, b, at, **options) for a, b, at in pairs) if p), None)


def _of_tensors(actual, expected, place, rtol, atol, equal_nan, check_device, check_dtype, check_stride):
    if isinstance(actual, numbers.Number) and isinstance(expected, numbers.Number):
        check_dtype = False
    a, b = as_tensor(actual), as_tensor(expected)
    for what, checked, x, y in (("shapes", True, tuple(a.shape), tuple(b.shape)), ("dtypes", check_dtype, a.dtype, b.dtype),
                                ("devices", check_device, a.device, b.device), ("strides", check_stride, a.stride(), b.stride())):
        if checked and x != y:
            return f"the {what}{place} differ: {x} and {y}"
    if rtol is None:
        # The wider tolerance of both; exactly for integers.
        found = [_TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (a, b)]
        rtol, atol = (max(f[k] for f in found) for k in (0, 1))
    a, b = (t.detach().cpu().to(_C.float64) if t.is_floating_point() or rtol or atol else t.detach().cpu() for t in (a, b))
    close = composed.isclose(a, b, rtol, atol, equal_nan)
    wrong = close.numel() - int(close.sum().item())
    if not wrong:
        return None
    worst = (a.to(_C.float64) - b.to(_C.float64)).abs()
    return (f"{wrong} of {close.numel()} elements{place} differ by more than atol={atol} + rtol={rtol} |expected|; the greatest "
            f"difference is {worst.amax().item() if worst.numel() else 0}")
