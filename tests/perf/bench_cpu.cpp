// `./dev bench cpu [CASE…]`: one JSON object a line, {"case", "variant", "unit", "value", …}.
// Every figure is the median of warm repeats, next to its ceiling or peer measured in the same run, alternating.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "backends/cpu/parallel.h"
#include "core/dispatch_state.h"
#include "core/ops/functions.h"
#include "tests/perf/bench_kernels.h"
#include "tests/perf/ceilings.h"
#include "tests/perf/measure.h"
#include "tests/perf/openblas.h"

namespace fuselet::perf {
namespace {

// float32 1024^3 beside OpenBLAS, in alternating blocks.
void bench_matmul() {
  constexpr int64_t n = 1024;
  constexpr double kGigaflop = 2.0 * n * n * n / 1e9;
  Tensor a = rand({n, n}), b = rand({n, n}), c;
  // Core detection happens when the library loads, and these two would misguide it.
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  std::string reason;
  std::optional<OpenBlas> blas = load_openblas(find_openblas(FUSELET_SOURCE_DIR "/.venv"), &reason);
  std::vector<double> ours, theirs;
  std::vector<float> out(static_cast<size_t>(n * n));
  if (blas) blas->set_num_threads(cpu::get_num_threads());
  auto block = [](std::vector<double>& times, const std::function<void()>& f) {
    // Threads of the other library spin for a while after its last call.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (int i = 0; i < 13; ++i) {
      double s = seconds_of(f);
      if (i >= 3) times.push_back(s);
    }
  };
  for (int round = 0; round < 4; ++round) {
    block(ours, [&] { c = matmul(a, b); });
    if (blas)
      block(theirs, [&] { blas->sgemm(false, false, n, n, n, a.data<float>(), n, b.data<float>(), n, out.data(), n); });
  }
  print_line("matmul_f32_1024", "fuselet", "GFLOP/s", kGigaflop / median(ours));
  if (!blas) {
    print_line("matmul_f32_1024", "openblas", "GFLOP/s", 0, ", \"skipped\": \"" + reason + "\"");
    return;
  }
  print_line("matmul_f32_1024", "openblas", "GFLOP/s", kGigaflop / median(theirs),
             ", \"core\": \"" + blas->core + "\"");
  print_line("matmul_f32_1024", "ratio", "x", median(theirs) / median(ours));
}

// a + b on 256 MB tensors; the result's memory comes from the cache after the first call. 12 bytes an element, as
// triad.
void bench_add_large() {
  constexpr int64_t n = int64_t{64} << 20;
  Tensor a = full({n}, 1.0), b = full({n}, 2.0), c;
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) {
    c = Tensor();
    double s = seconds_of([&] { c = a + b; });
    if (i >= 3) times.push_back(s);
  }
  double bandwidth = 12.0 * n / median(times) / 1e9;
  double ceiling = triad_bandwidth();
  print_line("add_f32_256mb", "fuselet", "GB/s", bandwidth);
  print_line("add_f32_256mb", "triad", "GB/s", ceiling);
  print_line("add_f32_256mb", "ratio", "x", bandwidth / ceiling);
}

void bench_add_small() {
  Tensor a = rand({16}), b = rand({16});
  print_line("add_f32_16", "fuselet_cpp", "us", microseconds_per_call([&] { Tensor c = a + b; }, 100000));
  NoGradGuard no_grad;
  print_line("add_f32_16", "fuselet_cpp_no_grad", "us", microseconds_per_call([&] { Tensor c = a + b; }, 100000));
}

// Row operators of networks, for information: GB/s over the bytes read and written once.
void bench_rows() {
  Tensor x = randn({4096, 1024}), w = ones({1024}), b = zeros({1024});
  NoGradGuard no_grad;
  double gigabytes = 8.0 * static_cast<double>(x.numel()) / 1e9;
  struct Case {
    const char* name;
    std::function<void()> run;
  };
  for (const Case& c :
       {Case{"softmax_f32_4096x1024", [&] { softmax(x, -1); }},
        Case{"layer_norm_f32_4096x1024", [&] { layer_norm(x, {1024}, w, b); }},
        Case{"gelu_tanh_f32_4096x1024", [&] { gelu(x, "tanh"); }}, Case{"exp_f32_4096x1024", [&] { exp(x); }}}) {
    print_line(c.name, "fuselet", "GB/s", gigabytes / (microseconds_per_call(c.run, 3) * 1e-6));
  }
}

constexpr Bench kBenches[] = {{"matmul", bench_matmul},
                              {"add_large", bench_add_large},
                              {"add_small", bench_add_small},
                              {"rows", bench_rows},
                              {"kernels", bench_kernels}};

}  // namespace
}  // namespace fuselet::perf

int main(int argc, char** argv) {
  std::vector<fuselet::perf::Bench> benches(std::begin(fuselet::perf::kBenches), std::end(fuselet::perf::kBenches));
  benches.insert(benches.end(), fuselet::perf::kCompiledBenches.begin(), fuselet::perf::kCompiledBenches.end());
  for (const auto& bench : benches) {
    bool asked = argc == 1;
    for (int i = 1; i < argc; ++i) asked = asked || std::string(bench.name).find(argv[i]) != std::string::npos;
    if (asked) bench.run();
  }
}
