#include "backends/cuda/jit/compile_source.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/error.h"

namespace fuselet::cuda::jit {
namespace {

// Raised when generated sources expect something new of the launch.
constexpr int kInterfaceVersion = 1;

// Contraction is off: fma is used where it is written, as on the host. --minimal leaves out textures, launches from the
// device and the runtime's types, which no source uses: 9 of the 40 ms that NVRTC 13.0 takes for an empty kernel
// (2026-11-30; of the 60 ms for one of two operators, what its pasted headers cost is about 10).
std::vector<std::string> options_for(const NvrtcApi& api, const Architecture& architecture) {
  int major = 0, minor = 0;
  api.nvrtcVersion(&major, &minor);
  std::vector<std::string> options = {"--gpu-architecture=" + architecture.name, "--std=c++17", "--fmad=false"};
  if (major > 12 || (major == 12 && minor >= 4)) options.push_back("--minimal");
  return options;
}

}  // namespace

Architecture choose_architecture(const NvrtcApi& api, int major, int minor) {
  int count = 0;
  FUSELET_CHECK(api.nvrtcGetNumSupportedArchs(&count) == 0 && count > 0, "NVRTC does not name its architectures");
  std::vector<int> known(static_cast<size_t>(count));
  api.nvrtcGetSupportedArchs(known.data());
  const int device = major * 10 + minor;
  if (std::find(known.begin(), known.end(), device) != known.end()) return {"sm_" + std::to_string(device), false};
  int best = 0;
  for (int a : known) {
    if (a < device) best = std::max(best, a);
  }
  FUSELET_CHECK(best > 0, "the device has compute capability ", major, ".", minor, "; this NVRTC compiles for ",
                *std::min_element(known.begin(), known.end()) / 10.0, " and newer: an older CUDA toolkit serves it");
  return {"compute_" + std::to_string(best), true};
}

CompiledSource compile_source(const NvrtcApi& api, const std::string& source, const Architecture& architecture) {
  const auto start = std::chrono::steady_clock::now();
  CompiledSource out;
  NvrtcProgram program = nullptr;
  if (api.nvrtcCreateProgram(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) {
    out.messages = "NVRTC makes no program of the source";
    return out;
  }
  const std::vector<std::string> texts = options_for(api, architecture);
  std::vector<const char*> options;
  for (const std::string& text : texts) options.push_back(text.c_str());
  const Result result = api.nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  size_t bytes = 0;
  if (api.nvrtcGetProgramLogSize(program, &bytes) == 0 && bytes > 1) {
    out.messages.resize(bytes);
    api.nvrtcGetProgramLog(program, out.messages.data());
    out.messages.resize(bytes - 1);
  }
  if (result == 0) {
    auto size = architecture.is_virtual ? api.nvrtcGetPTXSize : api.nvrtcGetCUBINSize;
    auto read = architecture.is_virtual ? api.nvrtcGetPTX : api.nvrtcGetCUBIN;
    if (size(program, &bytes) == 0) {
      out.image.resize(bytes);
      if (read(program, out.image.data()) != 0) out.image.clear();
    }
  } else if (out.messages.empty()) {
    out.messages = "NVRTC failed with result " + std::to_string(result);
  }
  api.nvrtcDestroyProgram(&program);
  out.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return out;
}

std::string settings_text(const NvrtcApi& api, const Architecture& architecture) {
  int major = 0, minor = 0;
  api.nvrtcVersion(&major, &minor);
  std::string text = "interface " + std::to_string(kInterfaceVersion) + "\nNVRTC " + std::to_string(major) + "." +
                     std::to_string(minor) + "\n" + architecture.name;
  for (const std::string& option : options_for(api, architecture)) text += " " + option;
  return text;
}

}  // namespace fuselet::cuda::jit
