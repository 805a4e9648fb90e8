// Nests that share a launch: which of them a block belongs to. Generated units paste it.
#pragma once

#include "backends/cuda/codegen/prelude/values.h"

namespace fuselet::device {

struct Table {
  const void* arguments;     // one struct a nest
  const long* first_blocks;  // ascending, one a nest
  long nests;
};

FUSELET_FN int nest_of_block(const Table& table, long block) {
  int low = 0, high = (int)table.nests;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (table.first_blocks[middle] <= block)
      low = middle;
    else
      high = middle;
  }
  return low;
}

}  // namespace fuselet::device
