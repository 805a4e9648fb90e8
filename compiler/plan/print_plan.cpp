#include "compiler/plan/plan_memory.h"

namespace fuselet::plan {

std::string print(const Order& order, const lower::GraphFacts& facts,
                  const std::vector<lower::LoweredKernel>& kernels) {
  std::string out;
  for (size_t i = 0; i < order.steps.size(); ++i) {
    const Step& s = order.steps[i];
    out += concat(i, ": ",
                  s.kernel >= 0 ? kernels[static_cast<size_t>(s.kernel)].kernel.name
                                : lower::note_of(facts.graph.nodes[static_cast<size_t>(s.node)]));
    for (ir::ValueId v : s.reads) out += concat(" %", v);
    out += " ->";
    for (ir::ValueId v : s.writes) out += concat(" %", v);
    out += "\n";
  }
  for (const InPlaceWrite& w : order.in_place) {
    const ir::Write& write = facts.graph.writes[w.write];
    out += concat("step ", w.step, " makes %", write.value, " in the memory of %",
                  facts.graph.inputs[static_cast<size_t>(write.input)].value, "\n");
  }
  return out;
}

std::string print(const MemoryPlan& plan, const lower::GraphFacts& facts) {
  std::string out;
  for (size_t v = 0; v < plan.slots.size(); ++v) {
    const Slot& s = plan.slots[v];
    if (s.place == Place::Nowhere) continue;
    out += concat("%", v, ": ");
    if (s.place == Place::Input) out += concat("input \"", facts.graph.inputs[static_cast<size_t>(s.index)].name, "\"");
    if (s.place == Place::Output) out += concat("memory of its own, ", s.bytes, " bytes");
    if (s.place == Place::Arena) out += concat("arena at ", s.offset, ", ", s.bytes, " bytes");
    out += "\n";
  }
  for (size_t w : plan.copied_writes) out += concat("%", facts.graph.writes[w].value, " is copied into its input\n");
  return out + concat("arena ", plan.arena_bytes, " bytes for ", plan.unshared_bytes, "; ", plan.taken_over,
                      " values take over an operand's memory\n");
}

}  // namespace fuselet::plan
