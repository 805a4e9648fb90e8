// Strided runs of elements, read into and written from dense blocks of a compute type, converted by the project's rule.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/compute_type.h"

namespace fuselet::cpu {

// Strides are in elements of the strided side; 0 repeats one element when loading.
using LoadBlock = void (*)(const void* from, int64_t stride, void* block, int64_t n);
using StoreBlock = void (*)(const void* block, void* to, int64_t stride, int64_t n);

LoadBlock load_block(DType from, ComputeType to);
StoreBlock store_block(ComputeType from, DType to);

// The same for elements of `size` bytes (1, 2, 4, 8) that stay as they are.
LoadBlock load_block_raw(size_t size);
StoreBlock store_block_raw(size_t size);

}  // namespace fuselet::cpu
