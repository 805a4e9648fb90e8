#include "compiler/report/report.h"

#include "core/error.h"

namespace fuselet::report {

const StageReport* CompileReport::stage(const std::string& name) const {
  for (size_t i = stages.size(); i-- > 0;) {
    if (stages[i].name == name) return &stages[i];
  }
  return nullptr;
}

std::string text_of(const PartitionSummary& s) {
  std::string out = concat("saved ", s.saved_bytes, " bytes, planned peak ", s.planned_peak);
  out += s.budget ? concat(", budget ", *s.budget, "\n") : "\n";
  for (const auto& v : s.saved)
    out += concat("  save ", v.name, v.alive_anyway ? ": alive anyway" : concat(": ", v.bytes, " bytes"), "\n");
  for (const auto& n : s.recomputed)
    out += concat("  recompute ", n.name, n.runs > 1 ? concat(" ", n.runs, " times") : "", ": cost ", n.cost, "\n");
  for (const auto& n : s.banned) out += concat("  banned ", n.name, ": ", n.reason, "\n");
  return out;
}

std::string text_of(const CompileReport& r) {
  std::string out = concat(r.graph, ": ", r.operators, " operators -> ", r.primitives, " primitives -> ",
                           r.kernels.size(), " kernels and ", r.calls.size(), " calls\n");
  out +=
      concat("  memory traffic of the kernels ", r.bytes_fused, " bytes, of their primitives alone ", r.bytes_unfused,
             "\n  arena ", r.arena_bytes, " bytes, without any memory serving twice ", r.arena_bytes_unshared, "; ",
             r.writes_in_place, " inputs updated in place, ", r.writes_copied, " by a copy\n");
  for (const KernelReport& k : r.kernels) {
    out += concat("  kernel ", k.name, ": ", k.nodes.size(), " primitives, ", k.bytes, " bytes, ", k.origin);
    if (k.milliseconds > 0) out += concat(" in ", k.milliseconds, " ms");
    out += k.remark.empty() ? "\n" : concat(" (", k.remark, ")\n");
  }
  for (const std::string& c : r.calls) out += concat("  call ", c, "\n");
  for (const RefusedFusion& f : r.refused)
    out += concat("  not fused: ", f.first, " with ", f.second, " (", f.bytes, " bytes): ", f.reason, "\n");
  for (const StageReport& s : r.stages) out += concat("  stage ", s.name, ": ", s.milliseconds, " ms\n");
  return r.partition ? out + text_of(*r.partition) : out;
}

}  // namespace fuselet::report
