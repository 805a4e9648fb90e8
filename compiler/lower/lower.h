// The lower stage: fused groups to kernels of the kernel IR, and what each of their parameters is bound to.
#pragma once
#include <vector>

#include "compiler/fuse/fuse.h"
#include "compiler/lower/kernel.h"

namespace fuselet::lower {

struct LoweredKernel {
  kernel::Kernel kernel;
  std::vector<ir::ValueId> buffers;  // base values, one a buffer
  std::vector<ScalarRead> scalars;   // one a scalar parameter
  std::vector<int32_t> draws;        // of the graph, one a random parameter
  std::vector<int32_t> nodes;        // that it computes, in order
  int32_t call = -1;                 // a node on whose result it runs, part by part
};

std::vector<LoweredKernel> lower(const GraphFacts& facts, const fuse::Fusion& fusion);

std::string print(const std::vector<LoweredKernel>& kernels);

}  // namespace fuselet::lower
