// Maximum flow and minimum cut by Dinic's algorithm: phases of a breadth-first layering and a blocking flow, on flat
// arrays, without recursion. O(V^2 E) at worst, near linear on the layered graphs of a partition.
//
// Of several minimum cuts, the one closest to the sink is taken: the source's side is as large as it can be.
#pragma once
#include <cstdint>
#include <vector>

namespace fuselet::partition {

// Wide enough for bytes times cost.
__extension__ typedef __int128 Capacity;
// No cut may cross such an edge. All finite capacities together stay below it.
inline constexpr Capacity kUncuttable = Capacity{1} << 120;

class MaxFlow {
 public:
  explicit MaxFlow(int32_t num_vertices);
  void add_edge(int32_t from, int32_t to, Capacity capacity);
  // The capacity of the minimum cut; at least kUncuttable if every cut crosses an uncuttable edge. Once a graph.
  Capacity run(int32_t source, int32_t sink);
  // After run(): for each vertex, whether it lies on the source's side of the cut closest to the sink.
  std::vector<bool> source_side() const;

 private:
  struct Edge {
    int32_t to;
    int32_t next;  // of the same vertex, -1 at the end
    Capacity left;
  };
  bool layer_from_source();
  Capacity push_one_path();

  std::vector<Edge> edges_;  // an edge and its reverse stand side by side: i and i ^ 1
  std::vector<int32_t> first_, current_, layer_;
  int32_t source_ = 0, sink_ = 0;
};

}  // namespace fuselet::partition
