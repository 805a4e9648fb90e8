// The functions of a nest for each structure of loops.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/codegen/nest_writer.h"

namespace fuselet::cpu::codegen {

// A function over tiles that threads may take in any order. The phases of a nest run one after the other.
struct Phase {
  std::string function;
  std::vector<int64_t> tiles;  // one a nest of the group
  double work = 0;             // of one tile at most, in bytes moved (NestWriter::cost)
};

// Elements of the last dim that a pointwise tile has: enough that a tile's own cost does not show.
inline constexpr int64_t kSegment = 8192;
// Rows and columns of a tile where an operand lies along another dim than the last (kBlockSide of prelude/blocks.h).
inline constexpr int64_t kBlockSide = 64;
// Columns of a tile: sums and a row of each operand stay in the first-level cache.
inline constexpr int64_t kStrip = 2048;

// Writes the functions, named `name` and a suffix, into the writer.
std::vector<Phase> write_pointwise(NestWriter& w, const std::string& name);
// Where an operand lies along another dim than the last.
std::optional<size_t> crossing_dim(const kernel::Nest& nest);
std::vector<Phase> write_crossing(NestWriter& w, const std::string& name, size_t dim);
std::vector<Phase> write_tile(NestWriter& w, const std::string& name);
std::vector<Phase> write_rows(NestWriter& w, const std::string& name);
std::vector<Phase> write_split_rows(NestWriter& w, const std::string& name);
std::vector<Phase> write_rows_and_columns(NestWriter& w, const std::string& name);
std::vector<Phase> write_columns(NestWriter& w, const std::string& name);

// The bytes of scratch memory that each statement of a nest needs for results of tiles and columns, by statement.
std::vector<int64_t> scratch_of(const kernel::Nest& nest);

}  // namespace fuselet::cpu::codegen
