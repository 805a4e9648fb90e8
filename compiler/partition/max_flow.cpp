#include "compiler/partition/max_flow.h"

#include <algorithm>

namespace fuselet::partition {
namespace {

size_t at(int32_t i) { return static_cast<size_t>(i); }

}  // namespace

MaxFlow::MaxFlow(int32_t num_vertices) : first_(at(num_vertices), -1) {}

void MaxFlow::add_edge(int32_t from, int32_t to, Capacity capacity) {
  edges_.push_back({to, first_[at(from)], capacity});
  first_[at(from)] = static_cast<int32_t>(edges_.size() - 1);
  edges_.push_back({from, first_[at(to)], 0});
  first_[at(to)] = static_cast<int32_t>(edges_.size() - 1);
}

bool MaxFlow::layer_from_source() {
  layer_.assign(first_.size(), -1);
  layer_[at(source_)] = 0;
  std::vector<int32_t> queue = {source_};
  for (size_t head = 0; head < queue.size(); ++head) {
    for (int32_t e = first_[at(queue[head])]; e >= 0; e = edges_[at(e)].next) {
      const Edge& edge = edges_[at(e)];
      if (edge.left == 0 || layer_[at(edge.to)] >= 0) continue;
      layer_[at(edge.to)] = layer_[at(queue[head])] + 1;
      queue.push_back(edge.to);
    }
  }
  return layer_[at(sink_)] >= 0;
}

// Walks to the next layer where an edge has room; a vertex without one leads nowhere in this phase.
Capacity MaxFlow::push_one_path() {
  std::vector<int32_t> path;
  int32_t vertex = source_;
  while (vertex != sink_) {
    int32_t& e = current_[at(vertex)];
    while (e >= 0 && !(edges_[at(e)].left > 0 && layer_[at(edges_[at(e)].to)] == layer_[at(vertex)] + 1))
      e = edges_[at(e)].next;
    if (e >= 0) {
      path.push_back(e);
      vertex = edges_[at(e)].to;
      continue;
    }
    if (path.empty()) return 0;
    layer_[at(vertex)] = -1;
    vertex = edges_[at(path.back() ^ 1)].to;
    path.pop_back();
  }
  Capacity room = edges_[at(path[0])].left;
  for (int32_t e : path) room = std::min(room, edges_[at(e)].left);
  for (int32_t e : path) {
    edges_[at(e)].left -= room;
    edges_[at(e ^ 1)].left += room;
  }
  return room;
}

Capacity MaxFlow::run(int32_t source, int32_t sink) {
  source_ = source;
  sink_ = sink;
  Capacity flow = 0;
  while (flow < kUncuttable && layer_from_source()) {
    current_ = first_;
    while (Capacity pushed = push_one_path()) {
      flow += pushed;
      if (flow >= kUncuttable) break;
    }
  }
  return flow;
}

std::vector<bool> MaxFlow::source_side() const {
  std::vector<bool> reaches_sink(first_.size(), false);
  reaches_sink[at(sink_)] = true;
  std::vector<int32_t> queue = {sink_};
  for (size_t head = 0; head < queue.size(); ++head) {
    for (int32_t e = first_[at(queue[head])]; e >= 0; e = edges_[at(e)].next) {
      int32_t from = edges_[at(e)].to;  // of the reverse edge
      if (edges_[at(e ^ 1)].left == 0 || reaches_sink[at(from)]) continue;
      reaches_sink[at(from)] = true;
      queue.push_back(from);
    }
  }
  reaches_sink.flip();
  return reaches_sink;
}

}  // namespace fuselet::partition
