// The kernels of a nest for each structure of loops, in launch order.
#pragma once
#include <vector>

#include "backends/cuda/codegen/nest_text.h"

namespace fuselet::cuda::codegen {

// Where a nest's scratch memory lies, and what the stage around it looks like.
struct NestPlace {
  int64_t scratch = 0;  // byte offset of the nest's part
  bool alone = true;    // the only nest of its stage
};

// Threads of a block where rows do not say otherwise: eight warps hide latency, and eight such blocks fill a
// multiprocessor.
inline constexpr unsigned kBlockThreads = 256;

std::vector<PhaseText> write_pointwise(NestText& t, const NestPlace& place);
std::vector<PhaseText> write_rows(NestText& t, const NestPlace& place);
std::vector<PhaseText> write_split_rows(NestText& t, const NestPlace& place);
// `narrow`: the same nest with one lane, for phases of a thread a column.
std::vector<PhaseText> write_columns(NestText& wide, NestText& narrow, const NestPlace& place);
std::vector<PhaseText> write_rows_and_columns(NestText& wide, NestText& narrow, const NestPlace& place);

// Bytes of scratch memory that the nest needs.
int64_t scratch_bytes_of(const kernel::Nest& nest);
// Byte offset of Reduce `statement`'s partial results in the nest's scratch memory; where all end.
int64_t partials_offset(const kernel::Nest& nest, int statement);

// The phase after partial results of column sums: a thread a column combines them, then runs what depends on them and
// varies over the last dim alone. `leaves` partial results, `columns` elements apart, for each of `outer` groups.
struct ColumnFinish {
  int64_t outer, leaves, columns;
  std::vector<int> reduces;
  std::vector<int> tail;  // statements and stores, in order
  bool keeps_results;     // for later phases, behind the partial results
};
PhaseText write_column_finish(NestText& t, const NestPlace& place, const ColumnFinish& finish);

// All statements that the roots need, in order, without Reduces.
std::vector<int> needed_by(const kernel::Nest& nest, const std::vector<int>& roots);

}  // namespace fuselet::cuda::codegen
