// Right kernels give right values, in every schedule, and no report.
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/backends/cuda_sim/sim_device.h"

using namespace fuselet::cuda;
using namespace fuselet::cuda::sim_test;

namespace {

const char* const kSource = R"cuda(
extern "C" __global__ void __launch_bounds__(256) scale_add(const float* __restrict__ x, const float* y, float* z, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 4 <= n) {
    float4 a = *(const float4*)(x + i), b = *(const float4*)(y + i);
    *(float4*)(z + i) = make_float4(__fmaf_rn(a.x, FACTOR, b.x), __fmaf_rn(a.y, FACTOR, b.y),
                                    __fmaf_rn(a.z, FACTOR, b.z), __fmaf_rn(a.w, FACTOR, b.w));
  } else {
    for (; i < n; ++i) z[i] = x[i] * FACTOR + y[i];
  }
}

__device__ __forceinline__ float warp_sum(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  return v;
}
__device__ __forceinline__ float warp_max(float v) {
  for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
  return v;
}

// One row a block.
extern "C" __global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float partial[32];
  __shared__ float total;
  const float* row = x + (long long)blockIdx.x * columns;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float largest = -1e30f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) largest = fmaxf(largest, row[c]);
  largest = warp_max(largest);
  if (lane == 0) partial[warp] = largest;
  __syncthreads();
  if (warp == 0) {
    float v = warp_max(lane < warps ? partial[lane] : -1e30f);
    if (lane == 0) total = v;
  }
  __syncthreads();
  largest = total;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c] - largest);
  sum = warp_sum(sum);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    float v = warp_sum(lane < warps ? partial[lane] : 0.0f);
    if (lane == 0) total = v;
  }
  __syncthreads();
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    __stcs(y + (long long)blockIdx.x * columns + c, expf(row[c] - largest) / total);
}

// A block sums `rows_a_block` rows of 32 columns; then one block sums those.
extern "C" __global__ void column_sum(const int* x, int* partial, int rows, int columns, int rows_a_block) {
  extern __shared__ int tile[];
  int c = threadIdx.x % 32, r = threadIdx.x / 32, groups = blockDim.x / 32;
  int begin = blockIdx.x * rows_a_block, end = min(begin + rows_a_block, rows), sum = 0;
  for (int row = begin + r; row < end; row += groups) sum += x[row * columns + c];
  tile[threadIdx.x] = sum;
  __syncthreads();
  for (int half = groups / 2; half > 0; half /= 2) {
    if (r < half) tile[threadIdx.x] += tile[threadIdx.x + half * 32];
    __syncthreads();
  }
  if (r == 0) partial[blockIdx.x * columns + c] = tile[c];
}

// Round to nearest, ties to even; normal numbers and zero only.
extern "C" __global__ void to_bfloat16(const float* x, unsigned short* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned bits = __float_as_uint(__ldg(x + i));
  y[i] = (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

extern "C" __global__ void transpose(const float* x, float* y, int n) {
  __shared__ float tile[32][33];
  int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += blockDim.y)
    if (row + r < n && column < n) tile[threadIdx.y + r][threadIdx.x] = x[(row + r) * n + column];
  __syncthreads();
  column = blockIdx.y * 32 + threadIdx.x;
  row = blockIdx.x * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += blockDim.y)
    if (row + r < n && column < n) y[(row + r) * n + column] = tile[threadIdx.x][threadIdx.y + r];
}

extern "C" __global__ void votes(unsigned* out, unsigned long long* total) {
  unsigned lane = threadIdx.x % 32, all = 0xffffffffu;
  atomicAdd(total, (unsigned long long)threadIdx.x);
  atomicMax((int*)(out + 7), (int)threadIdx.x - 5);
  unsigned odd = __ballot_sync(all, lane & 1);
  int any = __any_sync(all, lane == 40), every = __all_sync(all, lane < 32);
  double d = __shfl_down_sync(all, (double)lane + 0.5, 1);
  long long up = __shfl_up_sync(all, (long long)lane << 40, 2);
  unsigned first = __shfl_sync(all, lane * 3, 5, 8);
  unsigned sum = __reduce_add_sync(all, lane);
  __syncwarp();
  if (threadIdx.x == 3) {
    out[0] = odd; out[1] = any; out[2] = every; out[3] = d == 4.5; out[4] = up == 1ll << 40; out[5] = first; out[6] = sum;
  }
  int later = __syncthreads_count(threadIdx.x >= 40);
  if (threadIdx.x == 0) out[8] = later;
}

