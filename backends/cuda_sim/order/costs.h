// How long operations take on the virtual clock, in microseconds: orders of magnitude of an H200, for no decision may
// rest on them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuselet::cuda::sim {

inline constexpr double kOperationMicroseconds = 2;     // of any operation, beside its work
inline constexpr double kThreadsPerMicrosecond = 2e5;   // 132 multiprocessors, 2048 threads each, a µs or so a thread
inline constexpr double kBusBytesPerMicrosecond = 5e4;  // host to device and back: 50 GB/s
inline constexpr double kMemoryBytesPerMicrosecond = 4e6;  // 4 TB/s

inline double kernel_cost(uint64_t threads) {
  return kOperationMicroseconds + static_cast<double>(threads) / kThreadsPerMicrosecond;
}
inline double transfer_cost(size_t bytes) {
  return kOperationMicroseconds + static_cast<double>(bytes) / kBusBytesPerMicrosecond;
}
inline double memory_cost(size_t bytes) {
  return kOperationMicroseconds + static_cast<double>(bytes) / kMemoryBytesPerMicrosecond;
}

}  // namespace fuselet::cuda::sim
