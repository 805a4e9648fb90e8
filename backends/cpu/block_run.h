// Runs a block loop over operands of any layout and dtype: dense operands of the compute type go to the loop as they
// lie, others through blocks that stay in the first-level cache.
//
// Operand 0 is the output. Each element is treated alone and tail lanes hold the bits of body lanes, so results do not
// depend on where a range begins, hence not on the number of threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/convert_blocks.h"
#include "backends/cpu/pointwise_loop.h"
#include "backends/cpu/space.h"

namespace fuselet::cpu {

// Elements of a block: large enough to hide what a block costs, small enough that four of doubles fit into 32 KiB.
inline constexpr int64_t kBlock = 1024;
// Rows shorter than this are gathered into blocks of several rows.
inline constexpr int64_t kShortRow = 256;
// Elements whose work pays for waking a thread.
inline constexpr int64_t kPointwiseGrain = 32768;

struct BlockInput {
  const std::byte* data;
  size_t element;  // bytes
  LoadBlock load;
  bool as_it_lies;  // its elements are of the compute type
};

struct BlockOutput {
  std::byte* data;
  size_t element;
  StoreBlock store;
  bool as_it_lies;
};

struct BlockRun {
  Space space;  // simplified
  size_t compute_element;
  BlockLoop loop;  // nullptr: the one input is stored as it is
  BlockOutput output;
  BlockInput inputs[kMaxOperands - 1];

  // All elements, in parallel where there are many.
  void run() const;
  void run_range(int64_t begin, int64_t end) const;
};

}  // namespace fuselet::cpu
