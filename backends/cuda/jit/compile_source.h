// One CUDA C++ source to what a device loads, through NVRTC.
#pragma once
#include <string>

#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda::jit {

// What NVRTC compiles for: "sm_90" gives machine code; "compute_90", for a device that NVRTC does not know, PTX that
// the driver translates.
struct Architecture {
  std::string name;
  bool is_virtual = false;
};
// For compute capability major.minor, by NVRTC's own list. Error if the device is older than all of the list.
Architecture choose_architecture(const NvrtcApi& api, int major, int minor);

struct CompiledSource {
  std::string image;     // empty: it failed
  std::string messages;  // of NVRTC
  double milliseconds = 0;
};
CompiledSource compile_source(const NvrtcApi& api, const std::string& source, const Architecture& architecture);

// What shapes the image besides the source: NVRTC's version, the architecture, the options.
std::string settings_text(const NvrtcApi& api, const Architecture& architecture);

}  // namespace fuselet::cuda::jit
