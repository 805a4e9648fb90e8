"""The accelerator of this machine, whichever it is: a CUDA device, or none."""

from __future__ import annotations

from . import _C, cuda


def is_available():
    """Whether there is one."""
    return cuda.is_available()


def device_count():
    """How many there are."""
    return cuda.device_count() if cuda.is_available() else 0


def current_accelerator(check_available=False):
    """Its device without a number, fuselet.device("cuda"), or None where there is none."""
    return _C.device("cuda") if cuda.is_available() else None


def current_device_index():
    """The number of the device that is chosen."""
    return cuda.current_device()


current_device_idx = current_device_index


def set_device_index(device):
    """Chooses a device, as fuselet.cuda.set_device."""
    cuda.set_device(device)


set_device_idx = set_device_index


def device_index(device):
    """A context in which that device is chosen; None changes nothing."""
    return cuda.device(-1 if device is None else device)


def current_stream(device=None):
    """The stream that operators run on."""
    return cuda.current_stream(device)


def set_stream(stream):
    """Operators run on that stream from now on."""
    cuda.set_stream(stream)


def synchronize(device=None):
    """Waits for all work of the device."""
    cuda.synchronize(device)


def empty_cache():
    """Gives unused memory back to the driver."""
    cuda.empty_cache()


def memory_allocated(device=None):
    """Bytes that tensors take."""
    return cuda.memory_allocated(device)


def max_memory_allocated(device=None):
    """The most bytes that tensors have taken."""
    return cuda.max_memory_allocated(device)


def memory_reserved(device=None):
    """Bytes that the allocator holds."""
    return cuda.memory_reserved(device)
