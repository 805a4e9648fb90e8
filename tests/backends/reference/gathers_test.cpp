#include <doctest/doctest.h>

#include "tests/backends/reference/run_reference.h"

using namespace fuselet;
using namespace fuselet::reference;
using Ints = std::vector<int64_t>;

namespace {

constexpr std::monostate kNone;
const RefTensor kTable = tensor({3, 2}, {1, 2, 3, 4, 5, 6});

RefArg integer(int64_t i) { return i; }
RefTensor indices(Ints sizes, std::vector<double> values) { return tensor(sizes, values, DType::Int64); }

}  // namespace

TEST_CASE("reference: gathers") {
  CHECK(run("gather", {kTable, integer(0), indices({1, 2}, {2, -3})}) == tensor({1, 2}, {5, 2}));
  CHECK(run("index_select", {kTable, integer(0), indices({2}, {2, 0})}) == tensor({2, 2}, {5, 6, 1, 2}));
  CHECK(run("embedding", {kTable, indices({1, 2}, {1, 1}), kNone}) == tensor({1, 2, 2}, {3, 4, 3, 4}));
  CHECK(run("index", {kTable, indices({2}, {-1, 0})}) == tensor({2, 2}, {5, 6, 1, 2}));
}

TEST_CASE("reference: scatters add up equal indices") {
  RefTensor zeros = tensor({3, 2}, {0, 0, 0, 0, 0, 0});
  RefTensor src = tensor({2, 2}, {1, 2, 3, 4});
  CHECK(run("scatter_add", {zeros, integer(0), indices({2, 1}, {1, 1}), src}) == tensor({3, 2}, {0, 0, 4, 0, 0, 0}));
  CHECK(run("index_add", {zeros, integer(0), indices({2}, {2, 2}), src}) == tensor({3, 2}, {0, 0, 0, 0, 4, 6}));
  CHECK(run("embedding_grad", {src, indices({2}, {0, 2}), integer(3), integer(2)}) ==
        tensor({3, 2}, {1, 2, 0, 0, 0, 0}));
}

TEST_CASE("reference: scatters into a slice, an entry, a strided view") {
  RefTensor line = tensor({5}, {0, 1, 2, 3, 4}), two = tensor({2}, {8, 9});
  CHECK(run("slice_scatter", {line, two, integer(0), integer(1), integer(5), integer(2)}) ==
        tensor({5}, {0, 8, 2, 9, 4}));
  CHECK(run("select_scatter", {kTable, two, integer(0), integer(-1)}) == tensor({3, 2}, {1, 2, 3, 4, 8, 9}));
  RefTensor stored = line;
  stored.strides = {1};
  CHECK(run("as_strided_scatter", {stored, two, Ints{2}, Ints{3}, integer(1)}) == tensor({5}, {0, 8, 2, 3, 9}));
  // Two windows of two overlap in the middle element.
  CHECK(run("as_strided_grad", {tensor({2, 2}, {1, 2, 3, 4}), Ints{3}, Ints{1}, Ints{1, 1}, integer(0)}) ==
        tensor({3}, {1, 5, 4}));
}

TEST_CASE("reference: pooling takes the first of equals and skips the padding") {
  RefTensor x = tensor({1, 1, 2, 3}, {-1, -1, -5, -1, -2, -3});
  std::vector<RefTensor> out = run_all("max_pool2d_with_indices", {x, Ints{2}, Ints{1}, Ints{0, 1}, Ints{1}, false});
  CHECK(out[0] == tensor({1, 1, 1, 4}, {-1, -1, -1, -3}));
  CHECK(out[1] == tensor({1, 1, 1, 4}, {0, 0, 1, 5}, DType::Int64));
  // Every second column; then a window that begins inside and ends outside.
  CHECK(run("max_pool2d_with_indices", {x, Ints{1, 2}, Ints{1}, Ints{0}, Ints{2}, false}) ==
        tensor({1, 1, 2, 1}, {-1, -1}));
  CHECK(run("max_pool2d_with_indices", {x, Ints{1, 2}, Ints{2}, Ints{0}, Ints{1}, true}) ==
        tensor({1, 1, 1, 2}, {-1, -5}));
}

TEST_CASE("reference: the last of equal indices wins, or all are folded") {
  RefTensor line = tensor({3}, {2, 3, 4}), src = tensor({3}, {5, -1, 7}), at = indices({3}, {1, 1, -1});
  CHECK(run("scatter", {line, integer(0), at, src}) == tensor({3}, {2, -1, 7}));
  CHECK(run("index_copy", {line, integer(0), at, src}) == tensor({3}, {2, -1, 7}));
  auto folded = [&](const char* how) { return run("scatter_fold", {line, integer(0), at, src, std::string(how)}); };
  CHECK(folded("prod") == tensor({3}, {2, -15, 28}));
  CHECK(folded("amax") == tensor({3}, {2, 5, 7}));
  CHECK(folded("amin") == tensor({3}, {2, -1, 4}));
}

TEST_CASE("reference: sorting keeps the order of equals and puts NaN above all") {
  RefTensor line = tensor({5}, {1, NAN, 0, 1, INFINITY});
  CHECK(run("argsort", {line, integer(0), false}) == indices({5}, {2, 0, 3, 4, 1}));
  CHECK(run("argsort", {line, integer(-1), true}) == indices({5}, {1, 4, 0, 3, 2}));
  CHECK(run("argsort", {kTable, integer(0), true}) == indices({3, 2}, {2, 2, 1, 1, 0, 0}));
}
