#include "compiler/summarise.h"

namespace fuselet {
namespace {

int64_t bytes_of(const lower::LoweredKernel& k, const ir::Graph& g) {
  int64_t bytes = 0;
  for (ir::ValueId v : k.buffers) {
    const TensorMeta& m = g.meta(v);
    bytes += numel_of(m.sizes).concrete() * static_cast<int64_t>(size_of(m.dtype));
  }
  return bytes;
}

}  // namespace

void summarise(const ir::Graph& recorded, const fuse::Fusion& fusion, const plan::ExecutableParts& parts,
               report::CompileReport* report) {
  const ir::Graph& g = parts.graph;
  auto note = [&](int32_t n) { return lower::note_of(g.nodes[static_cast<size_t>(n)]); };
  report->graph = recorded.name;
  report->drawn = std::make_shared<ir::Graph>(g);
  report->operators = static_cast<int32_t>(recorded.nodes.size());
  report->primitives = static_cast<int32_t>(g.nodes.size());
  for (size_t i = 0; i < parts.kernels.size(); ++i) {
    const lower::LoweredKernel& k = parts.kernels[i];
    const CompiledKernel& c = *parts.compiled[i];
    report->kernels.push_back(
        {k.kernel.name, c.source, name_of(c.origin), c.remark, c.milliseconds, bytes_of(k, g), k.nodes});
    report->groups.push_back({k.kernel.name, k.nodes});
  }
  for (int32_t n : fusion.calls) report->calls.push_back(note(n));
  for (const lower::LoweredKernel& k : parts.kernels) {
    if (k.call >= 0) report->calls.push_back(concat(note(k.call), ", then ", k.kernel.name, " on each part"));
  }
  for (const fuse::FusionRefusal& r : fusion.refusals)
    report->refused.push_back({note(r.first), note(r.second), r.bytes, r.reason});
  report->bytes_unfused = fusion.bytes_unfused;
  report->bytes_fused = fusion.bytes_fused;
  report->arena_bytes = parts.memory.arena_bytes;
  report->arena_bytes_unshared = parts.memory.unshared_bytes;
  report->writes_in_place = static_cast<int32_t>(parts.order.in_place.size());
  report->writes_copied = static_cast<int32_t>(parts.memory.copied_writes.size());
}

void append_backward(report::CompileReport& report, const report::CompileReport& backward) {
  const std::string prefix = "backward.";
  for (report::StageReport s : backward.stages) {
    s.name = prefix + s.name;
    report.stages.push_back(std::move(s));
  }
  for (report::KernelReport k : backward.kernels) {
    k.name = prefix + k.name;
    report.kernels.push_back(std::move(k));
  }
  for (const std::string& c : backward.calls) report.calls.push_back(prefix + c);
  report.refused.insert(report.refused.end(), backward.refused.begin(), backward.refused.end());
  report.bytes_unfused += backward.bytes_unfused;
  report.bytes_fused += backward.bytes_fused;
  report.arena_bytes += backward.arena_bytes;
  report.arena_bytes_unshared += backward.arena_bytes_unshared;
}

}  // namespace fuselet
