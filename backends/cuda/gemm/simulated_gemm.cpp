#include "backends/cuda/gemm/simulated_gemm.h"

#include "backends/cuda/gemm/gemm_ranges.h"
#include "backends/cuda/gemm/host_gemm.h"
#include "core/error.h"

namespace fuselet::cuda {

void SimulatedGemm::enqueue(const GemmDesc& desc, StreamHandle stream) {
  const std::vector<DeviceRange> ranges = ranges_of(desc);
  auto* kept = new GemmDesc(desc);  // destroyed by the simulator, also when it refuses the launch
  const Result result = driver_.sim.launch_native(
      stream, "gemm", [](void* argument) { host_gemm(*static_cast<GemmDesc*>(argument)); }, kept,
      [](void* argument) { delete static_cast<GemmDesc*>(argument); }, ranges.data(), static_cast<int>(ranges.size()));
  FUSELET_CHECK(result == kSuccess, name(), ": error ", result, ": ", to_string(desc));
}

}  // namespace fuselet::cuda
