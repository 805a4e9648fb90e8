// Gradients: backward inside a compiled function, and backward that comes after it.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <cstring>

using namespace fuselet;
using Values = std::vector<double>;

namespace {

CompileSettings exact() {
  CompileSettings s;
  s.numerics = Numerics::Exact;
  return s;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  Tensor x = a.contiguous(), y = b.contiguous();
  return same_sizes(a.sizes(), b.sizes()) && a.dtype() == b.dtype() &&
         std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(a.numel()) * size_of(a.dtype())) == 0;
}

}  // namespace

TEST_CASE("a result that requires grad is differentiated after the call") {
  Tensor w = tensor({2.0f, 3.0f}).requires_grad_();
  auto f = compile([&](const Tensor& x) { return (w * x).exp().sum(); }, exact());
  for (int i = 0; i < 3; ++i) {
    Tensor x = tensor({0.5f, -1.0f}) * (i + 1);
    w.set_grad({});
    Tensor loss = f(x);
    CHECK(loss.requires_grad());
    CHECK_FALSE(loss.is_leaf());
    loss.backward();
    Tensor got = w.grad();
    w.set_grad({});
    (w * x).exp().sum().backward();
    CHECK(same_bits(got, w.grad()));
  }
  CHECK(f.ledger().compilations.size() == 1);
}

TEST_CASE("gradients flow on through what led to the arguments") {
  Tensor a = tensor({1.0f, 2.0f}).requires_grad_();
  auto f = compile([](const Tensor& x) { return std::pair(x * x, x + 1); }, exact());
  for (int i = 0; i < 2; ++i) {
    a.set_grad({});
    auto [p, q] = f(a * 3);
    (p.sum() + q.sum() * 2).backward();
    // d/da (9 a^2 + 2 (3 a + 1)) = 18 a + 6
    CHECK(a.grad().to_vector() == Values{24, 42});
  }
  // One of two results alone.
  a.set_grad({});
  f(a * 3).second.sum().backward();
  CHECK(a.grad().to_vector() == Values{3, 3});
}

TEST_CASE("a later backward checks what it saved, and runs once unless it is retained") {
  Tensor w = tensor({2.0f}).requires_grad_();
  auto f = compile([&](const Tensor& x) { return w * x * x; }, exact());
  Tensor x = tensor({3.0f});
  Tensor y = f(x);
  y.backward({}, true);
  y.backward();
  CHECK(w.grad().to_vector() == Values{18});
  CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("a second time"), Error);
  Tensor z = f(x);
  x.add_(1);
  CHECK_THROWS_WITH_AS(z.backward(), doctest::Contains("written in place since"), Error);
  CHECK_THROWS_AS(f(x).backward({}, false, true), NotImplementedError);
}

TEST_CASE("a value that the function overwrites fails the later backward, not the call") {
  Tensor w = tensor({2.0f, 5.0f}).requires_grad_();
  auto f = compile(
      [&](const Tensor& x) {
        Tensor y = w * x;
        NoGradGuard no_grad;
        x.mul_(0);
        return y;
      },
      exact());
  for (int i = 0; i < 2; ++i) {
    w.set_grad({});
    Tensor x = tensor({3.0f, 4.0f});
    Tensor y = f(x);
    CHECK(x.to_vector() == Values{0, 0});
    CHECK(y.detach().to_vector() == Values{6, 20});
    // As eager code would say.
    CHECK_THROWS_WITH_AS(y.sum().backward(), doctest::Contains("written in place since"), Error);
  }
}

TEST_CASE("the dropout mask of the forward is that of the later backward") {
  Tensor x = ones({4096}).requires_grad_();
  auto f = compile([](const Tensor& t) { return dropout(t, 0.5, true); }, exact());
  for (int i = 0; i < 2; ++i) {
    x.set_grad({});
    Tensor y = f(x);
    y.sum().backward();
    // The inputs are ones, so both are mask / keep.
    CHECK(same_bits(x.grad(), y.detach()));
  }
}

TEST_CASE("backward inside accumulates as eager code does") {
  auto body = [](Tensor& w, const Tensor& x) {
    for (int i = 0; i < 2; ++i) (w * x).square().sum().backward();
    return w.grad().sum();
  };
  auto f = compile(body, exact());
  Tensor eager = tensor({1.0f, 2.0f}).requires_grad_(), w = tensor({1.0f, 2.0f}).requires_grad_();
  Tensor x = tensor({3.0f, 0.5f});
  for (int i = 0; i < 4; ++i) {
    CHECK(same_bits(body(eager, x), f(w, x)));
    CHECK(same_bits(eager.grad(), w.grad()));
    CHECK_FALSE(w.grad().impl()->is_deferred());
    if (i == 2) {
      eager.set_grad({});
      w.set_grad({});
    }
  }
  // .grad undefined, and defined.
  CHECK(f.ledger().compilations.size() == 2);
}

TEST_CASE("gradients asked for by name, and gradients of gradients inside") {
  auto f = compile(
      [](const Tensor& x) {
        Tensor y = (x * x * x).sum();
        Tensor g = grad({y}, {x}, {}, {false, true})[0];
        return grad({g.sum()}, {x})[0];
      },
      exact());
  for (int i = 0; i < 2; ++i) {
    Tensor x = tensor({1.0f, 2.0f}).requires_grad_();
    CHECK(f(x).to_vector() == Values{6, 12});
    CHECK_FALSE(x.grad().defined());
  }
}

TEST_CASE("no_grad, detach and requires_grad inside") {
  Tensor w = tensor({2.0f}).requires_grad_();
  auto f = compile(
      [&](const Tensor& x) {
        Tensor a;
        {
          NoGradGuard no_grad;
          a = w * x;
        }
        Tensor leaf = a.detach().requires_grad_();
        (leaf * w.detach()).backward();
        return std::vector<Tensor>{a, leaf, w.detach() * 2, leaf.grad()};
      },
      exact());
  for (int i = 0; i < 2; ++i) {
    std::vector<Tensor> out = f(tensor({3.0f}));
    CHECK_FALSE(out[0].requires_grad());
    CHECK(out[1].is_leaf());
    CHECK(out[1].requires_grad());
    CHECK_FALSE(out[2].requires_grad());
    CHECK(out[1].grad().item() == 2);
    CHECK(out[3].item() == 2);
    CHECK_FALSE(w.grad().defined());
  }
  auto whole = compile([&](const Tensor& x) { return w * x; }, exact());
  CHECK(whole(tensor({1.0f})).requires_grad());
  NoGradGuard no_grad;
  CHECK_FALSE(whole(tensor({1.0f})).requires_grad());
}

TEST_CASE("what a compiled function cannot hold yet is a clear error") {
  Tensor w = tensor({2.0f}).requires_grad_();
  Tensor inner = w * 2;
  auto through = compile([](const Tensor& x) { x.sum().backward(); }, exact());
  CHECK_THROWS_WITH_AS(through(inner), doctest::Contains("history of a tensor from outside"), NotImplementedError);
  auto hook = compile([](const Tensor& x) { (x * 2).register_hook([](const Tensor& g) { return g; }); }, exact());
  CHECK_THROWS_WITH_AS(hook(w), doctest::Contains("register_hook"), NotImplementedError);
  auto runs_hooks = compile([](Tensor& x) { (x * 2).backward(); }, exact());
  w.register_hook([](const Tensor& g) { return g * 2; });
  CHECK_THROWS_WITH_AS(runs_hooks(w), doctest::Contains("hooks"), NotImplementedError);
  CHECK_FALSE(w.grad().defined());
}
