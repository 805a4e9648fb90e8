// What kernels ask about themselves, and how they end early.
#include "backends/cuda_sim/execute/block.h"
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

namespace {
constexpr Result kErrorAssert = 710;
}  // namespace

FUSELET_SIM_EXPORT Index3 sim_thread_index() { return g_block.current->index; }
FUSELET_SIM_EXPORT Index3 sim_block_index() { return g_block.index; }
FUSELET_SIM_EXPORT Index3 sim_block_dim() { return g_block.dim; }
FUSELET_SIM_EXPORT Index3 sim_grid_dim() { return g_block.grid; }

// Deterministic: each question takes one step.
FUSELET_SIM_EXPORT long long sim_clock() { return static_cast<long long>(++g_block.current->steps); }

FUSELET_SIM_EXPORT void sim_trap() { fault(kErrorLaunchFailed, "trap", __builtin_return_address(0)); }
FUSELET_SIM_EXPORT void sim_assertion_failed(const char* condition) {
  fault(kErrorAssert, std::string("assertion failed: ") + condition + ",", __builtin_return_address(0));
}

}  // namespace fuselet::cuda::sim
