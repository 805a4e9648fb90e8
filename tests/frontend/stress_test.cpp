// Long loops, deep graphs and many threads: memory stays flat, nothing overflows the stack, results stay right.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "backends/cpu/memory.h"

using namespace fuselet;

namespace {

constexpr int kDeep = 300'000;

size_t resident_bytes() {
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

#if defined(__SANITIZE_ADDRESS__)
// Freed blocks wait in the sanitizer's quarantine, so that resident memory says nothing.
constexpr bool kResidentCounts = false;
constexpr int kRounds = 1'000;
#else
constexpr bool kResidentCounts = true;
constexpr int kRounds = 100'000;
#endif

// Ten operators, forward and backward, with a view, an in-place write and a reduction.
void round_of_operators(Tensor& w, const Tensor& x) {
  Tensor y = w * x + 1;
  y.select(0, 0).mul_(0.5);
  Tensor loss = relu(y).sum();
  loss.backward();
  w.set_grad({});
}

}  // namespace

TEST_CASE("a million small operators hold memory flat") {
  Tensor w = ones({4}).requires_grad_(), x = full({4}, 2.0);
  for (int i = 0; i < kRounds / 10; ++i) round_of_operators(w, x);
  size_t live = cpu::memory_stats().allocated, resident = resident_bytes();
  for (int i = 0; i < kRounds; ++i) round_of_operators(w, x);
  CHECK(cpu::memory_stats().allocated == live);
  if (kResidentCounts) CHECK(resident_bytes() < resident + (size_t{1} << 20));
}

TEST_CASE("graphs of 300,000 nodes run backward and go away without recursion") {
  size_t live = cpu::memory_stats().allocated;
  {
    Tensor x = ones({1}).requires_grad_();
    Tensor y = x;
    for (int i = 0; i < kDeep; ++i) y = y + 1;
    y.backward({}, true);
    CHECK(x.grad().item() == 1);
    y = Tensor();
    // Never run backward, through views of views.
    Tensor z = x * 2;
    for (int i = 0; i < kDeep; ++i) z = z.view({1});
    z = Tensor();
    // In place: one tensor, a history as deep.
    Tensor written = x * 1;
    for (int i = 0; i < kDeep; ++i) written.add_(1);
    written.backward();
    CHECK(x.grad().item() == 2);
    // A wide and deep diamond: every node is reached over two edges.
    Tensor d = x * 1;
    for (int i = 0; i < 1000; ++i) d = d * 0.5 + d * 0.5;
    d.backward();
    CHECK(x.grad().item() == 3);
  }
  CHECK(cpu::memory_stats().allocated == live);
}

TEST_CASE("a deep graph is differentiated again") {
  Tensor x = full({1}, 1.0, kFloat64).requires_grad_();
  Tensor y = x * 1;
  for (int i = 0; i < 20'000; ++i) y = y * (1 + x * 0);
  Tensor g = grad({y}, {x}, {}, {.create_graph = true})[0];
  grad({g}, {x}, {}, {}, true);
  CHECK(g.item() == 1);
}

TEST_CASE("threads that train alone compute what one of them computes") {
  auto train = [](std::vector<double>* out) {
    Tensor w = full({3, 2}, 0.1).requires_grad_(), x = arange(12).cast(kFloat32).view({4, 3}) / 12;
    optim::Adam adam({w}, {.lr = 0.01});
    for (int i = 0; i < 200; ++i) {
      adam.zero_grad();
      nn::functional::cross_entropy(tanh(matmul(x, w)), tensor({0, 1, 0, 1})).backward();
      adam.step();
    }
    *out = w.to_vector();
  };
  std::vector<double> alone;
  train(&alone);
  std::vector<std::vector<double>> results(8);
  std::vector<std::thread> threads;
  for (auto& r : results) threads.emplace_back(train, &r);
  for (std::thread& t : threads) t.join();
  for (const auto& r : results) CHECK(r == alone);
}

TEST_CASE("threads that add to one gradient lose nothing") {
  Tensor w = ones({1}).requires_grad_();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) (w * 1).sum().backward();
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(w.grad().item() == 4000);
}
