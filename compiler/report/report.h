// What a compilation leaves for people to read: the value of every stage as text with the time that it took, what the
// partition saves and recomputes, and which nodes run in one kernel. A plain struct: whoever compiles fills it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

struct CompileReport {
  std::string graph;
  std::vector<StageReport> stages;
  std::optional<PartitionSummary> partition;
  std::vector<KernelGroup> groups;

  // nullptr if there is none of that name; of several, the last.
  const StageReport* stage(const std::string& name) const;
};

// The summary as lines of text.
std::string text_of(const PartitionSummary& summary);

}  // namespace fuselet::report
