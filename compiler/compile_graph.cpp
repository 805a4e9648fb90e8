#include "compiler/compile_graph.h"

#include <algorithm>

#include "compiler/decompose/decompose.h"
#include "compiler/fuse/fuse.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/eliminate_dead_code.h"
#include "compiler/passes/narrow_products.h"
#include "compiler/passes/run_passes.h"
#include "compiler/plan/planned_executable.h"
#include "compiler/stage_driver.h"
#include "compiler/summarise.h"
#include "compiler/target.h"

namespace fuselet {
namespace {

ir::Graph cleaned(const ir::Graph& graph) {
  ir::Graph g = graph;
  run_passes(g, [](std::string_view pass, const ir::Graph& after, bool changed) {
    if (changed) report::leave_stage(nullptr, after.name, std::string(pass), 0, [&] { return ir::print(after); });
  });
  return g;
}

ir::Graph with_narrow_products(ir::Graph g) {
  if (narrow_products(g)) eliminate_dead_code(g);
  return g;
}

std::string sources_of(const std::vector<std::shared_ptr<const CompiledKernel>>& compiled) {
  std::string out;
  for (const auto& k : compiled) out += k->source;
  return out;
}

std::vector<kernel::Kernel> kernels_of(const std::vector<lower::LoweredKernel>& lowered) {
  std::vector<kernel::Kernel> out;
  for (const lower::LoweredKernel& k : lowered) out.push_back(k.kernel);
  return out;
}

// One executable serves one device; numbers of the host join it.
void check_one_device(const ir::Graph& g) {
  const Device device = ir::device_of(g);
  const std::vector<bool> in_use = ir::values_in_use(g);
  for (size_t i = 0; i < g.values.size(); ++i) {
    const ir::Value& v = g.values[i];
    if (!in_use[i] || v.meta.device == device || (v.meta.sizes.empty() && v.node < 0)) continue;
    const ir::Node* node = v.node < 0 ? nullptr : &g.nodes[static_cast<size_t>(v.node)];
    throw NotImplementedError(concat("compile: ", node ? op_of(node->op).name : "an input", " of shape ",
                                     to_string(v.meta.sizes), " is on ", to_string(v.meta.device),
                                     " in a function that runs on ", to_string(device),
                                     node && !node->origin.line.empty() ? ", " + node->origin.line : "",
                                     ": a compiled function runs on one device; move tensors before the call"));
  }
  for (const ir::Write& w : g.writes) {
    if (g.meta(g.inputs[static_cast<size_t>(w.input)].value).device != device)
      throw NotImplementedError("compile: a number of the host is written by a function that runs on a device");
  }
}

bool has_several_devices(const ir::Graph& g) {
  return std::any_of(g.values.begin(), g.values.end(),
                     [&](const ir::Value& v) { return v.meta.device != g.values[0].meta.device; });
}

ir::Graph to_primitives(const ir::Graph& graph, StageDriver& driver) {
  ir::Graph recorded = graph;
  // Views of what the function moved to its device have been recorded where they were taken.
  if (has_several_devices(recorded)) eliminate_dead_code(recorded);
  check_one_device(recorded);
  // Fused operators come apart first, so that every later stage knows few and simple ones.
  ir::Graph g = driver.graph_stage("decompose", recorded, ir::Stage::Decompose, decompose);
  // Fewer nodes before anybody decides what to fuse.
  g = driver.graph_stage("passes", g, ir::Stage::Passes, cleaned);
  // Last, for it makes of casts and products what no other pass knows.
  if (target_of(ir::device_of(g).type).multiplies_halves()) {
    g = driver.stage(
        "narrow_products", [&] { return with_narrow_products(g); }, ir::print);
    ir::verify(g, ir::Stage::Passes);
  }
  return g;
}

// `recorded`: what the graph of primitives was made of.
std::shared_ptr<const Executable> compile_primitives(const ir::Graph& recorded, ir::Graph primitives,
                                                     const CompileOptions& options, StageDriver& driver) {
  plan::ExecutableParts parts;
  parts.keep_memory = options.keep_memory;
  parts.graph = std::move(primitives);
  // What every later stage asks of the graph, worked out once.
  const lower::GraphFacts facts(parts.graph, options.numerics, &recorded);
  // Which primitives share a loop nest, and which nests a kernel. Nests are scheduled on the way: what fuses is what
  // has a structure.
  const fuse::Fusion fusion = driver.stage(
      "fuse",
      [&] {
        return fuse::fuse(facts, [](const ir::Graph& g, const ir::Node& n) {
          return target_of(ir::device_of(g).type).takes_post_work(g, n);
        });
      },
      [&](const fuse::Fusion& f) { return fuse::print(f, facts); });
  // Kernels of the kernel IR, their parameters numbered.
  parts.kernels = driver.stage(
      "lower", [&] { return lower::lower(facts, fusion); }, [](const auto& k) { return lower::print(k); });
  // Source text, and functions to launch.
  Target& target = target_of(ir::device_of(parts.graph).type);
  const std::vector<kernel::Kernel> kernels = kernels_of(parts.kernels);
  for (const kernel::Kernel& k : kernels) parts.scratch_bytes.push_back(target.scratch_bytes(k));
  parts.compiled = driver.stage(
      "codegen", [&] { return target.compile(kernels); }, sources_of);
  // When each step runs, so that little memory is alive at once and inputs can be updated where they lie.
  parts.order = driver.stage(
      "order",
      [&] { return plan::order_steps(facts, parts.kernels, plan::make_steps(facts, parts.kernels, fusion.calls)); },
      [&](const plan::Order& o) { return plan::print(o, facts, parts.kernels); });
  // Where each value lives.
  parts.memory = driver.stage(
      "plan", [&] { return plan::plan_memory(facts, parts.kernels, parts.order); },
      [&](const plan::MemoryPlan& m) { return plan::print(m, facts); });
  if (driver.report()) summarise(recorded, fusion, parts, driver.report());
  return plan::make_executable(parts, facts);  // a copy: the facts refer to this graph
}

}  // namespace

void check_stages(const std::map<std::string, GraphStage>& stages) {
  for (const auto& [name, run] : stages)
    FUSELET_CHECK(name == "decompose" || name == "passes", "compile: stages: '", name,
                  "' cannot be replaced; decompose and passes can");
}

std::shared_ptr<const Executable> compile_graph(const ir::Graph& graph, const CompileOptions& options,
                                                report::CompileReport* report) {
  StageDriver driver(graph, options, report);
  return compile_primitives(graph, to_primitives(graph, driver), options, driver);
}

CompiledJoint compile_joint(const ir::Graph& joint, size_t num_forward_outputs, const CompileOptions& options,
                            report::CompileReport* report) {
  StageDriver driver(joint, options, report);
  const ir::Graph primitives = to_primitives(joint, driver);
  CompiledJoint out;
  // What the forward saves, once primitives show what is cheap to compute again.
  out.partition = driver.stage(
      "partition", [&] { return partition_min_cut(primitives, num_forward_outputs, options.memory_budget); },
      [&](const Partition& p) { return text_of(p, primitives); });
  if (report) {
    report->partition = summary_of(out.partition, primitives);
    report->joint = std::make_shared<ir::Graph>(primitives);
    report->cut = std::make_shared<Partition>(out.partition);
  }
  out.forward = compile_primitives(joint, out.partition.forward, options, driver);
  report::CompileReport later;
  StageDriver backward(joint, options, report ? &later : nullptr);
  out.backward = compile_primitives(joint, out.partition.backward, options, backward);
  if (report) append_backward(*report, later);
  return out;
}

}  // namespace fuselet
