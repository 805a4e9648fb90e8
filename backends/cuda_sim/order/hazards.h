// Accesses of different operations to one allocation that nothing orders.
//
// Each operation carries a vector clock of what happened before it: its stream, the events waited for, what the host
// had seen done when it was submitted. Two uses of overlapping bytes, one of them a write, are a hazard unless one is
// in the other's clock; which ran first, and whether the result was right, does not matter. The bytes of a use are the
// hull of those touched, so two streams that interleave their elements within one allocation are reported as well.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fuselet::cuda::sim {

struct Allocation;

// How many operations of each stream have happened, by the stream's number.
struct Clock {
  std::vector<uint32_t> ticks;
  uint32_t of(uint32_t stream) const { return stream < ticks.size() ? ticks[stream] : 0; }
  void set(uint32_t stream, uint32_t tick);
  void merge(const Clock& other);
};

// Where a run stands among the others. The nodes of one launch of a graph are ordered by the graph's edges alone.
struct Place {
  uint32_t stream = 0, tick = 0;
  std::shared_ptr<const Clock> clock;
  uint64_t graph_launch = 0;  // 0: not a node
  int node = 0;
  const std::vector<bool>* ancestors = nullptr;  // of the node
};

struct Use {
  Place place;
  bool is_write = false;
  uint64_t low = 0, high = 0;
  std::shared_ptr<const std::string> what;  // "kernel softmax", "copy to the host"
};

// The uses of one block of cuMemAlloc, whoever owned its bytes at the time. They lie in buckets by address, so that a
// use meets few others.
class UseHistory {
 public:
  // Compares the use with earlier ones, reports a hazard, and keeps it. `memory` and [begin, end) are what it belongs
  // to and the block.
  void add(const Use& use, const Allocation& memory, uint64_t begin, uint64_t end);

 private:
  std::vector<std::vector<Use>> buckets_;
};

// Uses that this clock covers happened before everything that is yet to run; they are dropped as they are met.
void settle(const Clock& clock);

}  // namespace fuselet::cuda::sim