struct Pair { const float* from; float* to; char pad; double by; };
extern "C" __global__ void by_struct(int skip, const __grid_constant__ Pair pair, short last) {
  if (threadIdx.x < 4) pair.to[threadIdx.x] = pair.from[threadIdx.x + skip] * pair.by + last;
}
)cuda";

FunctionHandle clean(const char* name) { return kernel("clean.cu", kSource, name); }

void expect_no_report() {
  CHECK(finish() == kSuccess);
  CHECK(take_reports().empty());
}

}  // namespace

TEST_CASE("cuda_sim: a pointwise kernel with 16-byte accesses and a tail") {
  begin();
  const int n = 1027;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = 0.25f * i, y[i] = 3 - i;
  Buffer a(x), b(y), c(n * sizeof(float));
  CHECK(launch(clean("scale_add"), {2, 256}, stream(), a.at(), b.at(), c.at(), n) == kSuccess);
  std::vector<float> z = c.read<float>(n);
  for (int i = 0; i < n; ++i) CHECK(z[i] == 2 * x[i] + y[i]);  // exact: few bits
  expect_no_report();
}

TEST_CASE("cuda_sim: a softmax over rows, in every schedule of threads") {
  begin();
  const int rows = 5, columns = 300;
  std::vector<float> x(rows * columns);
  for (int i = 0; i < rows * columns; ++i) x[i] = std::sin(0.37f * i) * 4;
  Buffer a(x), b(x.size() * sizeof(float));
  for (const char* schedule : {"forward", "reverse", "random:7"}) {
    set_schedule(schedule);
    CHECK(launch(clean("softmax"), {rows, 128}, stream(), a.at(), b.at(), columns) == kSuccess);
    std::vector<float> y = b.read<float>(x.size());
    for (int r = 0; r < rows; ++r) {
      double sum = 0;
      for (int c = 0; c < columns; ++c) sum += std::exp(double{x[r * columns + c]});
      for (int c = 0; c < columns; ++c)
        CHECK(y[r * columns + c] == doctest::Approx(std::exp(double{x[r * columns + c]}) / sum).epsilon(1e-5));
    }
    expect_no_report();
  }
  set_schedule("forward");
}

TEST_CASE("cuda_sim: a sum over columns in two stages, with dynamic shared memory") {
  begin();
  const int rows = 333, columns = 32, rows_a_block = 100, blocks = 4;
  std::vector<int> x(rows * columns), expected(columns);
  for (int i = 0; i < rows * columns; ++i) {
    x[i] = i * 7 % 1000;
    expected[i % columns] += x[i];
  }
  Buffer a(x), partial(blocks * columns * 4), sums(columns * 4);
  auto f = clean("column_sum");
  CHECK(launch(f, {blocks, 256, 1024}, stream(), a.at(), partial.at(), rows, columns, rows_a_block) == kSuccess);
  CHECK(launch(f, {1, 64, 256}, stream(), partial.at(), sums.at(), blocks, columns, blocks) == kSuccess);
  CHECK(sums.read<int>(columns) == expected);
  expect_no_report();
}

TEST_CASE("cuda_sim: conversion to 16 bits through integers") {
  begin();
  std::vector<float> x = {0.0f, -0.0f, 1.0f, 1.00390625f, 1.01171875f, -2.5e-30f, 3.14159f};
  Buffer a(x), b(x.size() * 2);
  CHECK(launch(clean("to_bfloat16"), {1, 32}, stream(), a.at(), b.at(), static_cast<int>(x.size())) == kSuccess);
  // 1 + 2^-8 is halfway between 0x3f80 and 0x3f81 and goes to the even; 1 + 3 * 2^-8 to 0x3f82.
  CHECK(b.read<uint16_t>(5) == std::vector<uint16_t>{0, 0x8000, 0x3f80, 0x3f80, 0x3f82});
  expect_no_report();
}

