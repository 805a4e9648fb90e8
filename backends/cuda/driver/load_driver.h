// The tables of driver_api.h, filled on first use; nothing is loaded before.
//
// FUSELET_CUDA chooses: auto (default) loads libcuda.so.1 and NVRTC; off has no device; sim loads
// libfuselet_cuda_sim.so from beside this library. The variable is read once.
#pragma once
#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda {

// Initialised (cuInit). Error: which library is missing, where it was looked for, what to install; or that the process
// is a child of fork() whose parent had loaded the driver, which does not survive that.
const DriverApi& driver();
// Error likewise; a driver without NVRTC still serves memory and copies.
const NvrtcApi& nvrtc();
// NVRTC itself, whatever the device: it compiles without one. Error as above.
const NvrtcApi& nvrtc_library();

// Whether there is a driver with at least one device. Never throws.
bool is_available() noexcept;
// Why there is none, for users; empty where there is one.
const char* why_not_available() noexcept;

// False before the first use, so that questions about memory need not load anything.
bool is_driver_loaded() noexcept;
// Static destructors run, and the driver's own may have run already; or the driver is the parent's (see driver()):
// nothing may be called any more.
bool is_shutting_down() noexcept;

}  // namespace fuselet::cuda
