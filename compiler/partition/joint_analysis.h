// What a joint graph says about the two sides, and the cut problem that follows.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/partition/cut_problem.h"

namespace fuselet::partition {

struct Sides {
  std::vector<bool> after_tangent;   // values that depend on a tangent
  std::vector<bool> backward_nodes;  // nodes that depend on a tangent and lead to a gradient
  std::vector<bool> forward_needs;   // nodes that the forward needs for itself; random ones always
  std::vector<bool> needed;          // values that the backward reads and that depend on no tangent
  std::vector<int32_t> input_of;     // the input that a value is; -1: none
  std::vector<bool> overwritten;     // inputs that the forward writes
};
// InternalError if the graph is no joint graph.
Sides sides_of(const ir::Graph& joint, size_t num_forward_outputs);

// How freely the backward recomputes.
enum class Policy : uint8_t { SaveAll, Free, Pressed };

struct JointProblem {
  CutProblem cut;                    // nodes and values as in the joint graph
  std::vector<int64_t> costs;        // of running a node once more; in the cut, 0 where the forward does not need it
  std::vector<std::string> reasons;  // why a node is not recomputed; empty: it may be, or is no candidate
};
JointProblem joint_problem(const ir::Graph& joint, const Sides& sides, Policy policy);

}  // namespace fuselet::partition
