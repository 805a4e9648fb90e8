// In-place writes through views, and gradients through strided views: right whatever the layout of the base and of the
// gradient that arrives.
#include <doctest/doctest.h>

#include "autograd/engine.h"
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

// 0, 1, 2, … in a shape.
Tensor counted(IntList sizes, bool grad = false) {
  Tensor t = arange(numel_of(sizes.view()).word(), {}, 1, DType::Float64).view(sizes).clone();
  t.requires_grad_(grad);
  return t;
}

}  // namespace

TEST_CASE("a write through a view gets its gradient from a slice of a larger gradient") {
  // The gradient of base is the second half of cat's: contiguous, but not at the start of its memory.
  Tensor x = row({1, 2, 3}, true), w = row({5}, true);
  Tensor base = x * 1;
  base[1].mul_(w[0]);
  Tensor joined = cat({row({0, 0, 0, 0}), base}, 0);
  (joined * row({9, 9, 9, 9, 1, 10, 100})).sum().backward();
  CHECK(x.grad().to_vector() == Values{1, 50, 100});
  CHECK(w.grad().to_vector() == Values{20});
}

TEST_CASE("a write through a view of a permuted base") {
  Tensor x = counted({2, 3}, true), w = row({2, 3}, true);
  Tensor base = (x * 1).t().clone();  // (3, 2), keeps the order of x in memory
  CHECK(base.strides()[0] == 1);
  base[1].mul_(w);
  Tensor joined = cat({zeros({1, 2}, DType::Float64), base}, 0);
  (joined * counted({4, 2})).sum().backward();
  // d/d base = [[2, 3], [4, 5], [6, 7]]; row 1 was multiplied by w
  CHECK(x.grad().to_vector() == Values{2, 8, 6, 3, 15, 7});
  CHECK(w.grad().to_vector() == Values{4 * 1, 5 * 4});
}

TEST_CASE("a base that is itself a part of a larger memory") {
  Tensor x = counted({3}, true), w = row({7}, true);
  Tensor memory = zeros({6}, DType::Float64), base;
  {
    NoGradGuard no_grad;
    base = memory.narrow(0, 2, 3);
  }
  base.copy_(x * 1);
  Tensor nested = base.narrow(0, 1, 2).narrow(0, 1, 1);  // base[2]
  nested.mul_(w);
  (base * row({1, 10, 100})).sum().backward();
  CHECK(x.grad().to_vector() == Values{1, 10, 700});
  CHECK(w.grad().to_vector() == Values{200});
}

TEST_CASE("a view taken before a write reads the base's new place on the tape") {
  Tensor x = counted({4}, true), w = row({3}, true);
  Tensor base = x * 1, early = base.narrow(0, 1, 2);
  base.mul_(w);
  (early * row({1, 10})).sum().backward();
  CHECK(x.grad().to_vector() == Values{0, 3, 30, 0});
  CHECK(w.grad().to_vector() == Values{1 + 20});
}

TEST_CASE("a view of a base that came to require grad by a write requires grad") {
  Tensor w = row({3}, true);
  Tensor base = counted({4}), view = base.narrow(0, 1, 2), other = base.narrow(0, 0, 1);
  CHECK(!view.requires_grad());
  base.mul_(w);
  CHECK(view.requires_grad());
  CHECK(!view.is_leaf());
  double seen = 0;
  view.register_hook([&](const Tensor& g) {
    seen = g.sum().item();
    return Tensor();
  });
  view.sum().backward();
  CHECK(seen == 2);
  CHECK(w.grad().to_vector() == Values{3});
  CHECK_THROWS_AS(other.requires_grad_(false), Error);  // not a leaf
}

TEST_CASE("the gradients of as_strided_scatter and as_strided_grad do not depend on the layout of what arrives") {
  // Laid out by columns in memory 2 elements into its storage.
  Tensor memory = counted({8});
  Tensor self = memory.as_strided({2, 3}, {1, 2}, 2).clone();
  Tensor src = row({1, 2}, true);
  self.requires_grad_();
  Tensor out = as_strided_scatter(self, src, {2}, {3}, 1);  // memory places 1 and 4: elements (1, 0) and (0, 2)
  CHECK(out.to_vector() == Values{2, 4, 2, 1, 5, 7});
  Tensor weights = counted({3, 3}).narrow(0, 1, 2);  // [[3, 4, 5], [6, 7, 8]]
  (out * weights).sum().backward();
  CHECK(self.grad().to_vector() == Values{3, 4, 0, 0, 7, 8});
  CHECK(src.grad().to_vector() == Values{6, 5});

  Tensor g = row({1, 2}, true);
  Tensor placed = as_strided_grad(g, {2, 3}, {1, 2}, {3}, 1);
  CHECK(placed.to_vector() == Values{0, 0, 2, 1, 0, 0});
  (placed * weights).sum().backward();
  CHECK(g.grad().to_vector() == Values{6, 5});
}

TEST_CASE("as_strided of a tensor inside a larger memory has a second derivative") {
  Tensor x = counted({3, 2}, true);
  Tensor y = (x * x).t().clone();                    // (2, 3), by columns
  Tensor windows = y.as_strided({2, 2}, {1, 2}, 1);  // y's memory: 0 1 4 9 16 25
  CHECK(windows.to_vector() == Values{1, 9, 4, 16});
  Tensor g = grad({(windows * windows).sum()}, {x}, {}, {true, true})[0];
  CHECK(g.to_vector() == Values{0, 4, 32, 108, 256, 0});  // 4 x^3
  g.sum().backward();
  CHECK(x.grad().to_vector() == Values{0, 12, 48, 108, 192, 0});  // 12 x^2
}

TEST_CASE("tensors that an in-place operator has read do not keep themselves alive") {
  Tensor w = row({1, 2}, true);
  StoragePtr squared, viewed, chained;
  {
    Tensor a = w * 1;
    squared = a.impl()->storage();
    a.mul_(a);
    Tensor b = w * 1, first = b.narrow(0, 0, 1);
    viewed = b.impl()->storage();
    b.mul_(first);
    Tensor c = w * 1, part = c.narrow(0, 0, 1);
    chained = c.impl()->storage();
    c.add_(part * w);
  }
  CHECK(squared->use_count() == 1);
  CHECK(viewed->use_count() == 1);
  CHECK(chained->use_count() == 1);
}
