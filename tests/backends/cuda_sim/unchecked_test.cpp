// What is found without instrumentation (FUSELET_SIM_CHECK=0): what barriers, warp operations and page protection show.
#include <cstdlib>

#include "tests/backends/cuda_sim/sim_device.h"

using namespace fuselet::cuda;
using namespace fuselet::cuda::sim_test;

namespace {

const char* const kSource = R"cuda(
extern "C" __global__ void divergent(float* y) {
  if (threadIdx.x < 40) __syncthreads();  // some here
  else
    __syncthreads();  // some there
  y[threadIdx.x] = 1;
}
extern "C" __global__ void store(int* y) {
  y[threadIdx.x] = 1;  // the store
}
extern "C" __global__ void divides(int* y, int by) {
  y[threadIdx.x] = 100 / by;  // by zero
}
__device__ __noinline__ int deep(int n, volatile int* y) {
  int local[64];
  for (int i = 0; i < 64; ++i) local[i] = y[0] + i;
  return n == 0 ? local[3] : deep(n - 1, y) + local[n % 64];
}
extern "C" __global__ void recursion(int* y, int n) { *y = deep(n, y); }
)cuda";

void expect(const char* name, Result error, const char* part, const char* line) {
  CHECK(finish() == error);
  std::vector<std::string> reports = take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].find(part) != std::string::npos);
  CHECK(reports[0].find(std::string("kernel ") + name) != std::string::npos);
  if (line) CHECK(reports[0].find(line_with("unchecked.cu", kSource, line)) != std::string::npos);
}

}  // namespace

TEST_CASE("cuda_sim: faults that need no instrumentation") {
  begin();
  auto f = [](const char* name) { return kernel("unchecked.cu", kSource, name); };
  Buffer y(std::vector<int>(64, 1));
  DevicePtr freed;
  REQUIRE(api().cuMemAlloc(&freed, 256) == kSuccess);
  REQUIRE(api().cuMemFree(freed) == kSuccess);
  CHECK(launch(f("divergent"), {1, 64}, stream(), y.at()) == kSuccess);
  expect("divergent", kErrorLaunchFailed, "divergent barrier", "// some there");
  CHECK(launch(f("store"), {1, 32}, stream(), DevicePtr{0}) == kSuccess);
  expect("store", kErrorIllegalAddress, "out of bounds", "// the store");
  CHECK(launch(f("store"), {1, 32}, stream(), freed) == kSuccess);
  expect("store", kErrorIllegalAddress, "use after free", "// the store");
  CHECK(launch(f("divides"), {1, 32}, stream(), y.at(), 0) == kSuccess);
  expect("divides", kErrorLaunchFailed, "division", "// by zero");
  CHECK(launch(f("recursion"), {1, 1}, stream(), y.at(), 1000) == kSuccess);
  expect("recursion", kErrorIllegalAddress, "stack overflow", nullptr);
  // The device goes on as if nothing had been.
  CHECK(launch(f("store"), {1, 64}, stream(), y.at()) == kSuccess);
  CHECK(y.read<int>(64) == std::vector<int>(64, 1));
  CHECK(finish() == kSuccess);
  CHECK(take_reports().empty());
}
