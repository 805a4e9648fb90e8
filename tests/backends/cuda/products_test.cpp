// Products, convolutions and pooling on a CUDA device against the CPU's double precision on the same numbers: layouts,
// broadcasting, biases, empty sums, many chunks of images. On a GPU or on the simulated device.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "backends/cuda/convolution.h"
#include "backends/cuda/driver/load_driver.h"
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

// On the device, with the strides and shared memory of the host's tensors.
struct OnDevice {
  DeviceCopies copies{kCuda};
  Tensor operator()(const Tensor& t) { return t.defined() ? copies(t) : t; }
};

// Rounded once from sums of float32: half of the distance of 1 to the next number, and the sum's own error.
double allowed(DType dtype, int64_t terms) {
  const double eps = dtype == DType::Float64    ? 0x1p-53
                     : dtype == DType::BFloat16 ? 0x1p-8
                     : dtype == DType::Float16  ? 0x1p-11
                                                : 0x1p-24;
  const double sum = dtype == DType::Float64 ? 0x1p-53 : 0x1p-24;
  return eps + sum * static_cast<double>(terms);
}

Tensor numbers(const IntList& sizes, DType dtype) { return randn(sizes, DType::Float64).to(dtype); }
Tensor wide(const Tensor& t) { return t.defined() ? t.to(DType::Float64) : t; }

// Largest error in units of what is allowed; `sizes` of sums grow with the root of their terms.
void check_close(const Tensor& got, const Tensor& want, int64_t terms, const std::string& what) {
  INFO(what);
  REQUIRE(got.device() == kCuda);
  REQUIRE(to_string(got.sizes()) == to_string(want.sizes()));
  const std::vector<double> x = on_host(got).to_vector(), y = want.to_vector();
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double scale = std::abs(y[i]) + std::sqrt(static_cast<double>(terms)) + 1;
    worst = std::max(worst, std::abs(x[i] - y[i]) / (scale * allowed(got.dtype(), terms)));
    if (std::isnan(x[i])) worst = INFINITY;
  }
  CHECK_MESSAGE(worst < 1, "the largest error is ", worst, " of the allowed one");
}

void check_matmul(const Tensor& a, const Tensor& b) {
  OnDevice on;
  const Tensor x = on(a), y = on(b);
  check_close(matmul(x, y), matmul(wide(a), wide(b)), std::max<int64_t>(a.size(-1), 1),
              concat(name_of(a.dtype()), to_string(a.sizes()), to_string(a.strides()), " @ ", to_string(b.sizes()),
                     to_string(b.strides())));
}

void check_linear(const Tensor& x, const Tensor& w, const Tensor& b) {
  OnDevice on;
  check_close(linear(on(x), on(w), on(b)), linear(wide(x), wide(w), wide(b)), x.size(-1) + 1,
              concat("linear ", name_of(x.dtype()), to_string(x.sizes()), to_string(w.sizes())));
}

}  // namespace

TEST_CASE("gpu: matmul takes every layout and rank in every floating dtype") {
  if (!has_device()) return;
  for (DType t : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16}) {
    check_matmul(numbers({5}, t), numbers({5}, t));
    check_matmul(numbers({7, 5}, t), numbers({5}, t));
    check_matmul(numbers({5}, t), numbers({3, 5, 6}, t));
    check_matmul(numbers({9, 17}, t), numbers({17, 4}, t));
    check_matmul(numbers({17, 9}, t).t(), numbers({4, 17}, t).t());
    check_matmul(numbers({2, 1, 4, 6}, t), numbers({3, 6, 5}, t));
    check_matmul(numbers({4, 12}, t).narrow(1, 3, 6), numbers({6, 11}, t).narrow(1, 5, 5));
    check_matmul(numbers({4, 12}, t).as_strided({4, 6}, {12, 2}), numbers({1, 6}, t).expand({6, 6}));
    const Tensor heads = numbers({2, 3, 4 * 5}, t).view({2, 3, 4, 5}).transpose(1, 2);
    check_matmul(heads, heads.transpose(2, 3));
  }
}

TEST_CASE("gpu: nothing to sum gives zeros or the bias, and empty results launch nothing") {
  if (!has_device()) return;
  check_matmul(numbers({2, 0}, DType::Float32), numbers({0, 3}, DType::Float32));
  check_matmul(numbers({0, 4}, DType::BFloat16), numbers({4, 3}, DType::BFloat16));
  check_matmul(numbers({3, 2, 0}, DType::Float64), numbers({0, 5}, DType::Float64));
  check_linear(numbers({4, 0}, DType::Float32), numbers({3, 0}, DType::Float32), numbers({3}, DType::Float32));
  CHECK(on_host(matmul(OnDevice()(numbers({0}, kFloat32)), OnDevice()(numbers({0}, kFloat32)))).item() == 0);
}

