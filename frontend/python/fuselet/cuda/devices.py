"""Which CUDA devices there are, and which one is current."""

from __future__ import annotations

import os
import sys

from .. import _C

DeviceProperties = _C.cuda.DeviceProperties


def _add_wheels():
    """NVIDIA's wheels lie in the site-packages folders of this interpreter; the loader learns of those."""
    for folder in sys.path:
        if os.path.basename(folder) in ("site-packages", "dist-packages"):
            _C.cuda.add_library_folder(folder)


_add_wheels()


def index_of(device):
    """The number of a device given as None (the current one), a number, a name, or a fuselet.device."""
    if device is None:
        return _C.cuda.current_device()
    if isinstance(device, int):
        return device
    given = device if isinstance(device, _C.device) else _C.device(device)
    if given.type != "cuda":
        raise ValueError(f"expected a CUDA device, got {given}")
    return given.index


def is_available():
    """Whether there is a CUDA device. Never raises; why_not_available() says what is missing."""
    return _C.cuda.is_available()


def why_not_available():
    """What is missing where is_available() is false; else an empty string."""
    return _C.cuda.why_not_available()


def is_simulated():
    """Whether the device is the simulated one (FUSELET_CUDA=sim)."""
    return _C.cuda.is_simulated()


def is_initialized():
    """Whether the driver has been loaded, which the first use does."""
    return _C.cuda.is_initialized()


def init():
    """Loads the driver; RuntimeError where there is none. The first use does the same."""
    _C.cuda.check_device(0)


def device_count():
    """The number of CUDA devices; 0 where is_available() is false."""
    return _C.cuda.device_count()


def current_device():
    """The number of the thread's current device, which "cuda" without a number means."""
    return _C.cuda.current_device()


def set_device(device):
    """Makes a device current for this thread. RuntimeError if there is no such device."""
    if isinstance(device, int) and device < 0:
        return
    _C.cuda.set_device(index_of(device))


class device:
    """Makes a device current within a `with` block; None or a negative number changes nothing."""

    def __init__(self, device):
        self.idx = -1 if device is None else index_of(device)
        self._saved = None

    def __enter__(self):
        if self.idx >= 0:
            self._saved = current_device()
            _C.cuda.set_device(self.idx)
        return self

    def __exit__(self, *exception):
        if self._saved is not None:
            _C.cuda.set_device(self._saved)
            self._saved = None


def get_device_properties(device=None):
    """A DeviceProperties: name, major, minor, total_memory, multi_processor_count, …; memories in bytes."""
    return _C.cuda.device_properties(index_of(device))


def get_device_name(device=None):
    """The device's name, as the driver gives it."""
    return get_device_properties(device).name


def get_device_capability(device=None):
    """The compute capability as (major, minor)."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def is_bf16_supported():
    """Whether the current device calculates in bfloat16: compute capability 8.0 or later."""
    return is_available() and get_device_capability()[0] >= 8


def get_arch_list():
    """The architectures of this machine's devices; code is generated for those that are there."""
    return sorted({"sm_%d%d" % get_device_capability(i) for i in range(device_count())})


def synchronize(device=None):
    """Waits for all work of a device. Does nothing where no driver has been loaded."""
    if is_initialized() or device is not None:
        _C.cuda.synchronize(index_of(device))
