// What may be computed again in the backward instead of being saved by the forward, and what that costs: one row a kind
// of operator, and rows for single operators whose kind says too little. All that the partitioner knows of operators.
#pragma once
#include <cstdint>
#include <span>

#include "compiler/ir/graph.h"

namespace fuselet::partition {

enum class When : uint8_t {
  Always,   // moves no bytes to speak of
  Cheap,    // fuses with its reader
  Shrinks,  // like Cheap, unless it reads kShrinks times what it gives: then saving is the smaller part
  Pressed,  // only where the memory budget leaves no other way
  Never,
};

enum class Cost : uint8_t {
  None,
  Written,  // bytes of the outputs
  Moved,    // bytes of operands and outputs
  Volume,   // multiplications of a contraction, by kFlopsPerByte
};

struct RecomputeRow {
  OpKind kind;
  When when;
  Cost cost;
  int32_t weight;      // of the cost
  const char* reason;  // why it is not recomputed without pressure
};
struct RecomputeException {
  OpId op;
  When when;
  const char* reason;
};

std::span<const RecomputeRow> recompute_rows();
std::span<const RecomputeException> recompute_exceptions();

// Bytes read for a byte given from which on a reduction is saved.
inline constexpr int64_t kShrinks = 4;
// Operations that take as long as moving a byte: about 5 on two AVX-512 cores, 14 on a large GPU.
inline constexpr int64_t kFlopsPerByte = 8;
// Nodes on a path of recomputed ones, views and fillings apart. A longer one saves a value on its way: the backward
// would start with a run of work that nothing overlaps, and one kernel would hold too many live values.
inline constexpr int32_t kLongestChain = 32;

struct RecomputeRule {
  When when;
  const char* reason;
  int64_t cost;  // in bytes moved
};
RecomputeRule recompute_rule(const ir::Graph& graph, const ir::Node& node);

// The memory that a value takes, gaps of its layout included. Symbolic sizes count as in the recorded call.
int64_t bytes_of(const TensorMeta& meta);

}  // namespace fuselet::partition
