// Dinic's cut against every cut there is.
#include "compiler/partition/max_flow.h"

#include <doctest/doctest.h>

#include <random>

using namespace fuselet::partition;

namespace {

struct Edge {
  int32_t from, to;
  int64_t capacity;
};

// The capacity that leads from the vertices of `side` out of it.
int64_t capacity_of(const std::vector<Edge>& edges, uint32_t side) {
  int64_t sum = 0;
  for (const Edge& e : edges) {
    if ((side >> e.from & 1) && !(side >> e.to & 1)) sum += e.capacity;
  }
  return sum;
}

}  // namespace

TEST_CASE("the minimum cut is that of all cuts, and of equal ones the closest to the sink, on 1,000 random graphs") {
  std::mt19937 random(7);
  auto below = [&](uint32_t n) { return static_cast<int32_t>(random() % n); };
  for (int round = 0; round < 1000; ++round) {
    int32_t n = 2 + below(11);
    std::vector<Edge> edges;
    int32_t count = below(static_cast<uint32_t>(3 * n)) + 1;
    for (int32_t i = 0; i < count; ++i)
      edges.push_back({below(static_cast<uint32_t>(n)), below(static_cast<uint32_t>(n)), below(6)});
    MaxFlow flow(n);
    for (const Edge& e : edges) flow.add_edge(e.from, e.to, e.capacity);
    int64_t found = static_cast<int64_t>(flow.run(0, 1));
    int64_t best = INT64_MAX;
    uint32_t union_of_best = 0;  // minimum cuts are closed under union: this is the one closest to the sink
    for (uint32_t side = 0; side < (1u << n); ++side) {
      if (!(side & 1) || (side & 2)) continue;
      int64_t c = capacity_of(edges, side);
      if (c < best) union_of_best = 0;
      if (c <= best) union_of_best |= side;
      best = std::min(best, c);
    }
    std::vector<bool> side = flow.source_side();
    uint32_t got = 0;
    for (int32_t v = 0; v < n; ++v) got |= static_cast<uint32_t>(side[static_cast<size_t>(v)]) << v;
    REQUIRE(found == best);
    REQUIRE(got == union_of_best);
  }
}

TEST_CASE("a path of uncuttable edges has no cut, and a long chain needs no stack") {
  constexpr int32_t kLong = 200000;
  for (bool cuttable : {false, true}) {
    MaxFlow flow(kLong);
    for (int32_t v = 0; v + 1 < kLong; ++v) flow.add_edge(v, v + 1, cuttable && v == 777 ? Capacity{5} : kUncuttable);
    Capacity cut = flow.run(0, kLong - 1);
    CHECK((cut >= kUncuttable) == !cuttable);
    if (cuttable) CHECK(cut == 5);
  }
}
