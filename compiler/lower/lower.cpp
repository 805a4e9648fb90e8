#include "compiler/lower/lower.h"

#include <algorithm>

namespace fuselet::lower {
namespace {

// Operators that a name lists before it is cut.
constexpr size_t kNamedOperators = 6;

template <class T>
int32_t index_of(std::vector<T>& list, const T& x) {
  auto known = std::find(list.begin(), list.end(), x);
  if (known == list.end()) {
    list.push_back(x);
    return static_cast<int32_t>(list.size() - 1);
  }
  return static_cast<int32_t>(known - list.begin());
}

std::string name_after(const ir::Graph& graph, const std::vector<int32_t>& nodes) {
  std::vector<std::string> names;
  for (int32_t n : nodes) {
    std::string name = op_of(graph.nodes[static_cast<size_t>(n)].op).name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  std::string out = nodes.size() == 1 ? "kernel" : "fused";
  for (size_t i = 0; i < std::min(names.size(), kNamedOperators); ++i) out += "_" + names[i];
  return names.size() > kNamedOperators ? out + "_etc" : out;
}

// Renumbers the nest's parameters to the kernel's.
void add_nest(const GraphFacts& facts, LoweredKernel& out, kernel::Stage& stage, const BuiltNest& built) {
  kernel::Nest nest = built.nest;
  for (kernel::Statement& s : nest.body) {
    if (s.access.buffer >= 0) {
      const auto local = static_cast<size_t>(s.access.buffer);
      s.access.buffer = index_of(out.buffers, built.buffers[local]);
      if (static_cast<size_t>(s.access.buffer) == out.kernel.buffers.size()) {
        const TensorMeta& m = facts.meta(built.buffers[local]);
        out.kernel.buffers.push_back({m.dtype, span_of(m.sizes, m.strides), false});
      }
      if (s.kind == kernel::Kind::Store) out.kernel.buffers[static_cast<size_t>(s.access.buffer)].written = true;
    }
    if (s.kind == kernel::Kind::Scalar)
      s.parameter = index_of(out.scalars, built.scalars[static_cast<size_t>(s.parameter)]);
    if (s.kind == kernel::Kind::Random)
      s.parameter = index_of(out.draws, built.draws[static_cast<size_t>(s.parameter)]);
  }
  stage.nests.push_back(std::move(nest));
}

}  // namespace

std::vector<LoweredKernel> lower(const GraphFacts& facts, const fuse::Fusion& fusion) {
  std::vector<LoweredKernel> out;
  for (const fuse::FusedKernel& fused : fusion.kernels) {
    LoweredKernel& k = out.emplace_back();
    k.call = fused.call;
    for (const std::vector<int32_t>& groups : fused.stages) {
      kernel::Stage& stage = k.kernel.stages.emplace_back();
      for (int32_t g : groups) {
        const fuse::Group& group = fusion.groups[static_cast<size_t>(g)];
        add_nest(facts, k, stage, group.nest);
        k.nodes.insert(k.nodes.end(), group.nodes.begin(), group.nodes.end());
      }
    }
    std::sort(k.nodes.begin(), k.nodes.end());
    k.kernel.name = name_after(facts.graph, k.nodes);
    k.kernel.scalars = static_cast<int32_t>(k.scalars.size());
    k.kernel.randoms = static_cast<int32_t>(k.draws.size());
  }
  return out;
}

std::string print(const std::vector<LoweredKernel>& kernels) {
  std::string out;
  for (const LoweredKernel& k : kernels) out += kernel::print(k.kernel);
  return out;
}

}  // namespace fuselet::lower
