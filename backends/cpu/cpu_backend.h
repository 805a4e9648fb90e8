// The CPU backend's entry: makes its allocator and its kernels known to core.
#pragma once

namespace fuselet::cpu {

void register_cpu_backend();

}  // namespace fuselet::cpu
