// Column sums: Reduces that combine over all dims but the last, each with a value for every column.
#pragma once
#include <vector>

#include "compiler/lower/kernel.h"

namespace fuselet::codegen {

// The nest with column sums, the Stores of columns and what depends on them varying over the last dim, also where the
// columns are equal.
kernel::Nest with_column_vectors(kernel::Nest nest);

// True iff what Reduce `s` combines over is not the axis of rows but all dims but the last.
bool is_column_sum(const kernel::Nest& nest, const kernel::Statement& s);
// True for column sums of RowsAndColumns and all that depends on them.
std::vector<bool> after_column_sums(const kernel::Nest& nest);

}  // namespace fuselet::codegen
