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

TEST_CASE("numbers are inputs: a hundred learning rates are one program") {
  auto f = compile([](const Tensor& x, double step, double lr) { return x - lr * step; }, exact());
  for (int s = 1; s <= 100; ++s) CHECK(std::abs(f(ones({1}), s, 1.0 / s).item()) < 1e-6);
  CHECK(programs(f.ledger()) == 1);
}

TEST_CASE("an int that changes becomes an input of the second program") {
  auto f = compile([](const Tensor& x, int64_t s) { return x * s; }, exact());
  for (int64_t s = 1; s <= 50; ++s) CHECK(f(ones({2}), s).to_vector() == Values(2, static_cast<double>(s)));
  CHECK(programs(f.ledger()) == 2);
  // Where it makes the dtype, it is compared.
  auto g = compile([](const Tensor& x, int64_t s) { return x + s; }, exact());
  for (int64_t s = 1; s <= 3; ++s) CHECK(g(ones({2}, kInt64), s).to_vector() == Values(2, static_cast<double>(s + 1)));
  CHECK(programs(g.ledger()) == 3);
}

TEST_CASE("a number whose value shapes the gradient is compared") {
  // d/dx x^p = p x^(p-1)
  auto f = compile(
      [](Tensor& x, double p) {
        x.set_grad({});
        x.pow(p).sum().backward();
        return x.grad();
      },
      exact());
  Tensor x = tensor({2.0f, 3.0f}).requires_grad_();
  CHECK(f(x, 3.0).to_vector() == Values{12, 27});
  CHECK(f(x, 2.0).to_vector() == Values{4, 6});
  CHECK(f(x, 3.0).to_vector() == Values{12, 27});
  CHECK(f(x, 1.0).to_vector() == Values{1, 1});
}

TEST_CASE("inputs that share memory are another path than inputs that do not") {
  auto f = compile(
      [](const Tensor& x, const Tensor& y) {
        x.mul_(10);
        return x + y;
      },
      exact());
  Tensor a = ones({4}), b = ones({4});
  CHECK(f(a, b).to_vector() == Values(4, 11));
  for (int i = 0; i < 2; ++i) {
    Tensor base = arange(6.0);
    CHECK(f(base.narrow(0, 0, 4), base.narrow(0, 1, 4)).to_vector() == Values{10, 30, 50, 34});
    CHECK(base.to_vector() == Values{0, 10, 20, 30, 4, 5});
  }
  Tensor same = ones({4});
  CHECK(f(same, same).to_vector() == Values(4, 20));
  CHECK(same.to_vector() == Values(4, 10));
  CHECK(f(ones({4}), ones({4})).to_vector() == Values(4, 11));
  CHECK(programs(f.ledger()) == 3);
}

TEST_CASE("a parameter updated in place moves on every call") {
  Tensor w = zeros({1});
  auto step = compile(
      [](const Tensor& w) {
        Tensor g = 2 * (w - 3);
        Tensor loss = square(w - 3).sum();
        w.sub_(0.1 * g);
        return loss;
      },
      exact());
  double expected = 9;
  for (int i = 0; i < 5; ++i, expected *= 0.64) CHECK(step(w).item() == doctest::Approx(expected).epsilon(1e-6));
  CHECK(w.item() == doctest::Approx(2.01696).epsilon(1e-6));
  CHECK(programs(step.ledger()) == 1);
}

TEST_CASE("state that the code reads is never stale") {
  double scale = 2;
  bool training = false;
  auto f = compile([&](const Tensor& x) { return (training ? x + 1 : x * 10) * scale; }, exact());
  Tensor x = tensor({3.0f});
  CHECK(f(x).item() == 60);
  scale = 5;
  CHECK(f(x).item() == 150);
  training = true;
  CHECK(f(x).item() == 20);
  training = false;
  CHECK(f(x).item() == 150);
  CHECK(programs(f.ledger()) == 2);
}

TEST_CASE("transposed, sliced and expanded inputs keep their right values and strides") {
  auto f = compile([](const Tensor& t) { return (t * 2).reshape({-1}); }, exact());
  auto g = compile([](const Tensor& t) { return t * 2; }, exact());
  Tensor x = arange(6.0).reshape({2, 3}).t();
  CHECK(f(x).to_vector() == Values{0, 6, 2, 8, 4, 10});
  CHECK(f(x.contiguous()).to_vector() == Values{0, 6, 2, 8, 4, 10});
  Tensor eager = x * 2, got = g(x);
  CHECK(same_sizes(eager.strides(), got.strides()));
  CHECK(got.to_vector() == eager.to_vector());
  Tensor every_second = arange(8.0).slice(0, 0, 8, 2), expanded = ones({1, 3}).expand({2, 3});
  Tensor behind = arange(5.0).narrow(0, 1, 4);
  for (const Tensor& t : {every_second, expanded, behind}) CHECK(g(t).to_vector() == (t * 2).to_vector());
}

