// Pure functions: calls like earlier ones do not run the code.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

using namespace fuselet;
using Values = std::vector<double>;

namespace {

CompileSettings pure() {
  CompileSettings s;
  s.numerics = Numerics::Exact;
  s.pure = true;
  return s;
}

}  // namespace

TEST_CASE("the code of a pure function runs once for arguments of one form") {
  int runs = 0;
  auto f = compile(
      [&](const Tensor& x, double scale, const std::vector<Tensor>& more) {
        ++runs;
        return std::tuple(x * scale + more[0], static_cast<int64_t>(more.size()), x);
      },
      pure());
  for (int i = 0; i < 3; ++i) {
    Tensor x = ones({2}) * i, y = ones({2});
    auto [sum, count, same] = f(x, 2.0, std::vector<Tensor>{y});
    CHECK(sum.to_vector() == Values(2, 2.0 * i + 1));
    CHECK(count == 1);
    CHECK(same.is_same(x));
  }
  CHECK(runs == 1);
  CHECK(std::get<0>(f(ones({2}), 3.0, std::vector<Tensor>{ones({2})})).to_vector() == Values{4, 4});
  CHECK(std::get<1>(f(ones({2}), 2.0, std::vector<Tensor>{ones({2}), ones({1})})) == 2);
  CHECK(std::get<0>(f(ones({3}), 2.0, std::vector<Tensor>{ones({3})})).to_vector() == Values{3, 3, 3});
  CHECK(runs == 4);
  CHECK(f.ledger().compiled == 6);
}

TEST_CASE("pure calls write, share memory and differentiate as the code would") {
  int runs = 0;
  auto f = compile(
      [&](const Tensor& x, const Tensor& y) {
        ++runs;
        x.mul_(10);
        return x + y;
      },
      pure());
  for (int i = 0; i < 2; ++i) {
    CHECK(f(ones({4}), ones({4})).to_vector() == Values(4, 11));
    Tensor base = arange(6.0);
    CHECK(f(base.narrow(0, 0, 4), base.narrow(0, 1, 4)).to_vector() == Values{10, 30, 50, 34});
    CHECK(base.to_vector() == Values{0, 10, 20, 30, 4, 5});
  }
  CHECK(runs == 2);
  Tensor w = tensor({2.0f}).requires_grad_();
  auto g = compile([&](const Tensor& x) { return (w * x).sum(); }, pure());
  for (int i = 0; i < 3; ++i) {
    w.set_grad({});
    g(tensor({1.0f * i})).backward();
    CHECK(w.grad().item() == i);
  }
}

TEST_CASE("a pure function that reads host cells runs its code") {
  auto cell = make_intrusive<HostCell>(1.0, "lr");
  int runs = 0;
  auto f = compile(
      [&](const Tensor& x) {
        ++runs;
        return x * Scalar(cell);
      },
      pure());
  CHECK(f(ones({1})).item() == 1);
  cell->set(5);
  CHECK(f(ones({1})).item() == 5);
  CHECK(runs == 2);
  CHECK(f.ledger().compilations.size() == 1);
}
