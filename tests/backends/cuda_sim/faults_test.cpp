// Planted faults: each is found, at the right line, with the device's error. The fast mode sees only part of them.
#include <cstdlib>

#include "tests/backends/cuda_sim/sim_device.h"

using namespace fuselet::cuda;
using namespace fuselet::cuda::sim_test;

namespace {

const char* const kSource = R"cuda(
extern "C" __global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] =  // the store
        x[i];  // the load
}

extern "C" __global__ void late_guard(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];  // beyond n
  if (i < n || v > 1e30f) y[i] = v;
}

extern "C" __global__ void vectors(const float* x, float* y, int skip) {
  float4 v = *(const float4*)(x + skip);  // misaligned
  *(float4*)y = v;
}

extern "C" __global__ void missing_barrier(float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = threadIdx.x;  // first write
  y[threadIdx.x] = s[63 - threadIdx.x];  // read too early
}

extern "C" __global__ void reused_too_early(float* y) {
  __shared__ float s[1];
  if (threadIdx.x == 0) s[0] = 1;
  __syncthreads();
  y[threadIdx.x] = s[0];  // all read
  if (threadIdx.x == 0) s[0] = 2;  // others may still read
}

extern "C" __global__ void warp_synchronous(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __shfl_sync(0xffffffffu, 1, 0);  // orders no memory
  y[threadIdx.x] = s[threadIdx.x ^ 1];  // no __syncwarp
}

extern "C" __global__ void with_syncwarp(int* y) {
  __shared__ int s[32];
  for (int round = 0; round < 3; ++round) {
    s[threadIdx.x] = threadIdx.x + round;
    __syncwarp();
    int v = s[threadIdx.x ^ 1];
    __syncwarp();
    y[threadIdx.x] = v;
  }
}

extern "C" __global__ void between_blocks(int* y) {
  y[threadIdx.x / 2] = 1;  // pairs, and all blocks, write the same
}

extern "C" __global__ void beside_atomics(int* y) {
  if (blockIdx.x == 0) atomicAdd(y, 1);
  else if (threadIdx.x == 0) y[1] = *y;  // plain read beside atomics
}

extern "C" __global__ void divergent(float* y) {
  if (threadIdx.x < 40)
    __syncthreads();  // some here
  else
    __syncthreads();  // some there
  y[threadIdx.x] = 1;
}

extern "C" __global__ void early_return(float* y) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  y[threadIdx.x] = 1;
}

extern "C" __global__ void stuck(float* y) {
  if (threadIdx.x < 3)
    __syncwarp();  // names lanes that never come
  else
    __syncthreads();  // these wait here
  y[threadIdx.x] = 1;
}

extern "C" __global__ void bad_mask(int* y) {
  y[threadIdx.x] = __shfl_sync(0x0000ffffu, 1, 0);  // lane 16 is not named
}

extern "C" __global__ void inactive_source(int* y) {
  y[threadIdx.x] = __shfl_down_sync(0xffffffffu, (int)threadIdx.x, 4);  // beyond the block
}

extern "C" __global__ void uninitialised_shared(float* y) {
  __shared__ float s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];  // half is unwritten
}

extern "C" __global__ void static_overrun(float* y) {
  __shared__ float s[32], t[32];
  t[threadIdx.x] = 0;
  s[threadIdx.x + 8] = 1;  // into t
  __syncthreads();
  y[threadIdx.x] = t[threadIdx.x];
}

extern "C" __global__ void dynamic_overrun(float* y) {
  extern __shared__ float d[];
  d[threadIdx.x] = 1;  // more than asked for
  y[threadIdx.x] = d[threadIdx.x];
}

extern "C" __global__ void endless(volatile int* flag, int* y) {
  while (*flag == 0) {}  // nobody sets it
  *y = 1;
}

extern "C" __global__ void divides(int* y, int by) {
  y[threadIdx.x] = 100 / by;  // by zero
}

__device__ __noinline__ int deep(int n) {
  int local[64];
  for (int i = 0; i < 64; ++i) local[i] = n + i;  // the stack ends
  return n == 0 ? local[3] : deep(n - 1) + local[n % 64];
}
extern "C" __global__ void recursion(int* y, int n) { *y = deep(n); }

extern "C" __global__ void fails(int* y) {
  assert(y[0] == 5);  // it is 4
}
extern "C" __global__ void traps(int* y) {
  if (y[0] == 4) __trap();  // on purpose
}
)cuda";