TEST_CASE("writes and reads keep the order of the program") {
  auto f = compile(
      [](const Tensor& x) {
        Tensor y = x * 1;
        x.add_(10);
        return y + x;
      },
      exact());
  auto g = compile(
      [](const Tensor& x) {
        Tensor r = x.index_select(0, tensor({2, 1, 0}));
        x.mul_(2);
        return r;
      },
      exact());
  for (int i = 0; i < 2; ++i) {
    Tensor x = tensor({3.0f, 1.0f, 2.0f}), z = tensor({1.0f, 2.0f, 3.0f});
    CHECK(f(x).to_vector() == Values{16, 12, 14});
    CHECK(x.to_vector() == Values{13, 11, 12});
    CHECK(g(z).to_vector() == Values{3, 2, 1});
    CHECK(z.to_vector() == Values{2, 4, 6});
  }
}

TEST_CASE("a view of an input that is returned is that memory") {
  auto f = compile(
      [](const Tensor& x) {
        x.add_(1);
        return x.narrow(0, 1, 2);
      },
      exact());
  for (int i = 0; i < 2; ++i) {
    Tensor x = arange(4.0), v = f(x);
    CHECK(v.to_vector() == Values{2, 3});
    x.mul_(2);
    CHECK(v.to_vector() == Values{4, 6});
  }
}

TEST_CASE("results that share memory share it afterwards") {
  auto f = compile(
      [](const Tensor& x) {
        Tensor y = x + 1;
        return std::pair(y, y.narrow(0, 0, 1));
      },
      exact());
  for (int i = 0; i < 2; ++i) {
    auto [y, v] = f(arange(2.0));
    y.mul_(3);
    CHECK(v.to_vector() == Values{3});
    CHECK(y.to_vector() == Values{3, 6});
  }
}

TEST_CASE("a value kept by a later call is computed from then on") {
  std::vector<Tensor> kept;
  bool keep = false;
  auto f = compile(
      [&](const Tensor& x) {
        Tensor inner = x * 3;
        if (keep) kept.push_back(inner);
        return inner + 1;
      },
      exact());
  CHECK(f(ones({1})).item() == 4);
  keep = true;
  CHECK(f(ones({1}) * 2).item() == 7);
  CHECK(kept[0].item() == 6);
  CHECK(programs(f.ledger()) == 2);
  CHECK(f.ledger().compilations[1].reason.find("kept now") != std::string::npos);
}

TEST_CASE("random numbers are those of eager code") {
  auto body = [](const Tensor& x) { return std::vector<Tensor>{rand({1000}), rand({1000}), x + rand({4, 1})}; };
  auto f = compile(body, exact());
  for (int i = 0; i < 2; ++i) {
    manual_seed(7);
    std::vector<Tensor> expected = body(zeros({4, 4}));
    GeneratorState end = default_generator().state();
    manual_seed(7);
    std::vector<Tensor> got = f(zeros({4, 4}));
    CHECK(default_generator().state() == end);
    for (size_t k = 0; k < 3; ++k) CHECK(got[k].to_vector() == expected[k].to_vector());
    CHECK(got[0].to_vector() != got[1].to_vector());
    Values c = got[2].to_vector();
    for (size_t row = 0; row < 4; ++row)
      CHECK(Values(c.begin() + row * 4, c.begin() + row * 4 + 4) == Values(4, c[row * 4]));
  }
  // A draw whose result nobody uses counts.
  auto unused = compile(
      [](const Tensor& x) {
        rand({3});
        return x + rand({3});
      },
      exact());
  manual_seed(3);
  rand({3});
  Values second = rand({3}).to_vector();
  for (int i = 0; i < 2; ++i) {
    manual_seed(3);
    CHECK(unused(zeros({3})).to_vector() == second);
  }
}