TEST_CASE("gpu: a bias of any shape is added and the sum is rounded once") {
  if (!has_device()) return;
  for (DType t : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16}) {
    const Tensor w = numbers({6, 10}, t), b = numbers({6}, t);
    check_linear(numbers({4, 10}, t), w, b);
    check_linear(numbers({2, 3, 10}, t), w, b);
    check_linear(numbers({10}, t), w, b);
    check_linear(numbers({4, 10}, t), w, numbers({12}, t).as_strided({6}, {2}));
    check_linear(numbers({4, 10}, t), w, {});
    const Tensor x = numbers({4, 10}, t), y = numbers({10, 6}, t);
    for (const Tensor& self : {numbers({6}, t), numbers({1, 6}, t), numbers({4, 1}, t), numbers({4, 6}, t),
                               numbers(IntList(), t), numbers({1}, t), numbers({6, 4}, t).t()}) {
      OnDevice on;
      check_close(addmm(on(self), on(x), on(y)), addmm(wide(self), wide(x), wide(y)), 11,
                  concat("addmm ", name_of(t), to_string(self.sizes())));
    }
  }
}

TEST_CASE("gpu: float32 products keep all 24 bits unless told otherwise") {
  if (!has_device()) return;
  // 1 + 2^-12 needs 13 bits; TF32 has 11 with the leading one.
  Tensor identity = zeros({64, 64});
  for (int64_t i = 0; i < 64; ++i) identity.data<float>()[i * 65] = 1;
  const Tensor a = identity * 1.000244140625;
  OnDevice on;
  CHECK(on_host(matmul(on(a), on(identity))).to_vector() == a.to_vector());
}

TEST_CASE("gpu: integers wrap around as on the CPU") {
  if (!has_device()) return;
  for (DType t : {DType::Int64, DType::Int32, DType::Int8, DType::UInt8, DType::Bool}) {
    const Tensor a = randint(0, 100, {3, 4, 5}).to(t), b = randint(0, 100, {6, 5}).to(t).t();
    OnDevice on;
    CHECK(on_host(matmul(on(a), on(b))).to_vector() == matmul(a, b).to_vector());
  }
}

namespace {

struct ConvCase {
  std::vector<int64_t> input, weight, stride, padding;
};
const ConvCase kConvs[] = {{{5, 3, 8, 7}, {4, 3, 3, 3}, {1, 1}, {1, 1}}, {{4, 2, 9, 9}, {3, 2, 3, 2}, {2, 3}, {0, 1}},
                           {{3, 6, 5, 4}, {2, 6, 1, 1}, {1, 1}, {0, 0}}, {{2, 1, 6, 6}, {5, 1, 5, 5}, {1, 1}, {2, 2}},
                           {{2, 2, 5, 5}, {3, 2, 1, 1}, {2, 2}, {1, 1}}, {{0, 2, 5, 5}, {3, 2, 3, 3}, {1, 1}, {0, 0}}};

void check_convolutions(DType t) {
  for (const ConvCase& c : kConvs) {
    const Tensor x = numbers(c.input, t), w = numbers(c.weight, t), b = numbers({c.weight[0]}, t);
    const int64_t taps = c.weight[1] * c.weight[2] * c.weight[3];
    const std::string what = concat(name_of(t), to_string(x.sizes()), to_string(w.sizes()));
    OnDevice on;
    const Tensor want = conv2d(wide(x), wide(w), wide(b), c.stride, c.padding);
    check_close(conv2d(on(x), on(w), on(b), c.stride, c.padding), want, taps + 1, "conv2d " + what);
    check_close(conv2d(on(x), on(w), {}, c.stride, c.padding), conv2d(wide(x), wide(w), {}, c.stride, c.padding), taps,
                "conv2d without bias " + what);
    const Tensor g = randn(want.sizes(), DType::Float64).to(t);
    check_close(conv2d_input_grad(on(g), on(w), c.input, c.stride, c.padding),
                conv2d_input_grad(wide(g), wide(w), c.input, c.stride, c.padding),
                c.weight[0] * c.weight[2] * c.weight[3], "conv2d_input_grad " + what);
    check_close(conv2d_weight_grad(on(g), on(x), c.weight, c.stride, c.padding),
                conv2d_weight_grad(wide(g), wide(x), c.weight, c.stride, c.padding),
                c.input[0] * want.size(2) * want.size(3) + 1, "conv2d_weight_grad " + what);
  }
}

}  // namespace

TEST_CASE("gpu: convolutions and their gradients, in one chunk and in many") {
  if (!has_device()) return;
  const int64_t usual = cuda::column_bytes();
  for (int64_t bytes : {usual, int64_t{1}, int64_t{8000}}) {
    cuda::set_column_bytes(bytes);
    check_convolutions(DType::Float32);
    if (bytes != 8000) check_convolutions(DType::BFloat16);
  }
  cuda::set_column_bytes(usual);
  check_convolutions(DType::Float64);
  check_convolutions(DType::Float16);
}

TEST_CASE("gpu: max_pool2d gives the CPU's values and places") {
  if (!has_device()) return;
  for (DType t : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int64, DType::UInt8}) {
    // Few values, so that windows hold ties.
    const Tensor x = randint(0, 4, {2, 3, 9, 8}).to(t);
    for (const Tensor& image : {x, x.transpose(2, 3)}) {
      OnDevice on;
      const auto want = max_pool2d_with_indices(image, {3, 2}, {2, 2}, {1, 0});
      const auto got = max_pool2d_with_indices(on(image), {3, 2}, {2, 2}, {1, 0});
      CHECK(on_host(got[0]).to_vector() == want[0].to_vector());
      CHECK(on_host(got[1]).to_vector() == want[1].to_vector());
    }
  }
}

}  // namespace fuselet::test
