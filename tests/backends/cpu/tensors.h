// Tensors made from written-out numbers, and comparisons of all their elements, for the tests of the CPU kernels.
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "backends/cpu/copy.h"
#include "core/element.h"
#include "core/ops/functions.h"

namespace fuselet::test {

inline constexpr double kNaN = __builtin_nan(""), kInf = __builtin_inf();

inline Tensor tensor_of(std::vector<double> values, DType dtype = DType::Float32, IntList sizes = {}) {
  Dims dims = sizes.view().empty() ? Dims{static_cast<int64_t>(values.size())} : Dims(sizes.view());
  Tensor t = cpu::make_tensor(dims, dtype);
  REQUIRE(t.numel() == static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) store_element(dtype, t.raw_data(), static_cast<int64_t>(i), values[i]);
  return t;
}

// value(i) for the i-th element in row-major order.
template <class F>
Tensor filled(IntList sizes, DType dtype, F&& value) {
  Tensor t = cpu::make_tensor(sizes.view(), dtype);
  for (int64_t i = 0; i < t.numel(); ++i) store_element(dtype, t.raw_data(), i, static_cast<double>(value(i)));
  return t;
}

// Pseudo-random numbers of [-2, 2), multiples of 1/64, so that small sums of products are exact in float.
inline Tensor varied(IntList sizes, DType dtype = DType::Float32, int64_t seed = 1) {
  return filled(sizes, dtype,
                [seed](int64_t i) { return static_cast<double>((i * 7919 + seed * 104729) % 257 - 128) / 64; });
}

inline std::vector<int64_t> sizes_of(const Tensor& t) {
  return {concrete_words(t.sizes()), concrete_words(t.sizes()) + t.sizes().size()};
}

inline void check_values(const Tensor& t, const std::vector<double>& expected, double tolerance = 0) {
  std::vector<double> got = t.to_vector();
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CAPTURE(got[i]);
    CAPTURE(expected[i]);
    bool same = got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]));
    CHECK((same || std::fabs(got[i] - expected[i]) <= tolerance * std::max(1.0, std::fabs(expected[i]))));
  }
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  Tensor x = cpu::copy_of(a), y = cpu::copy_of(b);
  return x.dtype() == y.dtype() && same_sizes(x.sizes(), y.sizes()) &&
         (x.numel() == 0 ||
          std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.numel()) * size_of(x.dtype())) == 0);
}

}  // namespace fuselet::test
