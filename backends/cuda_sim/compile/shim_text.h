// The joined headers of shim/, written by shim/embed_shim.py.
#pragma once

namespace fuselet::cuda::sim {

extern const char* const kShimText;
// The name under which kernels include it.
inline constexpr const char* kShimFile = "fuselet_sim_shim.h";

}  // namespace fuselet::cuda::sim
