// Keys and sources that memory does not hold to loaded kernels: from the disk's entry, else compiled.
#pragma once
#include <string>
#include <vector>

#include "backends/cpu/jit/kernel_library.h"
#include "backends/cpu/jit/toolchain.h"
#include "backends/jit/cache_key.h"

namespace fuselet::cpu::jit {

using fuselet::jit::CacheKey;

// Raised when what generated units expect of the library changes: the entry's arguments, Runtime, GeneratorState.
inline constexpr int kInterfaceVersion = 1;

// Compiler, flags, processor, version of the interface, and the source.
CacheKey key_of(const Toolchain& toolchain, const std::string& source);

struct BuildOrder {
  const CacheKey* key;
  const std::string* source;
};

// One result an order; what the disk does not hold is compiled, as many at a time as there are processors. Never throws
// for what the machine lacks: the remark says it.
std::vector<BuiltKernel> build_objects(const Toolchain& toolchain, const std::vector<BuildOrder>& orders);

}  // namespace fuselet::cpu::jit
