// Which architecture NVRTC compiles for, from the lists of old and new toolkits, and that the choice is a part of what
// names a kernel on disk.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/cuda/jit/compile_source.h"
#include "core/error.h"

using namespace fuselet;
using namespace fuselet::cuda;

namespace {

std::vector<int> g_known;
int g_version = 13;

NvrtcApi nvrtc_that_knows(std::vector<int> known) {
  g_known = std::move(known);
  NvrtcApi api = {};
  api.nvrtcGetNumSupportedArchs = [](int* count) {
    *count = static_cast<int>(g_known.size());
    return 0;
  };
  api.nvrtcGetSupportedArchs = [](int* known) {
    std::copy(g_known.begin(), g_known.end(), known);
    return 0;
  };
  api.nvrtcVersion = [](int* major, int* minor) {
    *major = g_version;
    *minor = 0;
    return 0;
  };
  return api;
}

}  // namespace

TEST_CASE("NVRTC compiles for the device, or PTX for the newest architecture below it") {
  const NvrtcApi api = nvrtc_that_knows({75, 80, 86, 90});
  jit::Architecture a = jit::choose_architecture(api, 9, 0);
  CHECK(a.name == "sm_90");
  CHECK_FALSE(a.is_virtual);
  // The driver compiles PTX of an older architecture on.
  a = jit::choose_architecture(api, 12, 0);
  CHECK(a.name == "compute_90");
  CHECK(a.is_virtual);
  a = jit::choose_architecture(api, 8, 9);
  CHECK(a.name == "compute_86");
  CHECK(a.is_virtual);
}

TEST_CASE("a device older than all that NVRTC knows, and an NVRTC without a list, are errors that say so") {
  CHECK_THROWS_WITH_AS(
      jit::choose_architecture(nvrtc_that_knows({90, 75, 80, 86}), 6, 1),
      "the device has compute capability 6.1; this NVRTC compiles for 7.5 and newer: an older CUDA toolkit "
      "serves it",
      Error);
  CHECK_THROWS_WITH_AS(jit::choose_architecture(nvrtc_that_knows({}), 9, 0), "NVRTC does not name its architectures",
                       Error);
}

TEST_CASE("another architecture and another NVRTC are other kernels on disk") {
  const NvrtcApi api = nvrtc_that_knows({80, 90});
  const std::string text = jit::settings_text(api, {"sm_90", false});
  CHECK(jit::settings_text(api, {"sm_90", false}) == text);
  CHECK(jit::settings_text(api, {"sm_80", false}) != text);
  CHECK(jit::settings_text(api, {"compute_90", true}) != text);
  g_version = 12;
  CHECK(jit::settings_text(api, {"sm_90", false}) != text);
  g_version = 13;
}
