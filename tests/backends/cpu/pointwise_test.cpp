// Pointwise kernels: layouts, dtypes, numbers, in-place calls and overlap. The formulas have tests of their own.
#include "backends/cpu/parallel.h"
#include "tests/backends/cpu/tensors.h"

namespace fuselet::test {
namespace {

constexpr DType kAll[] = {kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kInt8, kUInt8, kBool};

TEST_CASE("add of every pair of dtypes gives the sum in the promoted dtype") {
  for (DType a : kAll) {
    for (DType b : kAll) {
      if (a == kBool && b == kBool) continue;
      Tensor sum = add(tensor_of({0, 1, 1, 0, 1}, a), tensor_of({1, 1, 0, 0, 1}, b));
      CHECK(sum.dtype() == promote(a, b));
      check_values(sum, {1, 2, 1, 0, 2});
    }
  }
}

TEST_CASE("every length, body and tail, gives the sum of its elements") {
  for (int64_t n : {0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 1000, 1024, 1025, 5000}) {
    Tensor x = filled({n}, kFloat32, [](int64_t i) { return i; }),
           y = filled({n}, kFloat32, [](int64_t i) { return 2 * i + 1; });
    std::vector<double> expected;
    for (int64_t i = 0; i < n; ++i) expected.push_back(static_cast<double>(3 * i + 1));
    check_values(x + y, expected);
    for (double& e : expected) e = (e - 1) / 3 + 0.5;
    check_values(x + 0.5, expected);
  }
}

TEST_CASE("a lane's bits do not depend on its place") {
  Tensor x = varied({4099});
  Tensor whole = exp(x);
  for (int64_t i : {0, 1, 15, 16, 17, 4096, 4098}) {
    CHECK(same_bits(exp(x.slice(0, i, i + 1)), whole.slice(0, i, i + 1)));
  }
  CHECK(same_bits(exp(x.slice(0, 5)), whole.slice(0, 5)));
}

TEST_CASE("operands broadcast against each other") {
  Tensor column = filled({300, 1}, kFloat32, [](int64_t i) { return i; });
  Tensor row = filled({7}, kFloat32, [](int64_t i) { return 1000 * i; });
  Tensor sum = column + row;
  CHECK(sizes_of(sum) == std::vector<int64_t>{300, 7});
  std::vector<double> expected;
  for (int64_t i = 0; i < 300; ++i) {
    for (int64_t j = 0; j < 7; ++j) expected.push_back(static_cast<double>(i + 1000 * j));
  }
  check_values(sum, expected);
  check_values(row + column, expected);
}

TEST_CASE("long rows broadcast a row, a column and a 0-d tensor") {
  const int64_t rows = 5, width = 2500;
  Tensor x = varied({rows, width}), row = varied({width}, kFloat32, 2), column = varied({rows, 1}, kFloat32, 3);
  std::vector<double> vx = x.to_vector(), vr = row.to_vector(), vc = column.to_vector(), expected;
  for (int64_t i = 0; i < rows * width; ++i) {
    size_t k = static_cast<size_t>(i);
    expected.push_back(vx[k] + vr[k % width] + vc[k / width] + 3);
  }
  check_values(x + row + column + tensor_of({3}, kFloat64, {1}).squeeze(0), expected);
}

TEST_CASE("permuted, sliced and expanded operands are read in their own order") {
  Tensor x = varied({6, 50, 40}), y = varied({40, 6, 50}, kFloat32, 5);
  Tensor permuted = y.permute({1, 2, 0});
  Tensor sum = x + permuted;
  std::vector<double> a = x.to_vector(), b = permuted.to_vector(), expected;
  for (size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] + b[i]);
  check_values(sum, expected);
  CHECK(same_bits(permuted + permuted, permuted * 2));
  Tensor strided = x.slice(2, 1, 40, 3);
  check_values(strided + strided.select(0, 0).expand({6, 50, 13}), [&] {
    std::vector<double> v, s = strided.to_vector();
    for (size_t i = 0; i < s.size(); ++i) v.push_back(s[i] + s[i % 650]);
    return v;
  }());
}

TEST_CASE("a permuted operand gives a result of its layout") {
  Tensor x = varied({4, 5, 6}).permute({2, 0, 1});
  Tensor y = neg(x);
  CHECK(same_sizes(y.strides(), x.strides()));
  std::vector<double> expected = x.to_vector();
  for (double& e : expected) e = -e;
  check_values(y, expected);
}

TEST_CASE("zero-size and 0-d tensors") {
  Tensor e = zeros({0, 4});
  Tensor r = e * 2 + 1;
  CHECK(sizes_of(r) == std::vector<int64_t>{0, 4});
  Tensor s = full({}, 2.5) + full({}, 1);
  CHECK(s.dim() == 0);
  CHECK(s.item() == 3.5);
}

TEST_CASE("16-bit floats calculate in float and round once") {
  // 1 + 2^-11 + 2^-11: each step in float16 would drop the small terms.
  Tensor x = tensor_of({1}, kFloat16), y = tensor_of({0x1p-11}, kFloat16);
  check_values(x + y, {1});
  check_values(sub(x, y), {1 - 0x1p-11});
  check_values(mul(tensor_of({300}, kFloat16), tensor_of({300}, kFloat16)), {kInf});
  check_values(mul(tensor_of({300}, kBFloat16), tensor_of({300}, kBFloat16)), {90112});
  check_values(tensor_of({2048}, kFloat16) + 1, {2048});
}

TEST_CASE("integers wrap around at their own width and compare at full width") {
  check_values(tensor_of({200, 255}, kUInt8) + tensor_of({100, 1}, kUInt8), {44, 0});
  check_values(tensor_of({127}, kInt8) + 1, {-128});
  Tensor big = full({1}, int64_t{1} << 62) + full({1}, (int64_t{1} << 62) + 1);
  CHECK(big.item_int() == std::numeric_limits<int64_t>::min() + 1);
  CHECK(eq(full({1}, (int64_t{1} << 53) + 1), full({1}, int64_t{1} << 53)).item() == 0);
  check_values(lt(tensor_of({200}, kUInt8), 300), {1});
}

TEST_CASE("division of integers is true division") {
  Tensor q = div(tensor_of({1, 7}, kInt32), 2);
  CHECK(q.dtype() == kFloat32);
  check_values(q, {0.5, 3.5});
}

TEST_CASE("casts truncate, saturate and turn NaN into 0") {
  Tensor x = tensor_of({kNaN, kInf, -kInf, 3e9, -1.9});
  check_values(x.cast(kInt32), {0, 2147483647, -2147483648.0, 2147483647, -1});
  check_values(x.cast(kUInt8), {0, 255, 0, 255, 0});
  check_values(x.cast(kInt8), {0, 127, -128, 127, -1});
  check_values(x.cast(kBool), {1, 1, 1, 1, 1});
  CHECK(x.cast(kInt64).select(0, 1).item_int() == std::numeric_limits<int64_t>::max());
}

TEST_CASE("casts are exact or round once") {
  const int64_t odd = (int64_t{1} << 60) + 1;
  CHECK(full({1}, odd).clone().item_int() == odd);
  CHECK(zeros({1}, kInt64).copy_(full({1}, odd)).item_int() == odd);
  // Just above the middle of two neighbours of float (and of bfloat16): rounding to double first would lose the excess.
  CHECK(full({1}, (int64_t{1} << 60) + (int64_t{1} << 36) + 1).cast(kFloat32).item() == 0x1p60 + 0x1p37);
  CHECK(full({1}, (int64_t{1} << 60) + (int64_t{1} << 52) + 1).cast(kBFloat16).item() == 0x1p60 + 0x1p53);
  // 1 + 2^-11 + 2^-40 rounds up to float16 at once, but to 1 by way of float.
  check_values(tensor_of({1 + 0x1p-11 + 0x1p-40}, kFloat64).cast(kFloat16), {1 + 0x1p-10});
  for (DType a : kAll) {
    for (DType b : kAll) check_values(tensor_of({0, 1, 1, 0}, a).cast(b), {0, 1, 1, 0});
  }
}

TEST_CASE("copy_ broadcasts and casts into any layout") {
  Tensor target = zeros({3, 4}, kFloat64).t();
  target.copy_(tensor_of({1, 2, 3}, kInt8));
  check_values(target, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3});
  Tensor transposed = varied({70, 90}).t();
  check_values(transposed.contiguous(), transposed.to_vector());
}

