"""CUDA devices: streams, events, memory. Names and behaviour as in PyTorch.

Nothing is loaded before the first use. The environment variable FUSELET_CUDA chooses the device: `auto` (an NVIDIA
driver where there is one), `off`, or `sim` (a simulated device on the CPU, for tests).

Random numbers: one generator serves the CPU and every device, so the same seed gives the same numbers everywhere.
"""

from .devices import (DeviceProperties, current_device, device, device_count, get_arch_list, get_device_capability, get_device_name,
                      get_device_properties, init, is_available, is_bf16_supported, is_initialized, is_simulated, set_device,
                      synchronize, why_not_available)
from .memory import (OutOfMemoryError, empty_cache, max_memory_allocated, max_memory_reserved, mem_get_info, memory_allocated,
                     memory_reserved, memory_snapshot, memory_stats, memory_summary, reset_accumulated_memory_stats,
                     reset_max_memory_allocated, reset_peak_memory_stats)
from .random import get_rng_state, initial_seed, manual_seed, manual_seed_all, seed, seed_all, set_rng_state
from .streams import Event, Stream, current_stream, default_stream, set_stream, sleep, stream

_sleep = sleep