constexpr const char* kProgram = "faults.cu";
FunctionHandle faulty(const char* name) { return kernel(kProgram, kSource, name); }
std::string line(const char* text) { return line_with(kProgram, kSource, text); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The stream ends in `error`, and one report holds all the parts. Clears it.
void expect_report(Result error, const std::vector<std::string>& parts) {
  CHECK(finish() == error);
  CHECK(api().cuCtxSynchronize() == error);  // it sticks
  std::vector<std::string> reports = take_reports();
  bool found = false;
  std::string all;
  for (const std::string& report : reports) {
    bool holds_all = true;
    for (const std::string& part : parts) holds_all = holds_all && contains(report, part);
    found = found || holds_all;
    all += report + "\n";
  }
  CHECK_MESSAGE(found, "looked for ", parts[0], " and ", parts.back(), " in:\n", all);
}

void expect_no_report() {
  CHECK(finish() == kSuccess);
  CHECK(take_reports().empty());
}

std::vector<float> ones(size_t n) { return std::vector<float>(n, 1.0f); }

}  // namespace

TEST_CASE("cuda_sim: out of bounds in device memory") {
  begin();
  Buffer x(ones(100)), y(100 * 4);
  CHECK(launch(faulty("late_guard"), {2, 64}, stream(), x.at(), y.at(), 100) == kSuccess);
  expect_report(kErrorIllegalAddress,
                {"out of bounds: read of 4 bytes", line("// beyond n"), "kernel late_guard", "block (1,0,0)",
                 "thread (36,0,0)", "0 bytes past the end of the block of cuMemAlloc of 400 bytes"});
  Buffer z(50 * 4);
  CHECK(launch(faulty("copy"), {1, 64}, stream(), x.at(), z.at(), 64) == kSuccess);
  expect_report(kErrorIllegalAddress, {"out of bounds: write of 4 bytes", line("// the store"), "thread (50,0,0)"});
  CHECK(launch(faulty("copy"), {1, 32}, stream(), DevicePtr{0}, z.at(), 8) == kSuccess);
  expect_report(kErrorIllegalAddress, {"null pointer", line("// the load")});
  std::vector<float> host(8);
  CHECK(launch(faulty("copy"), {1, 32}, stream(), host.data(), z.at(), 8) == kSuccess);
  expect_report(kErrorIllegalAddress, {"pointer of the host", line("// the load")});
}

TEST_CASE("cuda_sim: out of bounds between the blocks of an allocator") {
  begin();
  Buffer segment(1 << 20);
  api().sim.announce_block(segment.at(0), 400);
  api().sim.announce_block(segment.at(512), 400);
  std::vector<float> x = ones(100);
  CHECK(api().cuMemcpyHtoDAsync(segment.at(0), x.data(), 400, stream()) == kSuccess);
  CHECK(launch(faulty("copy"), {1, 128}, stream(), segment.at(0), segment.at(512), 100) == kSuccess);
  expect_no_report();
  CHECK(launch(faulty("late_guard"), {1, 128}, stream(), segment.at(0), segment.at(512), 100) == kSuccess);
  expect_report(kErrorIllegalAddress,
                {"0 bytes past the end of the announced block of 400 bytes", line("// beyond n"), "thread (100,0,0)"});
  // Nothing was announced there.
  CHECK(launch(faulty("copy"), {1, 32}, stream(), segment.at(0), segment.at(4096), 4) == kSuccess);
  expect_report(kErrorIllegalAddress, {"past the end of the announced block", line("// the store")});
  api().sim.retire_block(segment.at(512));
  CHECK(launch(faulty("copy"), {1, 32}, stream(), segment.at(512), segment.at(0), 4) == kSuccess);
  expect_report(kErrorIllegalAddress, {"use after free", "announced block of 400 bytes", line("// the load")});
  // Copies are held to it as well.
  CHECK(api().cuMemsetD8Async(segment.at(256), 0, 300, stream()) == kSuccess);
  expect_report(kErrorIllegalAddress, {"memset writes 300 bytes"});
  api().sim.announce_block(segment.at(100), 8);
  expect_report(kErrorInvalidValue, {"not at a multiple of 256"});
  api().sim.announce_block(segment.at(256), 8);
  expect_report(kErrorInvalidValue, {"overlaps the announced block of 400 bytes"});
  api().sim.retire_block(segment.at(512));
  expect_report(kErrorInvalidValue, {"retire_block"});
}

