// Hand-written kernels: CUDA C++ as text, built on first use through the cache of modules.
//
// A source includes nothing, sees no standard library and names its one kernel `kernel`, extern "C", which takes one
// struct by value and gives each thread one index; it runs on devices and on the simulated device alike.
#pragma once
#include <cstdint>
#include <string>

#include "core/device.h"

namespace fuselet::cuda {

// Threads of a block in every launch.
inline constexpr unsigned kTextKernelThreads = 256;

// At least `count` threads, one an element; none launches nothing. `args`: the struct, as the source declares it. Error
// where the text does not compile.
void launch_text_kernel(const std::string& source, int64_t count, const void* args, Device device);

template <class Args>
void launch_text_kernel(const std::string& source, int64_t count, const Args& args, Device device) {
  launch_text_kernel(source, count, static_cast<const void*>(&args), device);
}

}  // namespace fuselet::cuda
