"""Anomaly mode: backward() stops at the first node that gives a NaN and names the line of its forward call.

The mode belongs to the thread. It reads every gradient, so it is slow; in a compiled function it is refused.
"""

from __future__ import annotations

import threading

_mode = threading.local()


def is_anomaly_enabled():
    """Whether backward() of this thread looks for NaN."""
    return getattr(_mode, "on", False)


class set_detect_anomaly:
    """Switches the mode at once; as a context manager, until its end."""

    def __init__(self, mode, check_nan=True):
        self._before = is_anomaly_enabled()
        _mode.on = bool(mode) and check_nan

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        _mode.on = self._before


class detect_anomaly(set_detect_anomaly):
    """RuntimeError in a backward() inside, where a node gives a NaN; names the node and the line of its forward call."""

    def __init__(self, check_nan=True):
        self._check = check_nan
        self._before = is_anomaly_enabled()

    def __enter__(self):
        self._before = is_anomaly_enabled()
        _mode.on = self._check
        return self