TEST_CASE("an exception half-way leaves everything as it was, and the next call works") {
  Tensor w = tensor({1.0f, 2.0f}).requires_grad_();
  Tensor before = tensor({7.0f, 7.0f});
  w.set_grad(before);
  auto cell = make_intrusive<HostCell>(1.0, "step");
  bool fails = false;
  Tensor escaped;
  auto f = compile(
      [&](const Tensor& x) {
        w.set_grad({});
        cell->advance(1);
        Tensor y = rand({2}) * w * x;
        escaped = y;
        y.sum().backward();
        if (fails) throw std::runtime_error("mine");
        return w.grad();
      },
      exact());
  manual_seed(5);
  for (int i = 0; i < 3; ++i) {
    fails = i != 1;
    w.set_grad(before);
    GeneratorState state = default_generator().state();
    double step = cell->get();
    if (fails) {
      CHECK_THROWS_WITH(f(ones({2})), "mine");
      CHECK(w.grad().is_same(before));
      CHECK(cell->get() == step);
      CHECK(default_generator().state() == state);
      CHECK_THROWS_AS(escaped + 1, Error);
    } else {
      Values expected = rand({2}).to_vector();
      default_generator().set_state(state);
      CHECK(f(ones({2})).to_vector() == expected);
      CHECK(cell->get() == step + 1);
    }
  }
  CHECK((w * 2).detach().to_vector() == Values{2, 4});
}

TEST_CASE("asking for a value inside is an error that names the line") {
  auto f = compile([](const Tensor& x) { return x.sum().item(); }, exact());
  try {
    f(ones({2}));
    FAIL("no error");
  } catch (const NotImplementedError& e) {
    CHECK(std::string(e.what()).find("call_test.cpp:") != std::string::npos);
  }
  // A tensor from outside has its value, unless the function has written it.
  auto g = compile(
      [](const Tensor& x, bool write) {
        if (write) x.add_(1);
        return x.item() > 0 ? x * 2 : x - 1;
      },
      exact());
  CHECK(g(tensor({1.0f}), false).item() == 2);
  CHECK(g(tensor({-1.0f}), false).item() == -2);
  CHECK_THROWS_AS(g(tensor({1.0f}), true), NotImplementedError);
  CHECK(f.ledger().compiled == 0);
}

TEST_CASE("too many programs are an error that lists the reasons") {
  CompileSettings s = exact();
  s.recompile_limit = 2;
  auto f = compile([](const Tensor& x) { return x + 1; }, s);
  f(ones({1}));
  f(ones({2}));
  try {
    f(ones({3}));
    FAIL("no error");
  } catch (const Error& e) {
    std::string text = e.what();
    CHECK(text.find("recompile_limit is 2") != std::string::npos);
    CHECK(text.find("float32[3], was float32[2]") != std::string::npos);
    CHECK(text.find("1. first call") != std::string::npos);
  }
  CHECK(f(ones({2})).to_vector() == Values{2, 2});
  s.mode = "fast";
  CHECK_THROWS_WITH_AS(compile([] { return 1; }, s), doctest::Contains("mode must be"), Error);
}

TEST_CASE("a compiled function inside another, and one that calls itself, run as a part of it") {
  auto inner = compile([](const Tensor& x) { return x * 2; }, exact());
  auto outer = compile([&](const Tensor& x) { return inner(x + 1) + inner(x); }, exact());
  CHECK(outer(ones({1})).item() == 6);
  CHECK(outer(ones({1}) * 2).item() == 10);
  CHECK(inner.ledger().compiled == 0);
  CHECK(inner(ones({1})).item() == 2);
  std::function<Tensor(const Tensor&, int)> again;
  auto recursive = compile([&](const Tensor& x, int n) -> Tensor { return n == 0 ? x : again(x * 2, n - 1); }, exact());
  again = [&](const Tensor& x, int n) { return recursive(x, n); };
  CHECK(recursive(ones({1}), 3).item() == 8);
  CHECK(recursive(ones({1}), 5).item() == 32);
}

TEST_CASE("as_strided counts from the start of the memory, or is refused") {
  auto f = compile([](const Tensor& x) { return x.as_strided({2}, {1}, 1) * 2; }, exact());
  for (int i = 0; i < 2; ++i) CHECK(f(arange(4.0)).to_vector() == Values{2, 4});
  CHECK_THROWS_WITH_AS(f(arange(5.0).narrow(0, 1, 4)), doctest::Contains("as_strided"), NotImplementedError);
  CHECK(f(arange(4.0)).to_vector() == Values{2, 4});
}
