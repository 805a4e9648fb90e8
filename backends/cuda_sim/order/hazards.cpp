#include "backends/cuda_sim/order/hazards.h"

#include <algorithm>

#include "backends/cuda_sim/memory/allocation.h"
#include "backends/cuda_sim/report/report.h"

namespace fuselet::cuda::sim {

namespace {

Clock& settled() {
  static auto* clock = new Clock;
  return *clock;
}

bool is_settled(const Place& place) { return place.tick <= settled().of(place.stream); }

bool happened_before(const Place& earlier, const Place& later) {
  if (earlier.graph_launch != 0 && earlier.graph_launch == later.graph_launch)
    return earlier.node == later.node || (*later.ancestors)[earlier.node];
  return earlier.tick <= later.clock->of(earlier.stream);
}

constexpr uint64_t kMostBuckets = 32;            // that a use of all of a block is kept in
constexpr uint64_t kSmallestBucket = 64 * 1024;  // bytes

// The stream alone orders them: they are not nodes of one launch.
bool ordered_by_stream(const Place& a, const Place& b) {
  return a.stream == b.stream && (a.graph_launch == 0 || a.graph_launch != b.graph_launch);
}

// Whoever conflicts with `older` conflicts with `newer`, a later one of the same stream.
bool makes_superfluous(const Use& newer, const Use& older) {
  return ordered_by_stream(newer.place, older.place) && newer.low <= older.low && newer.high >= older.high &&
         newer.is_write >= older.is_write;
}

std::string text_of(const Use& use) {
  return *use.what + (use.is_write ? " writes" : " reads") +
         (use.place.graph_launch ? format(" (node %d of a graph)", use.place.node) : "") +
         format(" on stream %u", use.place.stream);
}

}  // namespace

void Clock::set(uint32_t stream, uint32_t tick) {
  if (stream >= ticks.size()) ticks.resize(stream + 1, 0);
  ticks[stream] = std::max(ticks[stream], tick);
}

void Clock::merge(const Clock& other) {
  for (uint32_t s = 0; s < other.ticks.size(); ++s)
    if (other.ticks[s] != 0) set(s, other.ticks[s]);
}

void UseHistory::add(const Use& use, const Allocation& memory, uint64_t begin, uint64_t end) {
  uint64_t bucket_bytes = std::max(kSmallestBucket, (end - begin) / kMostBuckets + 1);
  if (buckets_.empty()) buckets_.resize((end - begin) / bucket_bytes + 1);
  bool is_reported = false;
  for (uint64_t b = (use.low - begin) / bucket_bytes; b <= (use.high - 1 - begin) / bucket_bytes; ++b) {
    auto& uses = buckets_[b];
    std::erase_if(uses, [&](const Use& old) { return is_settled(old.place) || makes_superfluous(use, old); });
    for (const Use& old : uses) {
      if (is_reported || !(old.is_write || use.is_write) || old.high <= use.low || use.high <= old.low) continue;
      if (happened_before(old.place, use.place)) continue;
      report_finding("hazard: " + text_of(use) + " " + describe(memory) + ", whose bytes " + text_of(old) +
                     "; no event or synchronisation orders the two");
      is_reported = true;
    }
    uses.push_back(use);
  }
}

void settle(const Clock& clock) { settled().merge(clock); }

}  // namespace fuselet::cuda::sim
