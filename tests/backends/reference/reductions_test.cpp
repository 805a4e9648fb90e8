#include <doctest/doctest.h>

#include <cmath>

#include "tests/backends/reference/run_reference.h"

using namespace fuselet;
using namespace fuselet::reference;
using Ints = std::vector<int64_t>;

namespace {

const RefTensor kTable = tensor({2, 3}, {1, 5, 3, 4, 2, 6});

}  // namespace

TEST_CASE("reference: sum folds the named dimensions, or all") {
  CHECK(run("sum", {kTable, Ints{0}, false, {}}) == tensor({3}, {5, 7, 9}));
  CHECK(run("sum", {kTable, Ints{-1}, true, {}}) == tensor({2, 1}, {9, 12}));
  CHECK(run("sum", {kTable, Ints{}, false, {}}) == tensor({}, {21}));
  CHECK(run("sum", {tensor({0, 2}, {}), Ints{0}, false, {}}) == tensor({2}, {0, 0}));
  CHECK(run("sum", {tensor({2}, {1, 1}, DType::Bool), Ints{}, false, {}}) == tensor({}, {2}, DType::Int64));
}

TEST_CASE("reference: mean and variance") {
  CHECK(run("mean", {kTable, Ints{1}, false, {}}) == tensor({2}, {3, 4}));
  CHECK(std::isnan(run("mean", {tensor({0}, {}), Ints{}, false, {}}).values[0]));
  // deviations -2, 2, 0: 8 over 2 or 3
  CHECK(run("var", {kTable, Ints{1}, int64_t{1}, false}) == tensor({2}, {4, 4}));
  CHECK(run("var", {kTable, Ints{1}, int64_t{0}, true}) == tensor({2, 1}, {8.0 / 3, 8.0 / 3}));
}

TEST_CASE("reference: extrema let NaN win and take the first of equals") {
  CHECK(run("amax", {kTable, Ints{0}, false}) == tensor({3}, {4, 5, 6}));
  CHECK(run("amin", {kTable, Ints{}, true}) == tensor({1, 1}, {1}));
  CHECK(std::isnan(run("amax", {tensor({3}, {1, NAN, 2}), Ints{}, false}).values[0]));
  CHECK(run("argmax", {tensor({4}, {1, 7, 7, 2}), {}, false}) == tensor({}, {1}, DType::Int64));
  CHECK(run("argmax", {tensor({3}, {9, NAN, NAN}), {}, false}) == tensor({}, {1}, DType::Int64));
  CHECK(run("argmax", {kTable, int64_t{1}, true}) == tensor({2, 1}, {1, 2}, DType::Int64));
}
