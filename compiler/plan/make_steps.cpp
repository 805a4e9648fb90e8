#include <algorithm>

#include "compiler/plan/steps.h"

namespace fuselet::plan {
namespace {

void add_once(std::vector<ir::ValueId>& list, ir::ValueId v) {
  if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
}

// Every element is read and written once, at one time.
bool is_pointwise(const kernel::Nest& nest) {
  return nest.structure == kernel::Structure::Pointwise || nest.structure == kernel::Structure::Tile;
}

Step step_of_kernel(const lower::LoweredKernel& k, int32_t index) {
  Step step;
  step.kernel = index;
  for (const kernel::Stage& stage : k.kernel.stages) {
    for (const kernel::Nest& nest : stage.nests) {
      for (const kernel::Statement& s : nest.body) {
        if (s.access.buffer < 0) continue;
        const ir::ValueId v = k.buffers[static_cast<size_t>(s.access.buffer)];
        add_once(s.kind == kernel::Kind::Store ? step.writes : step.reads, v);
        step.may_fail |= s.kind == kernel::Kind::LoadAt;
      }
    }
  }
  // What one stage stores and a later one loads is no input of the step.
  std::erase_if(step.reads, [&](ir::ValueId v) {
    return std::find(step.writes.begin(), step.writes.end(), v) != step.writes.end();
  });
  return step;
}

// The call comes before the kernel that the step may have already.
void add_call(const lower::GraphFacts& facts, int32_t n, Step* step) {
  step->node = n;
  const ir::Node& node = facts.graph.nodes[static_cast<size_t>(n)];
  const OpKind kind = op_of(node.op).kind;
  step->may_fail = step->may_fail || kind == OpKind::Gather || kind == OpKind::Scatter;
  ir::for_each_operand(node, [&](ir::ValueId v) { add_once(step->reads, facts.base[static_cast<size_t>(v)]); });
  step->writes.insert(step->writes.begin(), node.outputs.begin(), node.outputs.end());
  std::erase_if(step->reads, [&](ir::ValueId v) {
    return std::find(node.outputs.begin(), node.outputs.end(), v) != node.outputs.end();
  });
}

}  // namespace

std::vector<Step> make_steps(const lower::GraphFacts& facts, const std::vector<lower::LoweredKernel>& kernels,
                             const std::vector<int32_t>& calls) {
  std::vector<Step> steps;
  for (size_t i = 0; i < kernels.size(); ++i) {
    steps.push_back(step_of_kernel(kernels[i], static_cast<int32_t>(i)));
    if (kernels[i].call >= 0) add_call(facts, kernels[i].call, &steps.back());
  }
  for (int32_t n : calls) {
    add_call(facts, n, &steps.emplace_back());
  }
  return steps;
}

bool call_reads(const lower::GraphFacts& facts, const Step& step, ir::ValueId base) {
  bool found = false;
  if (step.node < 0) return found;
  ir::for_each_operand(facts.graph.nodes[static_cast<size_t>(step.node)],
                       [&](ir::ValueId v) { found = found || facts.base[static_cast<size_t>(v)] == base; });
  return found;
}

bool may_overwrite(const lower::LoweredKernel& k, ir::ValueId from, ir::ValueId to) {
  const kernel::Statement* stored = nullptr;
  size_t at_stage = 0, at_nest = 0;
  auto buffer_is = [&](const kernel::Statement& s, ir::ValueId v) {
    return s.access.buffer >= 0 && k.buffers[static_cast<size_t>(s.access.buffer)] == v;
  };
  for (size_t stage = 0; stage < k.kernel.stages.size(); ++stage) {
    for (size_t n = 0; n < k.kernel.stages[stage].nests.size(); ++n) {
      for (const kernel::Statement& s : k.kernel.stages[stage].nests[n].body) {
        if (s.kind != kernel::Kind::Store || !buffer_is(s, to)) continue;
        stored = &s;
        at_stage = stage;
        at_nest = n;
      }
    }
  }
  if (!stored) return false;
  for (size_t stage = at_stage; stage < k.kernel.stages.size(); ++stage) {
    for (size_t n = 0; n < k.kernel.stages[stage].nests.size(); ++n) {
      const kernel::Nest& nest = k.kernel.stages[stage].nests[n];
      for (const kernel::Statement& s : nest.body) {
        if (s.kind == kernel::Kind::Store || !buffer_is(s, from)) continue;
        const bool same_place = stage == at_stage && n == at_nest && s.kind == kernel::Kind::Load &&
                                is_pointwise(nest) && s.access.offset == stored->access.offset &&
                                s.access.strides == stored->access.strides &&
                                size_of(s.dtype) == size_of(stored->dtype);  // else equal strides are other places
        if (!same_place) return false;
      }
    }
  }
  return true;
}

}  // namespace fuselet::plan
