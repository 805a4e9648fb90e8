#include <doctest/doctest.h>

#include <cmath>

#include "backends/reference/promotion.h"
#include "tests/backends/reference/run_reference.h"

using namespace fuselet;
using namespace fuselet::reference;

TEST_CASE("reference: operands broadcast from the last dimension") {
  RefTensor column = tensor({2, 1}, {10, 20}), row = tensor({3}, {1, 2, 3});
  CHECK(run("add", {column, row}) == tensor({2, 3}, {11, 12, 13, 21, 22, 23}));
  CHECK(run("sub", {row, Scalar(1)}) == tensor({3}, {0, 1, 2}));
  CHECK(run("add", {tensor({0, 1}, {}), row}) == tensor({0, 3}, {}));
}

TEST_CASE("reference: the promoted dtype") {
  CHECK(wider(DType::Float16, DType::BFloat16) == DType::Float32);
  CHECK(wider(DType::UInt8, DType::Int8) == DType::Int32);
  CHECK(wider(DType::Int64, DType::Float16) == DType::Float16);
  CHECK(wider(DType::Bool, DType::UInt8) == DType::UInt8);
  RefTensor bytes = tensor({2}, {1, 2}, DType::Int8);
  // A number or a 0-d tensor counts only by a higher category.
  CHECK(run("add", {bytes, Scalar(1)}).dtype == DType::Int8);
  CHECK(run("add", {bytes, tensor({}, {1}, DType::Int64)}).dtype == DType::Int8);
  CHECK(run("add", {bytes, Scalar(0.5)}) == tensor({2}, {1.5, 2.5}, DType::Float32));
  CHECK(run("add", {bytes, tensor({}, {0.5}, DType::Float16)}).dtype == DType::Float16);
  CHECK(run("div", {bytes, bytes}).dtype == DType::Float32);
  CHECK(run("lt", {bytes, Scalar(2)}) == tensor({2}, {1, 0}, DType::Bool));
  // The condition takes no part.
  CHECK(run("where", {tensor({1}, {1}, DType::Bool), bytes, bytes}).dtype == DType::Int8);
}

TEST_CASE("reference: casts truncate and saturate, integer results wrap") {
  RefTensor x = tensor({5}, {-1.9, 300, NAN, INFINITY, 2.9});
  CHECK(run("cast", {x, DType::Int8}) == tensor({5}, {-1, 127, 0, 127, 2}, DType::Int8));
  CHECK(run("cast", {x, DType::UInt8}) == tensor({5}, {0, 255, 0, 255, 2}, DType::UInt8));
  CHECK(run("cast", {x, DType::Bool}) == tensor({5}, {1, 1, 1, 1, 1}, DType::Bool));
  RefTensor bytes = tensor({2}, {100, 3}, DType::Int8);
  CHECK(run("add", {bytes, bytes}) == tensor({2}, {-56, 6}, DType::Int8));
  CHECK(run("sub", {tensor({1}, {1}, DType::UInt8), Scalar(2)}) == tensor({1}, {255}, DType::UInt8));
}

TEST_CASE("reference: composites unfold") {
  RefTensor x = tensor({3}, {-2, 0.5, 4});
  CHECK(run("clamp", {x, Scalar(-1.0), Scalar(1.0)}) == tensor({3}, {-1, 0.5, 1}));
  CHECK(run("masked_fill", {x, tensor({3}, {1, 0, 0}, DType::Bool), Scalar(7)}) == tensor({3}, {7, 0.5, 4}));
  CHECK(run("mse_loss", {x, tensor({3}, {0, 0.5, 1}), std::string("mean")}) == tensor({}, {13.0 / 3}));
}
