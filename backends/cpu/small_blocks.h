// Free lists for blocks of at most kMaxSmallBlock bytes: one set a thread, without locks, over one shared set.
//
// A thread's list that grows past its bound hands half to the shared list, so blocks that one thread makes and
// another frees keep circulating. A thread that ends hands over everything; blocks it frees after that go to the
// shared lists directly. Chunks that blocks are cut from are never returned to the system.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuselet::cpu {

inline constexpr size_t kMaxSmallBlock = 4096;  // bytes

// nullptr when the system gives no memory. 0 < bytes <= kMaxSmallBlock.
void* allocate_small(size_t bytes) noexcept;
void deallocate_small(void* block, size_t bytes) noexcept;

// Bytes of live small blocks that the calling thread gained and has not reported; they count as reported now.
int64_t take_small_bytes_delta() noexcept;

// Defined by the owner of the statistics; called with what a thread gained or lost once that passes kReportBytes.
inline constexpr int64_t kReportBytes = 64 * 1024;
void report_small_bytes(int64_t delta) noexcept;

}  // namespace fuselet::cpu
