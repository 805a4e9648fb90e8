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

}  // namespace fuselet::report
