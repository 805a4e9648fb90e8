#include "backends/cuda_sim/memory/pinned_ranges.h"

#include <iterator>
#include <map>

namespace fuselet::cuda::sim {
namespace {

std::map<uintptr_t, size_t>& blocks() {
  static auto* blocks = new std::map<uintptr_t, size_t>;
  return *blocks;
}

}  // namespace

void add_pinned(uintptr_t start, size_t bytes) { blocks()[start] = bytes; }
bool remove_pinned(uintptr_t start) { return blocks().erase(start) == 1; }

bool is_pinned(uintptr_t at, size_t bytes) {
  auto after = blocks().upper_bound(at);
  if (after == blocks().begin()) return false;
  auto block = std::prev(after);
  return at + bytes <= block->first + block->second;
}

}  // namespace fuselet::cuda::sim
