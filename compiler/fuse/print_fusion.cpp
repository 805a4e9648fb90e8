#include "compiler/fuse/fuse.h"

namespace fuselet::fuse {
namespace {

const char* name_of(kernel::Structure s) {
  constexpr const char* kNames[] = {"pointwise", "rows", "split rows", "columns", "rows and columns", "tile"};
  return kNames[static_cast<int>(s)];
}

std::string values_text(const std::vector<ir::ValueId>& values) {
  std::string out;
  for (ir::ValueId v : values) out += concat(out.empty() ? "%" : ", %", v);
  return out;
}

}  // namespace

std::string print(const Fusion& f, const lower::GraphFacts& facts) {
  std::string out;
  auto note = [&](int32_t n) { return lower::note_of(facts.graph.nodes[static_cast<size_t>(n)]); };
  for (size_t k = 0; k < f.kernels.size(); ++k) {
    out += concat("kernel ", k, f.kernels[k].call >= 0 ? " on each part of " + note(f.kernels[k].call) : "", "\n");
    for (size_t s = 0; s < f.kernels[k].stages.size(); ++s) {
      for (int32_t g : f.kernels[k].stages[s]) {
        const Group& group = f.groups[static_cast<size_t>(g)];
        out += concat("  stage ", s, ": ", name_of(group.nest.nest.structure), " [");
        for (size_t d = 0; d < group.nest.nest.dims.size(); ++d) out += concat(d ? ", " : "", group.nest.nest.dims[d]);
        out += concat("] stores ", values_text(group.stored), "\n");
        for (int32_t n : group.nodes)
          out += concat("    %", facts.graph.nodes[static_cast<size_t>(n)].outputs[0], " = ", note(n), "\n");
      }
    }
  }
  for (int32_t n : f.calls)
    out += concat("call ", values_text(facts.graph.nodes[static_cast<size_t>(n)].outputs), " = ", note(n), "\n");
  for (const FusionRefusal& r : f.refusals)
    out += concat("not fused: ", note(r.first), " with ", note(r.second), ", ", r.bytes, " bytes: ", r.reason, "\n");
  return out + concat("bytes ", f.bytes_fused, " of ", f.bytes_unfused, "\n");
}

}  // namespace fuselet::fuse
