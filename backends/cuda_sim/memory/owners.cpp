#include "backends/cuda_sim/memory/owners.h"

#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/report/report.h"

namespace fuselet::cuda::sim {

namespace {

// Parts whose granules all have a later owner; predecessors may still name them.
std::vector<Allocation*>& displaced() {
  static auto* list = new std::vector<Allocation*>;
  return *list;
}
std::vector<Allocation*>& with_predecessors() {
  static auto* list = new std::vector<Allocation*>;
  return *list;
}

size_t first_granule(const Allocation& a) { return a.start / kGranule; }
size_t past_granule(const Allocation& a) { return (a.end + kGranule - 1) / kGranule; }
bool covers(const Allocation& a, uint64_t offset) {
  return first_granule(a) <= offset / kGranule && offset / kGranule < past_granule(a);
}

}  // namespace

void give_granules(Allocation& allocation) {
  for (size_t g = first_granule(allocation); g < past_granule(allocation); ++g) {
    Allocation* before = g_space.owners[g];
    g_space.owners[g] = &allocation;
    if (before == nullptr) continue;
    // A block of cuMemAlloc stays reachable through its parts.
    bool is_own_block = before == allocation.block;
    if (!is_own_block && (allocation.predecessors.empty() || allocation.predecessors.back() != before))
      allocation.predecessors.push_back(before);
    if (--before->granules == 0 && before->is_part()) displaced().push_back(before);
  }
  allocation.granules = past_granule(allocation) - first_granule(allocation);
  if (!allocation.predecessors.empty()) with_predecessors().push_back(&allocation);
}

const Allocation* living_part(const Allocation& allocation) {
  for (size_t g = first_granule(allocation); g < past_granule(allocation); ++g) {
    const Allocation* owner = g_space.owners[g];
    if (owner != nullptr && owner->is_part() && owner->died == kStillAlive) return owner;
  }
  return nullptr;
}

void end_parts(const Allocation& block) {
  for (size_t g = first_granule(block); g < past_granule(block); ++g) {
    Allocation* owner = g_space.owners[g];
    if (owner->is_part() && owner->died == kStillAlive) owner->died = block.died;
  }
}

Allocation* owner_at(uint64_t offset, uint64_t when) {
  Allocation* owner = g_space.owners[offset / kGranule];
  while (owner != nullptr && owner->born > when) {
    // Of those that had the granule in turn, the one that had it last.
    Allocation* earlier = owner->block;
    for (Allocation* predecessor : owner->predecessors) {
      if (covers(*predecessor, offset) && (earlier == owner->block || predecessor->born > earlier->born))
        earlier = predecessor;
    }
    owner = earlier;
  }
  return owner;
}

void sweep_allocations() {
  constexpr size_t kWorthwhile = 1024;
  if (displaced().size() < kWorthwhile) return;
  for (Allocation* allocation : with_predecessors()) allocation->predecessors.clear();
  with_predecessors().clear();
  for (Allocation* allocation : displaced()) delete allocation;
  displaced().clear();
}

}  // namespace fuselet::cuda::sim
