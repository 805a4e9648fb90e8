#include <doctest/doctest.h>

#include "tests/backends/reference/run_reference.h"

using namespace fuselet;
using namespace fuselet::reference;
using Ints = std::vector<int64_t>;

namespace {

constexpr std::monostate kNone;
const RefTensor kTable = tensor({2, 3}, {1, 2, 3, 4, 5, 6});

RefArg integer(int64_t i) { return i; }

}  // namespace

TEST_CASE("reference: dimensions in another order") {
  CHECK(run("permute", {kTable, Ints{1, 0}}) == tensor({3, 2}, {1, 4, 2, 5, 3, 6}));
  CHECK(run("transpose", {kTable, integer(-1), integer(0)}) == tensor({3, 2}, {1, 4, 2, 5, 3, 6}));
  CHECK(run("view", {kTable, Ints{3, -1}}) == tensor({3, 2}, {1, 2, 3, 4, 5, 6}));
  CHECK(run("flatten", {kTable, integer(0), integer(-1)}) == tensor({6}, {1, 2, 3, 4, 5, 6}));
}

TEST_CASE("reference: dimensions of size 1") {
  CHECK(run("unsqueeze", {tensor({2}, {1, 2}), integer(-1)}) == tensor({2, 1}, {1, 2}));
  CHECK(run("squeeze", {tensor({1, 2, 1}, {1, 2}), kNone}) == tensor({2}, {1, 2}));
  CHECK(run("squeeze", {tensor({1, 2, 1}, {1, 2}), integer(0)}) == tensor({2, 1}, {1, 2}));
  CHECK(run("expand", {tensor({2, 1}, {1, 2}), Ints{2, -1, 2}}) == tensor({2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2}));
}

TEST_CASE("reference: parts of a tensor") {
  RefTensor line = tensor({5}, {0, 1, 2, 3, 4});
  CHECK(run("slice", {line, integer(0), integer(1), kNone, integer(2)}) == tensor({2}, {1, 3}));
  CHECK(run("slice", {line, integer(0), integer(-2), integer(100), integer(1)}) == tensor({2}, {3, 4}));
  CHECK(run("slice", {line, integer(0), integer(3), integer(2), integer(1)}) == tensor({0}, {}));
  CHECK(run("select", {kTable, integer(1), integer(-1)}) == tensor({2}, {3, 6}));
  RefTensor stored = line;
  stored.memory = line.values;
  CHECK(run("as_strided", {stored, Ints{2, 3}, Ints{1, 1}, integer(1)}) == tensor({2, 3}, {1, 2, 3, 2, 3, 4}));
}

TEST_CASE("reference: joins") {
  std::vector<RefTensor> parts = {kTable, tensor({2, 1}, {7, 8})};
  CHECK(run("cat", {parts, integer(1)}) == tensor({2, 4}, {1, 2, 3, 7, 4, 5, 6, 8}));
  std::vector<RefTensor> rows = {tensor({2}, {1, 2}), tensor({2}, {3, 4})};
  CHECK(run("stack", {rows, integer(-1)}) == tensor({2, 2}, {1, 3, 2, 4}));
}