TEST_CASE("cuda_sim: a new block does not see what its memory held") {
  begin();
  Buffer segment(4096), out(64);
  std::vector<float> x = ones(16);
  api().sim.announce_block(segment.at(0), 64);
  CHECK(api().cuMemcpyHtoDAsync(segment.at(0), x.data(), 64, stream()) == kSuccess);
  CHECK(launch(faulty("copy"), {1, 32}, stream(), segment.at(0), out.at(), 16) == kSuccess);  // pending
  api().sim.retire_block(segment.at(0));
  api().sim.announce_block(segment.at(0), 128);
  // The first copy was submitted while the first block lived, and still sees it.
  CHECK(out.read<float>(16) == x);
  expect_no_report();
  CHECK(launch(faulty("copy"), {1, 32}, stream(), segment.at(0), out.at(), 16) == kSuccess);
  expect_report(kErrorLaunchFailed, {"uninitialised: read of 4 bytes", line("// the load"), "announced block of 128"});
}

TEST_CASE("cuda_sim: use after free, and freeing twice") {
  begin();
  Buffer y(64);
  DevicePtr x;
  CHECK(api().cuMemAlloc(&x, 64) == kSuccess);
  CHECK(api().cuMemsetD32Async(x, 1, 16, stream()) == kSuccess);
  CHECK(api().cuMemFree(x) == kSuccess);
  CHECK(launch(faulty("copy"), {1, 32}, stream(), x, y.at(), 16) == kSuccess);
  expect_report(kErrorIllegalAddress, {"use after free", "64 bytes", line("// the load")});
  CHECK(api().cuMemFree(x) == kErrorInvalidValue);
  std::vector<std::string> reports = take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(contains(reports[0], "freed before"));
  CHECK(api().cuMemcpyDtoDAsync(y.at(), x, 64, stream()) == kErrorInvalidValue);
  CHECK(take_reports().size() == 1);
}

TEST_CASE("cuda_sim: misaligned vector accesses") {
  begin();
  Buffer x(ones(16)), y(64);
  CHECK(launch(faulty("vectors"), {1, 1}, stream(), x.at(), y.at(), 4) == kSuccess);
  expect_no_report();
  CHECK(launch(faulty("vectors"), {1, 1}, stream(), x.at(), y.at(), 2) == kSuccess);
  expect_report(kErrorMisalignedAddress, {"misaligned", "16", line("// misaligned")});
}

TEST_CASE("cuda_sim: races in shared memory") {
  begin();
  Buffer y(64 * 4);
  CHECK(launch(faulty("missing_barrier"), {1, 64}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"race: ", line("// read too early"), line("// first write"), "shared memory s["});
  CHECK(launch(faulty("reused_too_early"), {1, 64}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"race: ", line("// others may still read"), line("// all read")});
  CHECK(launch(faulty("warp_synchronous"), {1, 32}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"race: ", line("// no __syncwarp")});
  CHECK(launch(faulty("with_syncwarp"), {1, 32}, stream(), y.at()) == kSuccess);
  expect_no_report();
}

TEST_CASE("cuda_sim: races in device memory") {
  begin();
  Buffer y(std::vector<int>(64, 0));
  CHECK(launch(faulty("between_blocks"), {1, 2}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"race: write", line("// pairs, and all blocks"), "thread 0 of the block"});
  CHECK(launch(faulty("between_blocks"), {2, 1}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"race: write", line("// pairs, and all blocks"), "a thread of another block"});
  CHECK(launch(faulty("beside_atomics"), {2, 32}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"race: read", line("// plain read beside atomics"), "after the atomic operation"});
  // Atomics alone, and launches one after another, are ordered.
  CHECK(launch(faulty("beside_atomics"), {1, 64}, stream(), y.at()) == kSuccess);
  CHECK(launch(faulty("beside_atomics"), {1, 64}, stream(), y.at()) == kSuccess);
  expect_no_report();
}

TEST_CASE("cuda_sim: barriers that not all threads reach") {
  begin();
  Buffer y(64 * 4);
  CHECK(launch(faulty("divergent"), {1, 64}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"divergent barrier", line("// some there"), line("// some here")});
  CHECK(launch(faulty("early_return"), {1, 64}, stream(), y.at()) == kSuccess);
  expect_no_report();
  CHECK(launch(faulty("stuck"), {1, 32}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"deadlock", line("// names lanes that never come"), line("// these wait here")});
}

