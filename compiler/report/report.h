// What a compilation leaves for people to read: the value of every stage as text with the time that it took, what the
// partition saves and recomputes, and which nodes run in one kernel. A plain struct: whoever compiles fills it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fuselet {
struct Partition;
namespace ir {
struct Graph;
}
}  // namespace fuselet

namespace fuselet::report {

// A stage's value after it has run. Names are those of FUSELET_DUMP: joint, decompose, partition, fuse, …
struct StageReport {
  std::string name;
  std::string text;
  double milliseconds = 0;
};

struct PartitionSummary {
  struct Saved {
    std::string name;
    int64_t bytes = 0;
    bool alive_anyway = false;  // an input or parameter: 0 bytes
  };
  struct Recomputed {
    std::string name;
    int64_t cost = 0;  // bytes that it moves, or what its arithmetic is worth in bytes, in all runs
    int32_t runs = 1;
  };
  struct Banned {
    std::string name;
    std::string reason;
  };
  std::vector<Saved> saved;
  std::vector<Recomputed> recomputed;
  std::vector<Banned> banned;  // from recomputing
  int64_t saved_bytes = 0;
  int64_t planned_peak = 0;  // bytes, inputs and parameters apart
  std::optional<int64_t> budget;
};

// Nodes (of the last graph) that run in one kernel.
struct KernelGroup {
  std::string name;
  std::vector<int32_t> nodes;
};

// A generated kernel.
struct KernelReport {
  std::string name, source;
  std::string origin;       // compiled, memory cache, disk cache, interpreted
  std::string remark;       // why it is interpreted or not cached
  double milliseconds = 0;  // of the system's compiler
  int64_t bytes = 0;        // that it reads and writes, each buffer once
  std::vector<int32_t> nodes;
};

// Two neighbours that run in kernels of their own, and why.
struct RefusedFusion {
  std::string first, second;  // their operators
  int64_t bytes = 0;          // that one kernel would have saved
  std::string reason;
};

struct CompileReport {
  std::string graph;
  std::vector<StageReport> stages;
  std::optional<PartitionSummary> partition;
  std::vector<KernelGroup> groups;

  int32_t operators = 0, primitives = 0;  // nodes of the recorded graph, and of the decomposed one
  std::vector<KernelReport> kernels;
  std::vector<std::string> calls;  // operators that run as calls of the backend's kernels
  std::vector<RefusedFusion> refused;
  int64_t bytes_unfused = 0, bytes_fused = 0;         // memory traffic of all primitives alone, and of the kernels
  int64_t arena_bytes = 0, arena_bytes_unshared = 0;  // of a call, and without any memory serving twice
  int32_t writes_in_place = 0, writes_copied = 0;     // new values of inputs made where they live, or copied there

  // What draw_report.h draws: the graph whose nodes `groups` names, the joint graph of primitives, and its cut.
  std::shared_ptr<const ir::Graph> drawn, joint;
  std::shared_ptr<const Partition> cut;

  // nullptr if there is none of that name; of several, the last.
  const StageReport* stage(const std::string& name) const;
};

// The summaries as lines of text.
std::string text_of(const PartitionSummary& summary);
std::string text_of(const CompileReport& report);

}  // namespace fuselet::report
