#include "tests/perf/bench_kernels.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "backends/threads.h"
#include "core/ops/functions.h"
#include "tests/kernel_builder.h"

namespace fuselet::perf {
namespace {

using kernel::Combine;
using kernel::Structure;
using test::make_kernel;
using test::NestBuilder;

constexpr int64_t kElements = 16 << 20;  // 64 MB of float32

struct Bench {
  const char* name;
  kernel::Kernel kernel;
  double bytes;  // that a run has to move
};

kernel::Kernel triad() {
  NestBuilder b(Structure::Pointwise, {kElements});
  const int x = b.load(0, kFloat32, {1}), y = b.load(1, kFloat32, {1});
  b.store(2, b.formula("add", {x, b.formula("mul", {y, b.constant(0.75)})}), {1});
  return make_kernel("triad", {{kFloat32, kElements, false}, {kFloat32, kElements, false}, {kFloat32, kElements, true}},
                     {b.nest});
}

kernel::Kernel chain(bool dear) {
  NestBuilder b(Structure::Pointwise, {kElements});
  const int c = b.constant(0.7), d = b.constant(-0.2);
  int v = b.load(0, kFloat32, {1});
  for (int i = 0; i < 2; ++i) {
    v = b.formula("mul", {v, c});
    v = b.formula("add", {v, d});
    v = b.formula("relu", {v});
    v = dear ? b.formula("tanh", {v}) : b.formula("maximum", {v, d});
  }
  b.store(1, v, {1});
  return make_kernel("chain", {{kFloat32, kElements, false}, {kFloat32, kElements, true}}, {b.nest});
}

kernel::Kernel gelu() {
  NestBuilder b(Structure::Pointwise, {kElements});
  b.store(1, b.formula("gelu_tanh", {b.load(0, kFloat32, {1})}), {1});
  return make_kernel("gelu_tanh", {{kFloat32, kElements, false}, {kFloat32, kElements, true}}, {b.nest});
}

kernel::Kernel dropout() {
  NestBuilder b(Structure::Pointwise, {kElements});
  const int x = b.load(0, kFloat32, {1});
  const int kept = b.random(0, kernel::Distribution::Bernoulli, kBool, {1}, 58982);
  b.store(1, b.formula("mul", {b.formula("mul", {x, kept}), b.constant(1.1)}), {1});
  return make_kernel("dropout", {{kFloat32, kElements, false}, {kFloat32, kElements, true}}, {b.nest}, 0, 1);
}

kernel::Kernel bfloat16_chain() {
  NestBuilder b(Structure::Pointwise, {kElements});
  const int x = b.convert(b.load(0, kBFloat16, {1}), kFloat32), y = b.convert(b.load(1, kBFloat16, {1}), kFloat32);
  b.store(2, b.convert(b.formula("relu", {b.formula("add", {x, y})}), kBFloat16), {1});
  return make_kernel("add_relu",
                     {{kBFloat16, kElements, false}, {kBFloat16, kElements, false}, {kBFloat16, kElements, true}},
                     {b.nest});
}

kernel::Kernel softmax(int64_t rows, int64_t n) {
  NestBuilder b(Structure::Rows, {rows, n});
  const int x = b.load(0, kFloat32, {n, 1}), top = b.reduce(Combine::Max, x);
  const int e = b.formula("exp", {b.formula("sub", {x, top})});
  b.store(1, b.formula("div", {e, b.reduce(Combine::Sum, e)}), {n, 1});
  return make_kernel("softmax", {{kFloat32, rows * n, false}, {kFloat32, rows * n, true}}, {b.nest});
}

kernel::Kernel layer_norm(int64_t rows, int64_t n) {
  NestBuilder b(Structure::Rows, {rows, n});
  const int x = b.load(0, kFloat32, {n, 1}), w = b.load(1, kFloat32, {0, 1}), bias = b.load(2, kFloat32, {0, 1});
  const int count = b.constant(static_cast<double>(n)), eps = b.constant(1e-5);
  const int mean = b.formula("div", {b.reduce(Combine::Sum, x), count});
  const int centred = b.formula("sub", {x, mean});
  const int squares = b.reduce(Combine::Sum, b.formula("square", {centred}));
  const int rstd = b.formula("rsqrt", {b.formula("add", {b.formula("div", {squares, count}), eps})});
  const int y = b.formula("add", {b.formula("mul", {b.formula("mul", {centred, rstd}), w}), bias});
  b.store(3, y, {n, 1});
  return make_kernel(
      "layer_norm",
      {{kFloat32, rows * n, false}, {kFloat32, n, false}, {kFloat32, n, false}, {kFloat32, rows * n, true}}, {b.nest});
}

kernel::Kernel layer_norm_grad(int64_t rows, int64_t n) {
  NestBuilder b(Structure::RowsAndColumns, {rows, n});
  const int g = b.load(0, kFloat32, {n, 1}), x = b.load(1, kFloat32, {n, 1}), w = b.load(2, kFloat32, {0, 1});
  const int mean = b.load(3, kFloat32, {1, 0}), rstd = b.load(4, kFloat32, {1, 0});
  const int count = b.constant(static_cast<double>(n));
  const int y = b.formula("mul", {b.formula("sub", {x, mean}), rstd}), gw = b.formula("mul", {g, w});
  const int p = b.formula("div", {b.reduce(Combine::Sum, gw), count});
  const int q = b.formula("div", {b.reduce(Combine::Sum, b.formula("mul", {gw, y})), count});
  const int dx = b.formula("mul", {b.formula("sub", {b.formula("sub", {gw, p}), b.formula("mul", {y, q})}), rstd});
  b.store(5, dx, {n, 1});
  b.store(6, b.column_sum(Combine::Sum, b.formula("mul", {g, y})), {0, 1});
  b.store(7, b.column_sum(Combine::Sum, g), {0, 1});
  return make_kernel("layer_norm_grad",
                     {{kFloat32, rows * n, false},
                      {kFloat32, rows * n, false},
                      {kFloat32, n, false},
                      {kFloat32, rows, false},
                      {kFloat32, rows, false},
                      {kFloat32, rows * n, true},
                      {kFloat32, n, true},
                      {kFloat32, n, true}},
                     {b.nest});
}

kernel::Kernel total() {
  NestBuilder b(Structure::SplitRows, {1, kElements});
  b.store(1, b.reduce(Combine::Sum, b.load(0, kFloat32, {kElements, 1})), {1, 0});
  return make_kernel("sum", {{kFloat32, kElements, false}, {kFloat32, 1, true}}, {b.nest});
}

kernel::Kernel column_sum(int64_t rows, int64_t n) {
  NestBuilder b(Structure::Columns, {rows, n});
  b.store(1, b.reduce(Combine::Sum, b.load(0, kFloat32, {n, 1})), {0, 1});
  return make_kernel("column_sum", {{kFloat32, rows * n, false}, {kFloat32, n, true}}, {b.nest});
}

kernel::Kernel transpose(int64_t n) {
  NestBuilder b(Structure::Pointwise, {n, n});
  b.store(1, b.load(0, kFloat32, {1, n}), {n, 1});
  return make_kernel("transpose", {{kFloat32, n * n, false}, {kFloat32, n * n, true}}, {b.nest});
}

// p and buffer change in place: `count` parameters of `n` elements.
kernel::Kernel momentum(int count, int64_t n) {
  std::vector<kernel::Buffer> buffers;
  std::vector<kernel::Nest> nests;
  for (int k = 0; k < count; ++k) {
    NestBuilder b(Structure::Pointwise, {n});
    const int p = b.load(3 * k, kFloat32, {1}), g = b.load(3 * k + 1, kFloat32, {1}),
              m = b.load(3 * k + 2, kFloat32, {1});
    const int next = b.formula("add", {b.formula("mul", {m, b.constant(0.9)}), g});
    b.store(3 * k + 2, next, {1});
    b.store(3 * k, b.formula("sub", {p, b.formula("mul", {next, b.scalar(0)})}), {1});
    nests.push_back(b.nest);
    for (bool written : {true, false, true}) buffers.push_back({kFloat32, n, written});
  }
  return make_kernel("momentum", buffers, nests, 1);
}

double seconds_of_run(const CompiledKernel& compiled, const kernel::Kernel& k, const test::KernelRun& run) {
  std::vector<void*> pointers;
  for (const Tensor& t : run.buffers) pointers.push_back(t.impl()->data());
  const int64_t scratch = target_of(DeviceType::CPU).scratch_bytes(k);
  const Tensor memory = zeros({scratch / 4 + 64});
  // On one thread the processor's time, which other processes take no part in.
  auto now = [] {
    timespec t;
    clock_gettime(get_num_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) {
    const double start = now();
    compiled.launch(pointers.data(), run.scalars.data(), run.draws.data(), memory.impl()->data());
    times.push_back(now() - start);
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7];
}

}  // namespace

void bench_kernels() {
  constexpr double kMegabytes64 = 4.0 * kElements;
  const Bench benches[] = {
      {"triad", triad(), 3 * kMegabytes64},
      {"chain_of_8", chain(false), 2 * kMegabytes64},
      {"chain_of_8_with_tanh", chain(true), 2 * kMegabytes64},
      {"gelu_tanh", gelu(), 2 * kMegabytes64},
      {"dropout", dropout(), 2 * kMegabytes64},
      {"bfloat16_add_relu", bfloat16_chain(), 1.5 * kMegabytes64},
      {"softmax_rows_of_1024", softmax(16384, 1024), 2 * kMegabytes64},
      {"softmax_rows_of_64", softmax(262144, 64), 2 * kMegabytes64},
      {"layer_norm_rows_of_1024", layer_norm(16384, 1024), 2 * kMegabytes64},
      {"layer_norm_grad_rows_of_1024", layer_norm_grad(16384, 1024), 3 * kMegabytes64},
      {"sum", total(), kMegabytes64},
      {"column_sum_of_1024", column_sum(16384, 1024), kMegabytes64},
      {"column_sum_of_32", column_sum(524288, 32), kMegabytes64},
      {"transpose_4096", transpose(4096), 2 * kMegabytes64},
      {"momentum_50_of_65536", momentum(50, 65536), 5 * 50 * 65536 * 4.0},
  };
  double triad = 0;  // the first
  for (const Bench& b : benches) {
    const auto compiled = target_of(DeviceType::CPU).compile({&b.kernel, 1})[0];
    if (compiled->origin == KernelOrigin::Interpreted) {
      std::printf("{\"case\": \"kernel_%s\", \"skipped\": \"%s\"}\n", b.name, compiled->remark.c_str());
      continue;
    }
    test::KernelRun run{{}, {0.01}, {{1, 2}}};
    for (const kernel::Buffer& buffer : b.kernel.buffers)
      run.buffers.push_back(cast(rand({buffer.elements}), buffer.dtype));
    const double rate = b.bytes / seconds_of_run(*compiled, b.kernel, run) / 1e9;
    if (triad == 0) triad = rate;
    std::printf(
        "{\"case\": \"kernel_%s\", \"variant\": \"fuselet\", \"unit\": \"GB/s\", \"value\": %.2f, \"threads\": %d, "
        "\"of_triad\": %.2f, \"compiled_in_ms\": %.0f, \"from\": \"%s\"}\n",
        b.name, rate, get_num_threads(), rate / triad, compiled->milliseconds, name_of(compiled->origin));
    std::fflush(stdout);
  }
}

}  // namespace fuselet::perf