TEST_CASE("cuda_sim: warp operations with wrong masks") {
  begin();
  Buffer y(64 * 4);
  CHECK(launch(faulty("bad_mask"), {1, 32}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"lacks the lane itself, 16", line("// lane 16 is not named"), "thread (16,0,0)"});
  CHECK(launch(faulty("inactive_source"), {1, 20}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"lane 16 reads lane 20", line("// beyond the block")});
}

TEST_CASE("cuda_sim: reads of what was never written") {
  begin();
  Buffer x(64 * 4), y(64 * 4);
  CHECK(api().cuMemsetD32Async(x.at(), 0, 10, stream()) == kSuccess);
  CHECK(launch(faulty("copy"), {1, 32}, stream(), x.at(), y.at(), 11) == kSuccess);
  expect_report(kErrorLaunchFailed,
                {"uninitialised: read of 4 bytes of byte 40 of", line("// the load"), "thread (10,0,0)"});
  CHECK(launch(faulty("uninitialised_shared"), {1, 64}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"uninitialised", "shared memory s[+128]", line("// half is unwritten")});
}

TEST_CASE("cuda_sim: shared arrays overrun") {
  begin();
  Buffer y(64 * 4);
  CHECK(launch(faulty("static_overrun"), {1, 32}, stream(), y.at()) == kSuccess);
  expect_report(kErrorIllegalAddress, {"out of bounds: index 32 of 'float [32]'", line("// into t")});
  CHECK(launch(faulty("dynamic_overrun"), {1, 32, 64}, stream(), y.at()) == kSuccess);
  expect_report(kErrorIllegalAddress, {"asks for 64 bytes", line("// more than asked for"), "thread (16,0,0)"});
  CHECK(launch(faulty("dynamic_overrun"), {1, 32, 128}, stream(), y.at()) == kSuccess);
  expect_no_report();
}

TEST_CASE("cuda_sim: loops without end, division by zero, stacks, assertions, traps") {
  begin();
  Buffer flag(std::vector<int>{0}), y(std::vector<int>(64, 4));
  CHECK(launch(faulty("endless"), {1, 1}, stream(), flag.at(), y.at()) == kSuccess);
  expect_report(kErrorLaunchTimeout, {"endless loop", line("// nobody sets it")});
  CHECK(launch(faulty("divides"), {1, 1}, stream(), y.at(), 0) == kSuccess);
  expect_report(kErrorLaunchFailed, {"division", line("// by zero")});
  CHECK(launch(faulty("recursion"), {1, 1}, stream(), y.at(), 3) == kSuccess);
  expect_no_report();
  CHECK(launch(faulty("recursion"), {1, 1}, stream(), y.at(), 1000) == kSuccess);
  expect_report(kErrorIllegalAddress, {"stack overflow"});
  y.write(std::vector<int>{4});
  CHECK(launch(faulty("fails"), {1, 1}, stream(), y.at()) == kSuccess);
  expect_report(710, {"assertion failed: y[0] == 5", line("// it is 4")});
  CHECK(launch(faulty("traps"), {1, 1}, stream(), y.at()) == kSuccess);
  expect_report(kErrorLaunchFailed, {"trap", line("// on purpose")});
}

TEST_CASE("cuda_sim: launches that a device refuses") {
  begin();
  Buffer y(std::vector<int>(64, 4));
  auto f = faulty("copy");
  CHECK(launch(f, {0, 32}, stream(), y.at(), y.at(), 0) == kErrorInvalidValue);
  CHECK(launch(f, {1, 1025}, stream(), y.at(), y.at(), 0) == kErrorInvalidValue);
  CHECK(launch(f, {1, 32, 49 * 1024}, stream(), y.at(), y.at(), 0) == kErrorInvalidValue);
  CHECK(api().cuFuncSetAttribute(f, kFunctionMaxDynamicSharedSizeBytes, 100 * 1024) == kSuccess);
  CHECK(launch(f, {1, 32, 49 * 1024}, stream(), y.at(), y.at(), 0) == kSuccess);
  CHECK(api().cuFuncSetAttribute(f, kFunctionMaxDynamicSharedSizeBytes, 228 * 1024) == kErrorInvalidValue);
  int shared = 0;
  CHECK(api().cuFuncGetAttribute(&shared, kFunctionSharedSizeBytes, faulty("missing_barrier")) == kSuccess);
  CHECK(shared == 256);
  expect_no_report();
  // The default stream waits for all others: nobody here means it.
  CHECK(launch(f, {1, 32}, nullptr, y.at(), y.at(), 0) == kErrorInvalidHandle);
  CHECK(take_reports().size() == 1);
}
