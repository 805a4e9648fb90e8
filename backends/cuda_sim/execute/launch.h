// One launch of a kernel: its shape, a copy of its parameters, and the run over its blocks.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda_sim/execute/block.h"
#include "backends/cuda_sim/module/module.h"

namespace fuselet::cuda::sim {

struct Launch {
  const Function* function;
  Index3 grid, block;
  unsigned dynamic_shared;
  std::string parameters;       // laid out as a C structure would be
  std::vector<size_t> offsets;  // of each in it

  uint64_t threads() const { return uint64_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z; }
};

// What a device would refuse: 1, or 701 where __launch_bounds__ allows fewer threads. Parameters come as pointers or as
// one buffer in `extra`, as cuLaunchKernel says.
Result make_launch(const Function& function, Index3 grid, Index3 block, unsigned dynamic_shared, void** parameters,
                   void** extra, Launch& launch);

// Inside a run (memory/device_memory.h), under the lock.
void run_launch(const Launch& launch);

}  // namespace fuselet::cuda::sim
