// Runs the stages of one compilation: times each, leaves its value in the report and in the dump, puts the caller's own
// stage in the place of the compiler's, verifies graphs, and turns a failure into an InternalError that names the stage
// and a file from which it can be reproduced.
#pragma once
#include <chrono>
#include <exception>
#include <functional>
#include <string>

#include "compiler/compile_graph.h"
#include "compiler/ir/legality.h"
#include "compiler/report/dump.h"
#include "compiler/report/report.h"

namespace fuselet {

class StageDriver {
 public:
  StageDriver(const ir::Graph& graph, const CompileOptions& options, report::CompileReport* report)
      : graph_(graph), options_(options), report_(report) {}

  // A stage from graph to graph, and what may stand in its result.
  ir::Graph graph_stage(const std::string& name, const ir::Graph& graph, ir::Stage legal, const GraphStage& run);

  // A stage of any value; print(value) is its text.
  template <class Run, class Print>
  auto stage(const std::string& name, Run&& run, Print&& print) {
    const auto start = std::chrono::steady_clock::now();
    try {
      auto value = run();
      leave(name, start, [&] { return print(value); });
      return value;
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      fail(name, e.what());
    }
  }

  report::CompileReport* report() const { return report_; }

 private:
  using Instant = std::chrono::steady_clock::time_point;
  void leave(const std::string& name, Instant start, const std::function<std::string()>& text);
  [[noreturn]] void fail(const std::string& stage, const std::string& what) const;

  const ir::Graph& graph_;
  const CompileOptions& options_;
  report::CompileReport* report_;
};

}  // namespace fuselet
