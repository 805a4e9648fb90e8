// Sizes that no memory holds, negative sizes, and products that do not fit into 64 bits are the user's mistake: an
// error, not a small allocation.
#include <doctest/doctest.h>

#include "core/ops/functions.h"

using namespace fuselet;

TEST_CASE("sizes beyond what a size can be are refused") {
  constexpr int64_t kHuge = int64_t{1} << 40, kMost = INT64_MAX;
  CHECK_THROWS_AS(empty({kHuge, kHuge}), Error);
  CHECK_THROWS_AS(empty({int64_t{1} << 61}, DType::Float64), Error);  // the number of bytes is 2^64
  CHECK_THROWS_WITH_AS(zeros({kMost}), doctest::Contains("too large"), Error);
  CHECK_THROWS_WITH_AS(zeros(std::vector<int64_t>{kMost}), doctest::Contains("too large"), Error);
  CHECK_THROWS_AS(ones({1}).expand({kHuge, kHuge}), Error);
  CHECK_THROWS_AS(arange(1e30), Error);
  CHECK(ones({1}).expand({kHuge}).numel() == kHuge);  // no memory of its own
}

TEST_CASE("a strided view never reaches outside its storage") {
  constexpr int64_t kHalf = int64_t{1} << 32;
  Tensor x = ones({4});
  // (2^32 - 1) 2^32 + (2^32 - 1) 2^32 + … wraps around to a small number in 64 bits.
  CHECK_THROWS_AS(x.as_strided({kHalf + 1, 2}, {kHalf, 1}, 0), Error);
  CHECK_THROWS_AS(x.as_strided({-3}, {1}, 0), Error);
  CHECK_THROWS_AS(x.as_strided({1}, {1}, int64_t{1} << 61), Error);
  CHECK_THROWS_AS(ones({1}).expand({-2}), Error);
}

TEST_CASE("negative indices count from the end, also in derivatives") {
  Tensor x = arange(6, {}, 1, DType::Float64).view({2, 3}).clone().requires_grad_();
  Tensor last = full({2, 1}, -1, DType::Int64);
  (x.gather(1, last) * 5).sum().backward();
  CHECK(x.grad().to_vector() == std::vector<double>{0, 0, 5, 0, 0, 5});
  x.set_grad(Tensor());
  Tensor rows = index(x, full({1, 2}, -1, DType::Int64));
  CHECK(rows.to_vector() == std::vector<double>{3, 4, 5, 3, 4, 5});
  rows.sum().backward();
  CHECK(x.grad().to_vector() == std::vector<double>{0, 0, 0, 2, 2, 2});
}
