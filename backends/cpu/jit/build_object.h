// Keys and sources that memory does not hold to loaded kernels: from the disk's entry, else compiled.
#pragma once
#include <string>
#include <vector>

#include "backends/cpu/jit/cache_key.h"
#include "backends/cpu/jit/kernel_library.h"

namespace fuselet::cpu::jit {

// One result a key. Never throws for what the machine lacks: the remark says it.
std::vector<BuiltKernel> build_objects(const Toolchain& toolchain, const std::vector<const CacheKey*>& keys,
                                       const std::vector<const std::string*>& sources);

}  // namespace fuselet::cpu::jit
