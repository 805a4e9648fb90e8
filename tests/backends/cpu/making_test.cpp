// full, arange, the random operators, and cat.
#include "backends/cpu/parallel.h"
#include "core/generator.h"
#include "core/philox.h"
#include "tests/backends/cpu/tensors.h"

namespace fuselet::test {
namespace {

TEST_CASE("full and arange") {
  for (DType t : {kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kInt8, kUInt8}) {
    check_values(full({2, 2}, 3, t), {3, 3, 3, 3});
    check_values(arange(2, 8, 2, t), {2, 4, 6});
  }
  CHECK(full({1}, (int64_t{1} << 60) + 1).item_int() == (int64_t{1} << 60) + 1);
  CHECK(full({}, 2.5).item() == 2.5);
  CHECK(full({2}, 7).dtype() == kInt64);
  CHECK(full({0, 3}, 1).numel() == 0);
  check_values(arange(3), {0, 1, 2});
  CHECK(arange(3).dtype() == kInt64);
  check_values(arange(0, 1, 0.25), {0, 0.25, 0.5, 0.75});
  check_values(arange(5, 0, -2), {5, 3, 1});
  CHECK(arange(100000).select(0, 99999).item_int() == 99999);
}

TEST_CASE("cat joins, casts and skips empty parts") {
  Tensor joined = cat({tensor_of({1, 2}, kInt32, {1, 2}), tensor_of({3.5, 4, 5, 6}, kFloat32, {2, 2}), zeros({0, 2})});
  CHECK(joined.dtype() == kFloat32);
  check_values(joined, {1, 2, 3.5, 4, 5, 6});
  check_values(cat({tensor_of({1, 2, 3, 4}, kFloat32, {2, 2}).t(), tensor_of({9, 8}, kFloat32, {2, 1})}, 1),
               {1, 3, 9, 2, 4, 8});
}

TEST_CASE("uniform numbers are those of the draw, element by element") {
  manual_seed(7);
  Tensor a = rand({3, 1001});
  CHECK(default_generator().state().draws == 1);
  std::vector<double> v = a.to_vector();
  for (size_t i : {0, 1, 5, 1000, 3002}) CHECK(v[i] == (philox::random_word(7, 0, i) >> 8) * 0x1p-24);
  Tensor d = rand({5}, kFloat64);
  CHECK(d.select(0, 4).item() == philox::random_word(7, 1, 4) * 0x1p-32);
  CHECK(rand({0}).numel() == 0);
  CHECK(default_generator().state().draws == 3);
  for (DType t : {kFloat16, kBFloat16}) {
    Tensor x = rand({200000}, t);
    CHECK(x.amax().item() < 1);
    CHECK(x.amin().item() >= 0);
    CHECK(x.cast(kFloat64).mean().item() == doctest::Approx(0.5).epsilon(0.02));
  }
}

TEST_CASE("normal numbers have mean 0, variance 1, and the same values for any size and thread count") {
  for (DType t : {kFloat64, kFloat32}) {
    manual_seed(3);
    cpu::set_num_threads(2);
    Tensor x = randn({200001}, t);
    CHECK(std::fabs(x.mean().item()) < 0.01);
    CHECK(x.var(IntList{}).item() == doctest::Approx(1).epsilon(0.02));
    CHECK(square(square(x)).mean().item() == doctest::Approx(3).epsilon(0.05));
    manual_seed(3);
    cpu::set_num_threads(1);
    CHECK(same_bits(randn({200001}, t), x));
    manual_seed(3);
    CHECK(same_bits(randn({1501}, t), x.slice(0, 0, 1501)));
    cpu::set_num_threads(2);
  }
}

TEST_CASE("integers lie in their range and reach all of it") {
  manual_seed(1);
  Tensor x = randint(-3, 4, {10000});
  CHECK(x.dtype() == kInt64);
  CHECK(x.amin().item_int() == -3);
  CHECK(x.amax().item_int() == 3);
  CHECK(std::fabs(x.cast(kFloat64).mean().item()) < 0.1);
  CHECK(randint(5, 6, {3}).sum().item_int() == 15);
  const int64_t low = -(int64_t{1} << 61), high = int64_t{1} << 61;
  Tensor wide = randint(low, high, {1000});
  CHECK(wide.amin().item_int() < low / 2);
  CHECK(wide.amax().item_int() > high / 2);
  CHECK(randint(0, int64_t{1} << 32, {1000}).amax().item_int() > int64_t{1} << 31);
  CHECK(randint(0, 2, {100}, kUInt8).dtype() == kUInt8);
}

TEST_CASE("dropout keeps by the draw's halfwords and scales by the quantised probability") {
  manual_seed(11);
  Tensor x = varied({101, 97}).t() + 3;
  auto [y, mask] = dropout_forward(x, 0.3);
  CHECK(default_generator().state().draws == 1);
  const unsigned threshold = 45875;  // round(0.7 * 65536)
  std::vector<double> in = x.to_vector(), out = y.to_vector(), kept = mask.to_vector();
  for (size_t i = 0; i < in.size(); ++i) {
    const bool keep = philox::random_halfword(11, 0, i) < threshold;
    REQUIRE(kept[i] == keep);
    REQUIRE(out[i] == doctest::Approx(keep ? in[i] * 65536 / threshold : 0).epsilon(1e-6));
  }
  check_values(
      dropout_grad(ones_like(x), mask, 0.3),
      [&] {
        std::vector<double> g = kept;
        for (double& e : g) e *= 65536.0 / threshold;
        return g;
      }(),
      1e-6);
  auto [all, all_mask] = dropout_forward(x, 0.0);
  check_values(all, in);
  auto [none, no_mask] = dropout_forward(x, 1.0);
  CHECK(none.abs().sum().item() == 0);
  CHECK(no_mask.sum().item_int() == 0);
}

}  // namespace
}  // namespace fuselet::test
