// Scans on CUDA: scan_sum, scan_product, scan_logaddexp. One pair of kernels for all, with the combining formula's name
// pasted in.
//
// A thread takes a line where lines are short, or neighbours in memory and many; else a block takes one, tile by tile.
// Which, and with it the order in which elements combine, depends on the sizes alone. Floats of 32 bits and less are
// combined in float.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

void scan_sum(const Call& call);
void scan_product(const Call& call);
void scan_logaddexp(const Call& call);

}  // namespace fuselet::cuda
