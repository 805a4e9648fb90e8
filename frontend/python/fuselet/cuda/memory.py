"""Device memory: what is held, what is cached, and why it is out.

Freed memory is kept for later tensors. FUSELET_CUDA_ALLOC_CONF sets `max_split_size_mb`, `roundup_power2_divisions` and
`garbage_collection_threshold`. Questions start nothing: before a device's first tensor the numbers are 0.
"""

from __future__ import annotations

from .. import _C
from .devices import index_of

OutOfMemoryError = _C.OutOfMemoryError


def memory_stats(device=None):
    """All counters, by names such as "allocated_bytes.all.current": {quantity}.{all, large_pool, small_pool}.{current, peak,
    allocated, freed}."""
    return _C.cuda.memory_stats(index_of(device))


def memory_allocated(device=None):
    """Bytes that tensors hold, in whole blocks of at least 512 bytes."""
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device=None):
    """The largest memory_allocated() since the start or the last reset_peak_memory_stats()."""
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device=None):
    """Bytes taken from the driver: held by tensors, or cached for later ones."""
    return memory_stats(device)["reserved_bytes.all.current"]


def max_memory_reserved(device=None):
    """The largest memory_reserved() since the start or the last reset_peak_memory_stats()."""
    return memory_stats(device)["reserved_bytes.all.peak"]


def reset_peak_memory_stats(device=None):
    """Peaks become what is current."""
    _C.cuda.reset_peak_memory_stats(index_of(device))


reset_max_memory_allocated = reset_peak_memory_stats


def reset_accumulated_memory_stats(device=None):
    """Sums of what was taken and given back begin at 0 again; what is current stays."""
    _C.cuda.reset_accumulated_memory_stats(index_of(device))


def memory_summary(device=None, abbreviated=False):
    """memory_stats() as a table for people."""
    return _C.cuda.memory_summary(index_of(device))


def memory_snapshot(device=None):
    """Every segment of driver memory with its blocks, as dicts."""
    return _C.cuda.memory_snapshot(index_of(device))


def empty_cache():
    """Gives memory that no tensor holds a part of back to the driver."""
    _C.cuda.empty_cache()


def mem_get_info(device=None):
    """(free, total) bytes of the device, as its driver says."""
    return _C.cuda.mem_get_info(index_of(device))
