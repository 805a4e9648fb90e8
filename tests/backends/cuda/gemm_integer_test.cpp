// Integer products, run thread by thread on the host, against sums that wrap around as unsigned ones do.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include "backends/cuda/gemm/integer_gemm.h"
#include "tests/backends/cuda/host_kernel.h"

using namespace fuselet;
using namespace fuselet::cuda;
using fuselet::testing::HostKernel;

namespace {

template <class T>
void check(DType dtype, T) {
  const HostKernel kernel(integer_gemm_text(dtype), "IntegerGemmArgs");
  std::mt19937_64 rng(9);
  auto values = [&](size_t count) {
    std::vector<T> v(count);
    for (size_t i = 0; i < count; ++i) v[i] = static_cast<T>(std::is_same_v<T, bool> ? rng() % 4 == 0 : rng());
    return v;
  };
  GemmDesc desc;
  desc.m = 5, desc.n = 7, desc.k = 6, desc.batch = 3, desc.in = desc.out = dtype;
  desc.a = {0, 1, 5, 30};  // by columns
  desc.b = {0, 9, 1, 0};   // by rows with gaps, for all products
  desc.d = {0, 7, 1, 35};
  for (bool accumulate : {false, true}) {
    if (std::is_same_v<T, bool> && accumulate) continue;
    // Not vectors, which would pack bools.
    const auto a_values = values(90), b_values = values(54), d_values = values(105);
    std::unique_ptr<T[]> a(new T[90]), b(new T[54]), d(new T[105]);
    std::copy(a_values.begin(), a_values.end(), a.get());
    std::copy(b_values.begin(), b_values.end(), b.get());
    std::copy(d_values.begin(), d_values.end(), d.get());
    desc.a.data = reinterpret_cast<uintptr_t>(a.get()), desc.b.data = reinterpret_cast<uintptr_t>(b.get());
    desc.d.data = reinterpret_cast<uintptr_t>(d.get()), desc.beta = accumulate ? 1 : 0;
    kernel(integer_gemm_args(desc));
    int64_t wrong = 0;
    for (size_t p = 0; p < 3; ++p) {
      for (size_t i = 0; i < 5; ++i) {
        for (size_t j = 0; j < 7; ++j) {
          uint64_t sum = accumulate ? static_cast<uint64_t>(d_values[p * 35 + i * 7 + j]) : 0;
          for (size_t l = 0; l < 6; ++l)
            sum += static_cast<uint64_t>(a_values[p * 30 + l * 5 + i]) * static_cast<uint64_t>(b_values[l * 9 + j]);
          wrong += d[p * 35 + i * 7 + j] != static_cast<T>(sum);
        }
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("integer products wrap around, and a bool says whether the sum is not 0") {
  check(DType::Int64, int64_t{});
  check(DType::Int32, int32_t{});
  check(DType::Int8, int8_t{});
  check(DType::UInt8, uint8_t{});
  check(DType::Bool, bool{});
}
