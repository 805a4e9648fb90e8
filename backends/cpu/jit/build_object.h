// Keys and sources that memory does not hold to loaded kernels: from the disk's entry, else compiled.
#pragma once
#include <string>
#include <vector>

#include "backends/cpu/jit/cache_key.h"
#include "backends/cpu/jit/kernel_library.h"

namespace fuselet::cpu::jit {

struct BuildOrder {
  const CacheKey* key;
  const std::string* source;
};

// One result an order; what the disk does not hold is compiled, as many at a time as there are processors. Never throws
// for what the machine lacks: the remark says it.
std::vector<BuiltKernel> build_objects(const Toolchain& toolchain, const std::vector<BuildOrder>& orders);

}  // namespace fuselet::cpu::jit
