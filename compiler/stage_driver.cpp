#include "compiler/stage_driver.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fuselet {
namespace {

// Where a failure leaves its graph: FUSELET_DUMP_DIR, else the system's folder for temporary files.
std::filesystem::path reproducer_path(const std::string& stage) {
  static std::atomic<int> next{0};
  const char* folder = std::getenv("FUSELET_DUMP_DIR");
  std::error_code ignored;
  std::filesystem::path where = folder && *folder ? folder : std::filesystem::temp_directory_path(ignored);
  std::filesystem::create_directories(where, ignored);
  return where / concat("fuselet_", stage, "_", getpid(), "_", next.fetch_add(1), ".graph");
}

// What the caller's own stage gave: a graph that is not well formed is the caller's mistake.
ir::Graph checked(const std::string& stage, ir::Graph g, ir::Stage legal) {
  try {
    ir::verify(g, legal);
  } catch (const InternalError& e) {
    fuselet::fail("compile: the stage '", stage, "' given in stages returned a graph that cannot be: ", e.what());
  }
  return g;
}

}  // namespace

void StageDriver::leave(const std::string& name, Instant start, const std::function<std::string()>& text) {
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  report::leave_stage(report_, graph_.name, name, took.count(), text);
}

void StageDriver::fail(const std::string& stage, const std::string& what) const {
  const std::filesystem::path path = reproducer_path(stage);
  std::ofstream file(path);
  std::string line = what;
  std::replace(line.begin(), line.end(), '\n', ' ');
  file << "# fails in stage '" << stage << "' with numerics "
       << (options_.numerics == Numerics::Exact ? "exact" : "fused") << ": " << line << "\n"
       << ir::print(graph_);
  file.close();
  throw InternalError(
      concat("[", stage, "] ", what, "; the graph that was compiled is ",
             file.good() ? concat("in ", path.string()) : std::string("not kept: no file can be written")),
      __FILE__, __LINE__);
}

ir::Graph StageDriver::graph_stage(const std::string& name, const ir::Graph& graph, ir::Stage legal,
                                   const GraphStage& run) {
  const auto own = options_.stages.find(name);
  return stage(
      name,
      [&] {
        if (own != options_.stages.end()) return checked(name, own->second(graph), legal);
        ir::Graph g = run(graph);
        ir::verify(g, legal);
        return g;
      },
      [](const ir::Graph& g) { return ir::print(g); });
}

}  // namespace fuselet
