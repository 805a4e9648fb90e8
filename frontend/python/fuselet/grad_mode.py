"""Switching the recording of gradients: context managers that are decorators as well.

The mode belongs to the thread: a thread of the user's starts with recording on.
"""

from __future__ import annotations

import functools
import inspect

from . import _C

is_grad_enabled = _C.is_grad_enabled


class _Mode:
    def __init__(self, on):
        self._on = on
        self._saved = []

    def __enter__(self):
        self._saved.append(_C.is_grad_enabled())
        _C._set_grad_enabled(self._on)
        return self

    def __exit__(self, *exception):
        _C._set_grad_enabled(self._saved.pop())

    def __call__(self, function):
        if inspect.isgeneratorfunction(function):
            raise TypeError("a generator function cannot be decorated with a grad mode; use a with block inside")

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with _Mode(self._on):
                return function(*args, **kwargs)

        return wrapped


class no_grad(_Mode):
    """Nothing inside is recorded."""

    def __new__(cls, function=None):
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()
        return made(function)

    def __init__(self, function=None):
        super().__init__(False)


class enable_grad(_Mode):
    """Recording, also inside no_grad."""

    def __init__(self):
        super().__init__(True)


class inference_mode(_Mode):
    """no_grad() under another name, or with mode=False nothing. Tensors made inside are ordinary ones."""

    def __new__(cls, mode=True):
        made = super().__new__(cls)
        if not callable(mode):
            return made
        made.__init__()
        return made(mode)

    def __init__(self, mode=True):
        super().__init__(not mode and _C.is_grad_enabled())


class set_grad_enabled(_Mode):
    """Switches recording at once; as a context manager, until its end."""

    def __init__(self, mode):
        super().__init__(bool(mode))
        self._before = _C.is_grad_enabled()
        _C._set_grad_enabled(bool(mode))

    def __enter__(self):
        self._saved.append(self._before)
        _C._set_grad_enabled(self._on)
        return self

    def __call__(self, function):
        _C._set_grad_enabled(self._before)
        return super().__call__(function)