TEST_CASE("matrices are turned around in tiles, whatever their edges") {
  for (DType t : {kFloat64, kFloat32, kBFloat16, kUInt8}) {
    for (auto [rows, cols] : {std::pair<int64_t, int64_t>{64, 64}, {65, 131}, {7, 300}, {300, 5}}) {
      Tensor x = filled({2, rows, cols}, t, [](int64_t i) { return i % 101; });
      for (const Tensor& turned :
           {x.permute({0, 2, 1}), x.permute({2, 1, 0}), x.permute({2, 0, 1}), x.permute({1, 2, 0})}) {
        Tensor dense = turned.contiguous();
        CHECK(dense.is_contiguous());
        check_values(dense, turned.to_vector());
        check_values(add(turned, dense), add(dense, dense).to_vector());
      }
    }
  }
}

TEST_CASE("in-place calls write the result into any layout and keep the dtype") {
  Tensor base = zeros({4, 6}, kFloat64);
  Tensor view = base.t().slice(0, 0, 6, 2);
  view.add_(filled({3, 4}, kFloat32, [](int64_t i) { return i; }));
  check_values(view, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  check_values(base.select(1, 1), {0, 0, 0, 0});
  Tensor half = tensor_of({1, 2}, kFloat16);
  half.add_(tensor_of({0.5, 0.25}, kFloat32));
  CHECK(half.dtype() == kFloat16);
  check_values(half, {1.5, 2.25});
}

TEST_CASE("an output that overlaps an input gives what separate memory would") {
  const int64_t n = 5000;
  Tensor x = filled({n}, kFloat32, [](int64_t i) { return i; });
  x.slice(0, 1, n).add_(x.slice(0, 0, n - 1));
  std::vector<double> expected{0};
  for (int64_t i = 1; i < n; ++i) expected.push_back(static_cast<double>(2 * i - 1));
  check_values(x, expected);

  Tensor m = filled({3, 3}, kFloat32, [](int64_t i) { return i; });
  m.add_(m.t());
  check_values(m, {0, 4, 8, 4, 8, 12, 8, 12, 16});
  Tensor r = tensor_of({1, 2, 3, 4}, kFloat32, {2, 2});
  r.mul_(r.select(0, 0));
  check_values(r, {1, 4, 3, 8});
  Tensor c = tensor_of({1, 2, 3, 4});
  c.slice(0, 1, 4).copy_(c.slice(0, 0, 3));
  check_values(c, {1, 1, 2, 3});
  r.mul_(r);
  check_values(r, {1, 16, 9, 64});
}

TEST_CASE("an expanded tensor cannot be written") {
  Tensor b = ones({1});
  CHECK_THROWS_AS(b.expand({4}).add_(1), Error);
  check_values(b, {1});
}

TEST_CASE("ties, NaN and bounds") {
  check_values(maximum(tensor_of({1, kNaN, 3, -0.0}), tensor_of({2, 1, kNaN, 0.0})), {2, kNaN, kNaN, 0});
  check_values(tensor_of({kNaN, -2, 0.5, 2}).clamp(-1, 1), {kNaN, -1, 0.5, 1});
  check_values(tensor_of({0}).clamp(2, 1), {1});
  check_values(clamp(full({}, 0.0), full({}, kNaN)), {kNaN});
  check_values(relu(tensor_of({-1, kNaN, 2})), {0, kNaN, 2});
}

TEST_CASE("where takes a bool and two operands of other dtypes") {
  Tensor c = tensor_of({1, 0, 1}, kBool);
  Tensor r = where(c, tensor_of({1, 2, 3}, kInt32), 0.5);
  CHECK(r.dtype() == kFloat32);
  check_values(r, {1, 0.5, 3});
  check_values(where(c, tensor_of({1, 2, 3}, kFloat64), tensor_of({7}, kFloat64)), {1, 7, 3});
}

TEST_CASE("pow at a zero base") {
  check_values(pow(tensor_of({0, 3}), 0), {1, 1});
  check_values(pow(tensor_of({0, 2}), tensor_of({1, 3})), {0, 8});
  check_values(pow(tensor_of({3, -2}, kInt64), 3), {27, -8});
}

TEST_CASE("two threads give the bits of one") {
  Tensor x = varied({300, 401}), y = varied({401, 300}, kBFloat16, 9).t();
  cpu::set_num_threads(1);
  Tensor one = exp(x * y) + x.select(1, 0).unsqueeze(1);
  cpu::set_num_threads(2);
  CHECK(same_bits(exp(x * y) + x.select(1, 0).unsqueeze(1), one));
}

}  // namespace
}  // namespace fuselet::test
