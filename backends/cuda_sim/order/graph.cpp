#include "backends/cuda_sim/order/graph.h"

#include <algorithm>

#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/settings.h"

namespace fuselet::cuda::sim {

namespace {

int graphs = 0;

// Which of the nodes that may run does.
size_t choose(const std::vector<int>& ready) {
  switch (settings().run_order) {
    case RunOrder::Newest:
      return static_cast<size_t>(std::max_element(ready.begin(), ready.end()) - ready.begin());
    case RunOrder::Random:
      return next_random(settings().run_seed) % ready.size();
    default:
      return static_cast<size_t>(std::min_element(ready.begin(), ready.end()) - ready.begin());
  }
}

}  // namespace

Graph::Graph() { ++graphs; }
Graph::~Graph() { --graphs; }
int num_graphs() { return graphs; }

int Graph::add(Work work, const std::vector<int>& after) {
  Node node{std::move(work), after, std::vector<bool>(nodes.size() + 1), next_sequence()};
  for (int before : after) {
    node.ancestors[before] = true;
    const std::vector<bool>& further = nodes[before].ancestors;
    for (size_t i = 0; i < further.size(); ++i)
      if (further[i]) node.ancestors[i] = true;
  }
  nodes.push_back(std::move(node));
  return static_cast<int>(nodes.size()) - 1;
}

double run_graph(const Graph& graph, const Operation& launch) {
  static uint64_t launches = 0;
  uint64_t number = ++launches;
  size_t n = graph.nodes.size();
  std::vector<int> missing(n), ready;
  std::vector<std::vector<int>> next(n);
  std::vector<double> end(n, 0);
  double longest = 0;
  // Later nodes' ancestors say nothing of nodes after them; all places have the same length.
  std::vector<std::vector<bool>> ancestors(n);
  for (size_t i = 0; i < n; ++i) {
    ancestors[i] = graph.nodes[i].ancestors;
    ancestors[i].resize(n);
    missing[i] = static_cast<int>(graph.nodes[i].after.size());
    for (int before : graph.nodes[i].after) next[before].push_back(static_cast<int>(i));
    if (missing[i] == 0) ready.push_back(static_cast<int>(i));
  }
  while (!ready.empty() && simulator().sticky == kSuccess) {
    size_t pick = choose(ready);
    int i = ready[pick];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
    const Node& node = graph.nodes[i];
    double start = 0;
    for (int before : node.after) start = std::max(start, end[before]);
    if (node.work.run) {
      Place place = launch.place;
      place.graph_launch = number;
      place.node = i;
      place.ancestors = &ancestors[i];
      begin_run(std::move(place), node.sequence, graph.captured_until, node.work.what);
      node.work.run();
      end_run();
    }
    end[i] = start + node.work.microseconds;
    longest = std::max(longest, end[i]);
    for (int after : next[i])
      if (--missing[after] == 0) ready.push_back(after);
  }
  return longest;
}

}  // namespace fuselet::cuda::sim
