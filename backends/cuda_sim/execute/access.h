// The check of one load or store of a kernel: bounds, alignment, initialisation, races.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuselet::cuda::sim {

enum class Access : uint8_t { Read, Write, Atomic };

// Does not return if the access is a fault. `bytes` is at most 16 for Access::Atomic, anything otherwise.
void check_access(uintptr_t address, size_t bytes, Access access, const void* pc);

// Makes the module's shared memory that of a new block: filled with 0xff, and unwritten.
void begin_shared_memory();

}  // namespace fuselet::cuda::sim
