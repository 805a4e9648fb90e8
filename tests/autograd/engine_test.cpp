// The backward engine: hooks, several roots, kept and shared graphs, threads, and what an error leaves behind.
#include "autograd/engine.h"

#include <doctest/doctest.h>

#include <thread>

#include "core/ops/functions.h"

using namespace fuselet;

namespace {

using Values = std::vector<double>;

Tensor row(std::initializer_list<double> v, bool grad = false) {
  Tensor t = empty({static_cast<int64_t>(v.size())}, DType::Float64);
  std::copy(v.begin(), v.end(), t.data<double>());
  t.requires_grad_(grad);
  return t;
}

}  // namespace

TEST_CASE("a hook may remove itself and others while it runs") {
  Tensor x = row({1, 2}, true), y = x * 2;
  std::vector<int> order;
  int64_t first = 0, second = 0;
  std::string kept_by_the_hook(100, 'a');
  first = y.register_hook([&, kept_by_the_hook](const Tensor&) {
    y.remove_hook(first);
    order.push_back(kept_by_the_hook == std::string(100, 'a') ? 1 : -1);
    return Tensor();
  });
  second = y.register_hook([&](const Tensor& g) {
    order.push_back(2);
    return g * 10;
  });
  y.sum().backward({}, true);
  CHECK(order == std::vector<int>{1, 2});
  y.sum().backward({}, true);
  CHECK(order == std::vector<int>{1, 2, 2});
  y.remove_hook(second);
  y.sum().backward();
  CHECK(order.size() == 3);
  CHECK(x.grad().to_vector() == Values{42, 42});
}

TEST_CASE("a hook is removed also after its tensor has been written in place") {
  Tensor x = row({1, 2}, true), y = x * 2;
  int runs = 0;
  int64_t id = y.register_hook([&](const Tensor&) {
    ++runs;
    return Tensor();
  });
  y.add_(1);
  y.remove_hook(id);
  y.sum().backward();
  CHECK(runs == 0);
}

TEST_CASE("grad runs the hooks of the inputs that it is asked for, leaves included") {
  Tensor x = row({1, 2}, true);
  x.register_hook([](const Tensor& g) { return g * 3; });
  Tensor y = x * 2;
  y.register_hook([](const Tensor& g) { return g * 5; });
  std::vector<Tensor> g = grad({y.sum()}, {x, y});
  CHECK(g[0].to_vector() == Values{30, 30});
  CHECK(g[1].to_vector() == Values{5, 5});
  CHECK(!x.grad().defined());
}

TEST_CASE("roots that share nodes, one root inside another's graph, and a root that is a leaf") {
  Tensor x = row({3}, true), y = x * x, z = y * 2;
  backward({z, y, x}, {row({1}), row({10}), row({100})});
  CHECK(x.grad().to_vector() == Values{12 + 60 + 100});
}

TEST_CASE("a part shared by two graphs is freed by the first backward unless kept") {
  Tensor x = row({3}, true), shared = x * x;
  Tensor a = shared * 2, b = shared * 5;
  a.backward(row({1}), true);
  b.backward(row({1}));
  CHECK(x.grad().to_vector() == Values{12 + 30});
  CHECK_THROWS_WITH_AS(a.backward(row({1})), doctest::Contains("retain_graph=True"), Error);
  CHECK(x.grad().to_vector() == Values{42});
}

TEST_CASE("two threads go backward through one kept graph") {
  Tensor x = row({1, 2, 3}, true), y = x;
  for (int i = 0; i < 200; ++i) y = y * x + y;
  Tensor total = y.sum();
  Values expected = grad({total}, {x}, {}, {true, false})[0].to_vector();
  std::vector<Values> seen(4);
  std::vector<std::thread> threads;
  for (Values& s : seen) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        s = grad({total}, {x}, {}, {true, false})[0].to_vector();
        if (s != expected) return;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Values& s : seen) CHECK(s == expected);
}

TEST_CASE("a gradient that cannot be written in place is replaced, for all leaves or none") {
  Tensor a = row({1, 2}, true), b = row({1, 2}, true);
  b.set_grad(row({5}).expand({2}));  // both elements in one memory cell
  (a * 2 + b * 3).sum().backward();
  CHECK(a.grad().to_vector() == Values{2, 2});
  CHECK(b.grad().to_vector() == Values{8, 8});
}

TEST_CASE("outputs that no gradient flows through say so") {
  Tensor x = row({1, 2, 4}, true);
  auto [y, mean, rstd] = layer_norm_forward(x, {3}, {}, {}, 1e-5);
  CHECK_THROWS_WITH_AS(mean.sum().backward(), doctest::Contains("layer_norm_forward"), Error);
  CHECK_NOTHROW(y.sum().backward());
}
