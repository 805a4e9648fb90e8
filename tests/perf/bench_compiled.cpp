// Compiled functions with default settings, beside eager mode and triad in the same run.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "compiler/compile_graph.h"
#include "compiler/trace/record.h"
#include "fuselet/compile.h"
#include "fuselet/fuselet.h"
#include "tests/perf/ceilings.h"
#include "tests/perf/measure.h"

namespace fuselet::perf {
namespace {

using nn::functional::cross_entropy;
using nn::functional::dropout;
using nn::functional::gelu;
using nn::functional::layer_norm;

double gigabytes_per_second(double bytes, double microseconds) { return bytes / microseconds / 1e3; }

// One line a figure: compiled and eager bandwidth, their ratios to each other and to triad.
void print_bandwidths(const char* name, double bytes, Pair compiled_and_eager, double triad) {
  const double compiled = gigabytes_per_second(bytes, compiled_and_eager.first);
  print_line(name, "compiled", "GB/s", compiled);
  print_line(name, "eager", "GB/s", gigabytes_per_second(bytes, compiled_and_eager.second));
  print_line(name, "triad", "GB/s", triad);
  print_line(name, "compiled_of_triad", "x", compiled / triad);
  print_line(name, "compiled_of_eager", "x", compiled_and_eager.second / compiled_and_eager.first);
}

void bench_chain() {
  NoGradGuard no_grad;
  Tensor x = rand({int64_t{16} << 20});
  auto f = [](const Tensor& t) {
    Tensor y = t * 0.5 + 0.25;
    y = relu(y - 0.1);
    y = maximum(y * y, t);
    return (y + 1.0) * 0.125;
  };
  auto compiled = compile(f);
  Pair us = microseconds_of_both([&] { compiled(x); }, [&] { f(x); }, 3);
  print_bandwidths("chain8_f32_64mb", 8.0 * static_cast<double>(x.numel()), us, triad_bandwidth());
}

void bench_norms() {
  NoGradGuard no_grad;
  Tensor x = randn({16384, 1024}), w = ones({1024}), b = zeros({1024});
  const double bytes = 8.0 * static_cast<double>(x.numel()), triad = triad_bandwidth();
  auto norm = [&](const Tensor& t) { return layer_norm(t, {1024}, w, b); };
  auto soft = [](const Tensor& t) { return softmax(t, -1); };
  auto compiled_norm = compile(norm);
  auto compiled_soft = compile(soft);
  print_bandwidths("layer_norm_f32_16384x1024", bytes,
                   microseconds_of_both([&] { compiled_norm(x); }, [&] { norm(x); }, 2), triad);
  print_bandwidths("softmax_f32_16384x1024", bytes,
                   microseconds_of_both([&] { compiled_soft(x); }, [&] { soft(x); }, 2), triad);
}

// layer_norm(dropout(gelu(x)) + r), forward and backward in one function.
void bench_block_tail() {
  Tensor x = randn({8192, 1024}).requires_grad_(), r = randn({8192, 1024}).requires_grad_();
  Tensor w = ones({1024}).requires_grad_(), b = zeros({1024}).requires_grad_(), g = randn({8192, 1024});
  auto step = [&] {
    for (Tensor* t : {&x, &r, &w, &b}) t->set_grad({});
    Tensor y = layer_norm(dropout(gelu(x), 0.1, true) + r, {1024}, w, b);
    y.backward(g);
  };
  auto compiled = compile(step);
  Pair us = microseconds_of_both([&] { compiled(); }, step, 1);
  print_line("block_tail_f32_8192x1024", "compiled", "ms", us.first / 1e3);
  print_line("block_tail_f32_8192x1024", "eager", "ms", us.second / 1e3);
  print_line("block_tail_f32_8192x1024", "compiled_of_eager", "x", us.second / us.first);
}

// The step of examples/cpp/train_digits.cpp --model mlp, with clipping.
struct DigitsStep {
  nn::Sequential model{nn::Flatten(), nn::Linear(64, 128), nn::ReLU(), nn::Dropout(0.2), nn::Linear(128, 10)};
  optim::AdamW optimizer{model.parameters(), {.lr = 1e-3}};
  Tensor images = rand({32, 1, 8, 8}), labels = randint(0, 10, {32});

