// Copies that turn a matrix around, tile by tile, so that each cache line is read and written once.
#pragma once
#include <cstddef>

#include "backends/cpu/space.h"

namespace fuselet::cpu {

// Operand 0 is the target, 1 the source, of elements of `size` bytes each. Returns false, having done nothing, unless
// the source is dense along another dimension than the target and both are long enough to be worth it.
bool copy_transposed(const Space& space, std::byte* to, const std::byte* from, size_t size);

}  // namespace fuselet::cpu
