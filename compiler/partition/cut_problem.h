// What to save and what to compute again, as a problem on plain numbers.
//
// Nodes make values from values; a value without a node is an input. The backward needs some values. It has a value
// that the forward saved, or that it computes again from values that it has. So a choice of nodes to recompute says
// what is saved: every needed value whose node is not recomputed, and every operand of a recomputed node likewise.
//
//   source -> node   the cost of recomputing, uncuttable where it may not be recomputed
//   node -> value    the bytes of saving it, uncuttable where it may not be saved    (source -> value for an input)
//   value -> node    uncuttable: who recomputes a node needs its operands
//   value -> sink    uncuttable: the backward needs it
// A minimum cut is a cheapest choice; its sink side is what the backward computes or gets.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace fuselet::partition {

struct CutProblem {
  struct Node {
    std::vector<int32_t> operands, outputs;  // values
    bool may_recompute = false;
    int64_t cost = 0;
  };
  struct Value {
    int64_t bytes = 0;
    bool may_save = true;
    bool needed = false;
    int32_t node = -1;
  };
  std::vector<Node> nodes;  // in an order in which they can run
  std::vector<Value> values;
};

struct CutChoice {
  std::vector<bool> recompute;  // for each node
  std::vector<bool> save;       // for each value
  int64_t bytes = 0, cost = 0;  // of all that is saved, of all that is recomputed
};

// What follows from recomputing these nodes; those that nothing needs are left out of the choice. Nothing if a value
// would have to be saved that may not.
std::optional<CutChoice> follow(const CutProblem& problem, std::vector<bool> recompute);

// Fewest bytes; of these, recomputing least (the cut closest to the sink). InternalError if there is no choice.
CutChoice fewest_bytes(const CutProblem& problem);

// Choices to meet a budget with: bytes rise and costs fall from one to the next, from the fewest bytes to the least
// cost; at most kMostChoices. They are corners of the convex hull of all (bytes, cost), each a minimum cut for some
// price of a byte. Between two corners, where the best choice is a knapsack problem, come those that decide as the one
// corner up to a node and as the other behind it, and those that saving more nodes one by one gives, first what spares
// most cost a byte.
inline constexpr size_t kMostChoices = 96;
std::vector<CutChoice> frontier(const CutProblem& problem);

}  // namespace fuselet::partition