  Tensor operator()() {
    optimizer.zero_grad();
    Tensor loss = cross_entropy(model(images), labels);
    loss.backward();
    nn::utils::clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();
    return loss;
  }
};

void bench_digits_step() {
  DigitsStep eager, other;
  auto compiled = compile([&] { return other(); });
  Pair us = microseconds_of_both([&] { compiled(); }, [&] { eager(); }, 200);
  print_line("digits_mlp_step", "compiled", "us", us.first);
  print_line("digits_mlp_step", "eager", "us", us.second);
  print_line("digits_mlp_step", "compiled_of_eager", "x", us.second / us.first);
}

// What a compiled call of two operators costs besides the run of its executable.
void bench_overhead() {
  NoGradGuard no_grad;
  Tensor a = rand({16}), b = rand({16});
  auto body = [](const Tensor& x, const Tensor& y) { return relu(x + y); };
  auto executable = compile_graph(
      record([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{body(in[0], in[1])}; }, {a, b}).graph(),
      {});
  std::vector<Tensor> inputs = {a, b};
  const double alone = microseconds_per_call([&] { executable->run({inputs, {}, {}}); }, 50000);
  auto measure = [&](const char* variant, const std::function<void()>& f) {
    const double whole = microseconds_per_call(f, 50000);
    print_line("compiled_small_f32_16", variant, "us", whole - alone, ", \"whole\": " + std::to_string(whole));
  };
  print_line("compiled_small_f32_16", "executable_alone", "us", alone);
  print_line("compiled_small_f32_16", "eager", "us", microseconds_per_call([&] { body(a, b); }, 50000));
  auto rerun = compile(body);
  measure("overhead_rerun_cpp", [&] { rerun(a, b); });
  auto pure = compile(body, {.pure = true});
  measure("overhead_pure_cpp", [&] { pure(a, b); });
}

double milliseconds_of_first_call(const std::function<void()>& f) { return seconds_of(f) * 1e3; }

// Cold: an empty cache folder. From disk: the same folder in a new process.
void bench_compile_times() {
  const char* second = std::getenv("FUSELET_BENCH_CACHED");
  const std::filesystem::path folder =
      second ? std::filesystem::path(second)
             : std::filesystem::temp_directory_path() / ("fuselet_bench_" + std::to_string(getpid()));
  setenv("FUSELET_CACHE_DIR", folder.c_str(), 1);
  const char* variant = second ? "from_disk" : "cold";
  {
    NoGradGuard no_grad;
    Tensor x = rand({1000});
    auto chain = compile([](const Tensor& t) { return relu(t * 0.75 + 0.5) * t - 0.375; });
    print_line("compile_chain", variant, "ms", milliseconds_of_first_call([&] { chain(x); }));
  }
  DigitsStep digits;
  auto step = compile([&] { return digits(); });
  print_line("compile_digits_step", variant, "ms", milliseconds_of_first_call([&] { step(); }));
  if (second) return;
  setenv("FUSELET_BENCH_CACHED", folder.c_str(), 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  if (std::system((self + " compile_times").c_str()) != 0) std::fprintf(stderr, "the second process failed\n");
  unsetenv("FUSELET_BENCH_CACHED");
  unsetenv("FUSELET_CACHE_DIR");
  std::filesystem::remove_all(folder);
}

}  // namespace

const std::vector<Bench> kCompiledBenches = {
    {"compiled_chain", bench_chain},    {"compiled_norms", bench_norms},       {"block_tail", bench_block_tail},
    {"digits_step", bench_digits_step}, {"compiled_overhead", bench_overhead}, {"compile_times", bench_compile_times},
};

}  // namespace fuselet::perf
