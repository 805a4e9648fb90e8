// The most memory that the two graphs of a partition hold at a time, operator by operator: each value lives from the
// node that makes it to the last that reads it or a view of it; forward outputs and saved values stay until the end of
// the backward, tangents and gradients likewise. Inputs and parameters are not counted. Fusion only lowers it.
#pragma once
#include <cstdint>

#include "compiler/partition/partition.h"

namespace fuselet::partition {

int64_t planned_peak(const Partition& partition);

}  // namespace fuselet::partition
