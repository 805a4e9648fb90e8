// Host memory of cuMemHostAlloc. Kernels may touch it at the host's address, as under unified addressing; what they do
// there is not looked at for races or unwritten bytes, since the host takes part unseen.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuselet::cuda::sim {

void add_pinned(uintptr_t start, size_t bytes);
// False if no block starts there.
bool remove_pinned(uintptr_t start);
// Whether [at, at + bytes) lies in one block.
bool is_pinned(uintptr_t at, size_t bytes);

}  // namespace fuselet::cuda::sim
