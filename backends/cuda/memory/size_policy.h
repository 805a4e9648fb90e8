// How many bytes a request takes, from what size of segment, and which free blocks may be cut for it.
//
// Blocks of up to 64 MiB are cut for any request, larger ones only for one of at least a fourth of them: so a small
// tensor never pins much more than four times its own size of memory that only a huge request can use.
// With max_split_size, blocks above it are never cut, and serve only requests that nearly fill them.
#pragma once
#include <cstddef>

#include "backends/cuda/memory/allocator_options.h"

namespace fuselet::cuda {

// bytes > 0. A multiple of 512.
size_t block_bytes(const AllocatorOptions& options, size_t bytes);
// The rest take bytes as block_bytes() gives them.
bool is_small_request(size_t bytes);
size_t segment_bytes(size_t bytes);

// Of a free block with at least `bytes`:
bool may_split(const AllocatorOptions& options, size_t block, size_t bytes);
// It may not be split, but so little of it would lie idle that it is handed out whole.
bool serves_whole(const AllocatorOptions& options, size_t block, size_t bytes);
// What remains behind `bytes` is worth a block of its own.
bool leaves_block(size_t block, size_t bytes, bool is_small);

}  // namespace fuselet::cuda
