// Scatters, argmax and randint on a CUDA device where the samples of operators do not reach: many indices, long runs of
// equal ones, lines longer than a block's tile, layouts and memory that arguments share, indices out of range. On a GPU
// or on the simulated device, with fewer elements there.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "backends/cuda/device/devices.h"
#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/streams/event.h"
#include "backends/cuda/streams/stream.h"
#include "core/generator.h"
#include "core/ops/functions.h"
#include "tests/backends/cuda/device_tensors.h"

namespace fuselet::test {
namespace {

constexpr Device kCuda{DeviceType::CUDA, 0};

bool has_device() {
  if (cuda::is_available()) return true;
  MESSAGE("skipped: ", std::string(cuda::why_not_available()));
  return false;
}
int64_t many(int64_t on_gpu, int64_t simulated) { return cuda::driver().is_simulated() ? simulated : on_gpu; }

// With the strides and shared memory of the host's tensors, which it keeps: copies are found by their storage.
struct OnDevice {
  DeviceCopies copies{kCuda};
  std::vector<Tensor> kept;
  Tensor operator()(const Tensor& t) {
    kept.push_back(t);
    return copies(t);
  }
};

// sums[index[k]] += source[k] in order, in double: exact for small integers.
std::vector<double> summed(std::vector<double> sums, const Tensor& index, const Tensor& source) {
  const std::vector<double> to = index.to_vector(), values = source.to_vector();
  for (size_t k = 0; k < to.size(); ++k) sums[static_cast<size_t>(to[k])] += values[k];
  return sums;
}

TEST_CASE("gpu: index_add and scatter_add sum many indices with duplicates") {
  if (!has_device()) return;
  manual_seed(5);
  // Within a tile, one merge, several merges; runs of one element and of thousands.
  for (const int64_t count : {int64_t{1}, int64_t{2048}, int64_t{2049}, many(1000000, 9000)}) {
    for (const int64_t size : {int64_t{1}, int64_t{7}, many(300000, 5000)}) {
      CAPTURE(count);
      CAPTURE(size);
      OnDevice on;
      const Tensor index = randint(0, size, {count}), self = randint(-3, 4, {size}).to(DType::Float32);
      const Tensor source = randint(-3, 4, {count}).to(DType::Float32);
      const std::vector<double> want = summed(self.to_vector(), index, source);
      CHECK(on_host(index_add(on(self), 0, on(index), on(source))).to_vector() == want);
      CHECK(on_host(scatter_add(on(self), 0, on(index), on(source))).to_vector() == want);
    }
  }
}

TEST_CASE("gpu: sums add in index order: the bits of the CPU, run after run") {
  if (!has_device()) return;
  manual_seed(6);
  const int64_t count = many(200000, 3000);
  for (DType dtype : {DType::Float32, DType::BFloat16, DType::Float64, DType::Int8, DType::Bool}) {
    CAPTURE(name_of(dtype));
    OnDevice on;
    const Tensor index = randint(-5, 5, {count});
    const Tensor source = (randn({count, 3}, DType::Float64) * 40.0).to(dtype), self = source.slice(0, 0, 5).clone();
    const std::vector<double> want = index_add(self, 0, index, source).to_vector();
    CHECK(on_host(index_add(on(self), 0, on(index), on(source))).to_vector() == want);
    CHECK(on_host(index_add(on(self), 0, on(index), on(source))).to_vector() == want);
    // Lines of their own, several of them in a tile or several tiles in one.
    const Tensor places = randint(0, 4, {3, count}), values = source.transpose(0, 1);
    CHECK(on_host(scatter_add(on(self), 1, on(randint(0, 1, {5, 1})), on(self))).to_vector() ==
          scatter_add(self, 1, zeros({5, 1}, DType::Int64), self).to_vector());
    const Tensor wide = zeros({4, 9}, dtype);
    CHECK(on_host(scatter_add(on(wide), 1, on(places), on(values))).to_vector() ==
          scatter_add(wide, 1, places, values).to_vector());
    const Tensor tall = zeros({4, 3}, dtype), columns = places.transpose(0, 1);
    CHECK(on_host(scatter_add(on(tall), 0, on(columns), on(source))).to_vector() ==
          scatter_add(tall, 0, columns, source).to_vector());
  }
}

TEST_CASE("gpu: scatters in place, where arguments share the result's memory") {
  if (!has_device()) return;
  const Tensor index = arange(6) * -1;  // 0, 5, 4, …
  auto check = [&](auto&& run) {
    OnDevice on;
    Tensor host = arange(36).view({6, 6}).clone();
    Tensor device = on(host.clone());
    run(host, index);
    run(device, on(index));
    CHECK(on_host(device).to_vector() == host.to_vector());
  };
  check([](Tensor x, const Tensor& i) { x.index_add_(0, i, x); });
  check([](Tensor x, const Tensor& i) { x.transpose(0, 1).index_add_(0, i, x); });
  check([](Tensor x, const Tensor& i) { x.slice(0, 1, 4).index_add_(1, i, x.slice(0, 2, 5)); });
  check([](Tensor x, const Tensor& i) { x.scatter_add_(1, i.view({6, 1}).expand({6, 6}), x.transpose(0, 1)); });
  check([](Tensor x, const Tensor&) { x.select(1, 0).index_add_(0, x.select(0, 0), x.select(0, 1)); });
}

TEST_CASE("gpu: as_strided_grad adds what overlapping windows share, as_strided_scatter keeps the last") {
  if (!has_device()) return;
  manual_seed(7);
  struct Case {
    std::vector<int64_t> sizes, strides;
    int64_t from, span;
  };
  const int64_t long_side = many(100000, 300);
  const Case cases[] = {{{long_side, 9}, {1, 1}, 2, long_side + 12}, {{9, long_side}, {1, 1}, 0, long_side + 8},
                        {{5, 4, 3, 3}, {8, 1, 8, 1}, 1, 60},         {{4, 3, 5}, {0, 2, 1}, 0, 9},
                        {{4, 7, 1, 3}, {1, 5, 77, 2}, 3, 45},        {{3}, {0}, 4, 6}};
  for (const Case& c : cases) {
    CAPTURE(c.span);
    OnDevice on;
    const Tensor grad = randint(-4, 5, c.sizes).to(DType::Float32), whole = zeros({c.span}, DType::Float32);
    std::vector<double> sums(static_cast<size_t>(c.span)), last = sums;
    const std::vector<double> values = grad.to_vector();
    size_t i = 0;
    std::vector<int64_t> at(c.sizes.size(), 0);
    for (; i < values.size(); ++i) {
      int64_t place = c.from, rest = static_cast<int64_t>(i);
      for (size_t d = c.sizes.size(); d-- > 0; rest /= c.sizes[d]) place += rest % c.sizes[d] * c.strides[d];
      sums[static_cast<size_t>(place)] += values[i];
      last[static_cast<size_t>(place)] = values[i];
    }
    CHECK(on_host(as_strided_grad(on(grad), {c.span}, {1}, c.strides, c.from)).to_vector() == sums);
    CHECK(on_host(as_strided_scatter(on(whole), on(grad), c.sizes, c.strides, c.from)).to_vector() == last);
  }
}

TEST_CASE("gpu: argmax of long rows finds the first largest; NaN wins") {
  if (!has_device()) return;
  manual_seed(8);
  const int64_t n = many(3000000, 40000);
  for (DType dtype : {DType::Float32, DType::Float16, DType::Int64, DType::Bool}) {
    OnDevice on;
    Tensor x = randint(0, 2, {2, n}).to(dtype);
    CHECK(on_host(argmax(on(x), 1)).to_vector() == argmax(x, 1).to_vector());
    CHECK(on_host(argmax(on(x))).to_vector() == argmax(x).to_vector());
    CHECK(on_host(argmax(on(x.transpose(0, 1)), 0)).to_vector() == argmax(x, 1).to_vector());
    if (!is_float(dtype)) continue;
    Tensor y = x.clone();
    y.select(1, n - 3).copy_(full({2}, std::numeric_limits<double>::infinity()));
    CHECK(on_host(argmax(on(y), 1)).to_vector() == std::vector<double>(2, static_cast<double>(n - 3)));
    Tensor z = y.clone();
    z.select(1, n / 2).copy_(full({2}, std::nan("")));
    z.select(1, n - 1).copy_(full({2}, std::nan("")));
    CHECK(on_host(argmax(on(z), 1)).to_vector() == std::vector<double>(2, static_cast<double>(n / 2)));
  }
}

TEST_CASE("gpu: randint gives the CPU's numbers for a seed") {
  if (!has_device()) return;
  struct Range {
    int64_t low, high;
  };
  constexpr int64_t kHigh = (int64_t{1} << 62) - 1, kLow = -kHigh;  // what an argument may be
  for (const Range r : {Range{-3, 10}, {0, int64_t{1} << 32}, {-5, (int64_t{1} << 40) + 3}, {kLow, kHigh}}) {
    for (DType dtype : {DType::Int64, DType::Float16, DType::UInt8, DType::Bool}) {
      manual_seed(9);
      const Tensor want = randint(r.low, r.high, {1003}, dtype), want_next = randint(0, 100, {3});
      manual_seed(9);
      const Tensor got = randint(r.low, r.high, {1003}, dtype, kCuda), next = randint(0, 100, {3}, DType::Int64, kCuda);
      CHECK(on_host(got).to_vector() == want.to_vector());
      CHECK(on_host(next).to_vector() == want_next.to_vector());
    }
  }
}

TEST_CASE("gpu: an index out of range is an error when the host next waits for the device") {
  if (!has_device()) return;
  OnDevice on;
  const Tensor weight = on(randn({5, 3})), good = on(arange(5)), bad = on(arange(6)), low = on(arange(2) - 6);
  auto message = [](auto&& wait) -> std::string {
    try {
      wait();
    } catch (const IndexError& e) {
      return e.what();
    }
    return "";
  };
  auto fail = [&] { (void)embedding(weight, bad); };
  auto wait = [] { cuda::current_stream(0).synchronize(); };
  wait();
  auto check = [&](const char* op, auto&& run, auto&& until) {
    run();
    const std::string text = message(until);
    CHECK_MESSAGE(text.find(op) != std::string::npos, op, ": ", text);
    CHECK(message(wait) == "");  // once
  };
  check("embedding", fail, [&] { (void)weight.to(Device{}); });
  check("embedding", fail, wait);
  check("embedding", fail, [] { cuda::synchronize(0); });
  check("embedding", fail, [] {
    cuda::Event event;
    event.record(cuda::current_stream(0));
    event.synchronize();
  });
  check("size 5", fail, wait);
  check(
      "index_add", [&] { (void)index_add(weight, 0, low, weight.slice(0, 0, 2)); }, wait);
  check(
      "scatter_add",
      [&] {
        (void)scatter_add(weight, 0, bad.view({6, 1}), on(randn({6, 1})));
      },
      wait);
  // The elements that are named rightly arrive, and the device goes on.
  const Tensor ones = on(zeros({6}) + 1.0);
  const Tensor sums = index_add(on(zeros({5})), 0, bad, ones);
  CHECK(message(wait).find("index_add") != std::string::npos);
  CHECK(on_host(sums).to_vector() == std::vector<double>(5, 1.0));
  CHECK(on_host(embedding(weight, good)).to_vector() == on_host(weight).to_vector());
}

}  // namespace
}  // namespace fuselet::test
