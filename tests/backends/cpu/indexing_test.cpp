// Gathers and scatters: values, index errors, order of sums.
#include "backends/cpu/parallel.h"
#include "tests/backends/cpu/tensors.h"

namespace fuselet::test {
namespace {

Tensor ints(std::vector<double> v, IntList sizes = {}) { return tensor_of(std::move(v), kInt64, sizes); }

TEST_CASE("gather along each dimension, negative indices included") {
  Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, kFloat32, {2, 3});
  check_values(x.gather(1, ints({2, 0, -1, 1}, {2, 2})), {3, 1, 6, 5});
  check_values(x.gather(0, ints({1, 0, 1}, {1, 3})), {4, 2, 6});
  check_values(x.t().gather(0, ints({2, 0, -1, 1}, {2, 2}).t()), {3, 6, 1, 5});
  CHECK_THROWS_AS(x.gather(1, ints({3}, {1, 1})), IndexError);
  CHECK_THROWS_WITH(x.gather(1, ints({-4}, {1, 1})), "gather: index -4 is out of range for size 3");
  CHECK(x.gather(1, ints({}, {0, 2})).numel() == 0);
  for (DType t : {kFloat64, kBFloat16, kInt32, kUInt8, kBool})
    check_values(tensor_of({0, 1}, t).gather(0, tensor_of({1, 1, 0}, kUInt8)), {1, 1, 0});
  CHECK(full({}, 4.0).gather(0, full({}, 0)).item() == 4);
}

TEST_CASE("index_select and embedding") {
  Tensor x = filled({3, 4, 5}, kFloat32, [](int64_t i) { return i; });
  Tensor picked = x.index_select(1, ints({3, 0, -1}));
  CHECK(sizes_of(picked) == std::vector<int64_t>{3, 3, 5});
  CHECK(same_bits(picked.select(1, 0), x.select(1, 3)));
  CHECK(same_bits(picked.select(1, 1), x.select(1, 0)));
  CHECK(same_bits(picked.select(1, 2), x.select(1, 3)));
  CHECK(same_bits(x.permute({2, 1, 0}).index_select(1, ints({3, 0, -1})), picked.permute({2, 1, 0})));
  CHECK_THROWS_AS(x.index_select(0, ints({3})), IndexError);
  Tensor w = filled({5, 2}, kFloat16, [](int64_t i) { return i; });
  Tensor rows = embedding(w, ints({4, 0, 1, 4}, {2, 2}));
  CHECK(sizes_of(rows) == std::vector<int64_t>{2, 2, 2});
  check_values(rows, {8, 9, 0, 1, 2, 3, 8, 9});
  CHECK_THROWS_AS(embedding(w, ints({5})), IndexError);
}

TEST_CASE("scatter_add adds repeated indices, in place as well") {
  Tensor x = zeros({2, 3});
  check_values(x.scatter_add(1, ints({0, 0, 2, 1}, {2, 2}), tensor_of({1, 2, 3, 4}, kFloat32, {2, 2})),
               {3, 0, 0, 0, 4, 3});
  check_values(x.scatter_add(0, ints({1, 1, 0}, {1, 3}), tensor_of({1, 2, 3}, kFloat32, {1, 3})), {0, 0, 3, 1, 2, 0});
  Tensor base = zeros({3, 2});
  base.t().scatter_add_(1, ints({0, -1, 2, 1}, {2, 2}), tensor_of({1, 2, 3, 4}, kFloat32, {2, 2}));
  check_values(base, {1, 0, 0, 4, 2, 3});
  check_values(zeros({2}, kUInt8).scatter_add(0, ints({0, 0, 1}), tensor_of({200, 100, 7}, kUInt8)), {44, 7});
  check_values(zeros({1}, kFloat16).scatter_add(0, zeros({4096}, kInt64), ones({4096}, kFloat16)), {4096});
}

TEST_CASE("a bad index leaves everything as it was") {
  Tensor x = tensor_of({1, 2, 3});
  CHECK_THROWS_AS(x.scatter_add_(0, ints({0, 3}), tensor_of({5, 5})), IndexError);
  CHECK_THROWS_AS(x.index_add_(0, ints({0, -4}), tensor_of({5, 5})), IndexError);
  check_values(x, {1, 2, 3});
}

TEST_CASE("a source that shares memory with the destination is read first") {
  Tensor x = tensor_of({1, 2, 3, 4});
  x.scatter_add_(0, ints({1, 2, 3}), x.slice(0, 0, 3));
  check_values(x, {1, 3, 5, 7});
}

TEST_CASE("index_add adds whole entries") {
  Tensor x = zeros({3, 2});
  check_values(x.index_add(0, ints({2, 0, 2}), tensor_of({1, 2, 3, 4, 5, 6}, kFloat32, {3, 2})), {3, 4, 0, 0, 6, 8});
  check_values(x.index_add(1, ints({1, 1}), tensor_of({1, 2, 3, 4, 5, 6}, kFloat32, {3, 2})), {0, 3, 0, 7, 0, 11});
}

TEST_CASE("embedding_grad sums rows and leaves the padding row at zero") {
  Tensor g = embedding_grad(ones({1, 5, 2}), ints({3, 3, 0, 2, 0}, {1, 5}), 5, 0);
  check_values(g.select(1, 0), {0, 0, 1, 2, 0});
  check_values(embedding_grad(ones({5000, 2}), zeros({5000}, kInt64), 3, 0), {0, 0, 0, 0, 0, 0});
  check_values(embedding_grad(ones({3, 1}), ints({2, 2, 1}), 3, -1), {0, 1, 0});
  check_values(embedding_grad(ones({4096, 1}, kBFloat16), zeros({4096}, kInt64), 1), {4096});
}

TEST_CASE("sums by index have the same bits for every thread count") {
  Tensor source = exp(varied({5000, 40}));
  Tensor index = filled({5000}, kInt64, [](int64_t i) { return i * 7919 % 13; });
  cpu::set_num_threads(1);
  Tensor one = embedding_grad(source, index, 13), added = zeros({13, 40}).index_add(0, index, source);
  cpu::set_num_threads(2);
  CHECK(same_bits(embedding_grad(source, index, 13), one));
  CHECK(same_bits(added, one));
  // In index order: the sums of float additions one after another.
  std::vector<float> expected(13 * 40, 0);
  for (int64_t i = 0; i < 5000; ++i) {
    for (int64_t c = 0; c < 40; ++c)
      expected[static_cast<size_t>(i * 7919 % 13 * 40 + c)] += source.data<float>()[i * 40 + c];
  }
  CHECK(std::memcmp(one.data<float>(), expected.data(), expected.size() * sizeof(float)) == 0);
}

TEST_CASE("views replaced in a copy") {
  Tensor x = filled({3, 4}, kFloat32, [](int64_t i) { return i; });
  check_values(x.slice_scatter(full({3, 2}, -1.0), 1, 0, 4, 2), {-1, 1, -1, 3, -1, 5, -1, 7, -1, 9, -1, 11});
  check_values(x.select_scatter(full({4}, -1.0), 0, -1), {0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1});
  check_values(as_strided_scatter(x, full({3}, -1.0), {3}, {5}, 0), {-1, 1, 2, 3, 4, -1, 6, 7, 8, 9, -1, 11});
  CHECK_THROWS_AS(as_strided_scatter(x, full({3}, -1.0), {3}, {6}, 0), Error);
  check_values(x, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("the gradient of overlapping windows adds up") {
  // Windows [0, 1, 2], [1, 2, 3], [2, 3, 4] of five elements.
  check_values(as_strided_grad(ones({3, 3}), {5}, {1}, {1, 1}, 0), {1, 2, 3, 2, 1});
  check_values(as_strided_grad(tensor_of({1, 2}), {2, 2}, {2, 1}, {3}, 0), {1, 0, 0, 2});
}

}  // namespace
}  // namespace fuselet::test
