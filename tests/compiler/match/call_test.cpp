// A compiled function runs its code on every call and gives what eager code gives.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

using namespace fuselet;
using Values = std::vector<double>;

namespace {

CompileSettings exact() {
  CompileSettings s;
  s.numerics = Numerics::Exact;
  return s;
}

size_t programs(const Ledger& ledger) { return ledger.compilations.size(); }

}  // namespace

TEST_CASE("a function of two operators is compiled once") {
  auto f = compile([](const Tensor& x, const Tensor& y) { return (x + y) * x; }, exact());
  for (int i = 0; i < 3; ++i) {
    Tensor x = tensor({1.0f, 2.0f, 3.0f}) + i, y = tensor({4.0f, 5.0f, 6.0f});
    Tensor z = f(x, y);
    CHECK_FALSE(z.impl()->is_deferred());
    double a = 1 + i, b = 2 + i, c = 3 + i;
    CHECK(z.to_vector() == Values{(a + 4) * a, (b + 5) * b, (c + 6) * c});
  }
  CHECK(programs(f.ledger()) == 1);
  CHECK(f.ledger().compiled == 3);
}