TEST_CASE("cuda_sim: a tiled transpose with two-dimensional blocks") {
  begin();
  const int n = 45;
  std::vector<float> x(n * n), expected(n * n);
  for (int i = 0; i < n * n; ++i) x[i] = static_cast<float>(i), expected[i % n * n + i / n] = x[i];
  Buffer a(x), b(x.size() * 4);
  DevicePtr from = a.at(), to = b.at();
  int count = n;
  void* parameters[] = {&from, &to, &count};
  CHECK(api().cuLaunchKernel(clean("transpose"), 2, 2, 1, 32, 8, 1, 0, stream(), parameters, nullptr) == kSuccess);
  CHECK(b.read<float>(n * n) == expected);
  expect_no_report();
}

TEST_CASE("cuda_sim: votes, shuffles of 64 bits, reductions, atomics, barriers that count") {
  begin();
  Buffer out(std::vector<unsigned>(9, 0)), total(std::vector<unsigned long long>{0});
  CHECK(launch(clean("votes"), {1, 64}, stream(), out.at(), total.at()) == kSuccess);
  // Lane 3 reads lane 5 of its group of 8.
  CHECK(out.read<unsigned>(9) == std::vector<unsigned>{0xaaaaaaaau, 0, 1, 1, 1, 15, 496, 58, 24});
  CHECK(total.read<unsigned long long>(1)[0] == 2016);
  expect_no_report();
}

TEST_CASE("cuda_sim: parameters by pointers and in a buffer, structures among them") {
  begin();
  struct Pair {
    DevicePtr from, to;
    char pad;
    double by;
  };
  Buffer a(std::vector<float>{1, 2, 3, 4, 5}), b(16);
  struct {
    int skip;
    alignas(8) Pair pair;
    short last;
  } packed = {1, {a.at(), b.at(), 0, 2.0}, -1};
  size_t bytes = sizeof packed;
  void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &bytes, nullptr};
  CHECK(api().cuLaunchKernel(clean("by_struct"), 1, 1, 1, 32, 1, 1, 0, stream(), nullptr, extra) == kSuccess);
  CHECK(b.read<float>(4) == std::vector<float>{3, 5, 7, 9});
  // Parameters are copied at the launch.
  Pair pair = packed.pair;
  int skip = 0;
  short last = 10;
  void* parameters[] = {&skip, &pair, &last};
  CHECK(api().cuLaunchKernel(clean("by_struct"), 1, 1, 1, 32, 1, 1, 0, stream(), parameters, nullptr) == kSuccess);
  skip = 100;
  pair.to = 0;
  CHECK(b.read<float>(4) == std::vector<float>{12, 14, 16, 18});
  expect_no_report();
}

TEST_CASE("cuda_sim: kernels read and write pinned memory of the host") {
  begin();
  const char* const source = R"cuda(
extern "C" __global__ void count_up(int* values, int n) {
  int i = threadIdx.x;
  if (i < n) atomicAdd(values + i, values[n - 1] + i);
}
)cuda";
  void* memory = nullptr;
  REQUIRE(api().cuMemHostAlloc(&memory, 3 * sizeof(int), 0) == kSuccess);
  int* values = static_cast<int*>(memory);
  values[0] = 5, values[1] = 6, values[2] = 0;
  CHECK(launch(kernel("pinned", source, "count_up"), {1, 2}, stream(), values, 3) == kSuccess);
  CHECK(finish() == kSuccess);
  CHECK(values[0] == 5);
  CHECK(values[1] == 7);
  CHECK(take_reports().empty());
  CHECK(api().cuMemFreeHost(memory) == kSuccess);
}
