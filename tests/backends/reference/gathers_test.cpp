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
  std::vector<RefTensor> out = run_all("max_pool2d_with_indices", {x, Ints{2}, Ints{1}, Ints{0, 1}});
  CHECK(out[0] == tensor({1, 1, 1, 4}, {-1, -1, -1, -3}));
  CHECK(out[1] == tensor({1, 1, 1, 4}, {0, 0, 1, 5}, DType::Int64));
}
