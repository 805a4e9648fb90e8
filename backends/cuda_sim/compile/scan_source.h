// Finds the kernels of a CUDA source, and what the host compiler must be told after it.
//
// A kernel is an identifier between __global__ and a parenthesis (templates are left out); macros are not expanded.
#pragma once
#include <string>

namespace fuselet::cuda::sim {

// Text to append to the source: storage of its `extern __shared__` arrays, and the table of its kernels.
std::string end_of_source(const std::string& source);

// What a block may use on this device at most; the storage of one extern array.
inline constexpr unsigned kMaxSharedBytes = 227 * 1024;

}  // namespace fuselet::cuda::sim
