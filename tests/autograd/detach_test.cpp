// Tensors outside the graph, and what the version counter sees of them.
#include <doctest/doctest.h>

#include "autograd/engine.h"
#include "core/ops/functions.h"

using namespace fuselet;

TEST_CASE("a write through detach() is noticed by the backward that saved the tensor") {
  Tensor x = zeros({2}).requires_grad_();
  Tensor y = x.sigmoid();
  y.detach().copy_(0);
  CHECK_THROWS_WITH_AS(y.sum().backward(), doctest::Contains("written in place"), Error);
  CHECK(!x.grad().defined());
  Tensor z = x.sigmoid();
  z.sum().backward();
  CHECK(x.grad().to_vector() == std::vector<double>{0.25, 0.25});
}

TEST_CASE("detach() and no history: no gradient flows, memory is shared") {
  Tensor x = ones({2}).requires_grad_();
  Tensor d = (x * 3).detach();
  CHECK(!d.requires_grad());
  (x * d).sum().backward();
  CHECK(x.grad().to_vector() == std::vector<double>{3, 3});
}

TEST_CASE("to(dtype) gives the tensor itself where nothing is to be done, and passes gradients back") {
  Tensor x = ones({2}).requires_grad_();
  CHECK(x.to(kFloat32).is_same(x));
  x.to(kFloat64).sum().backward();
  CHECK(x.grad().dtype() == kFloat32);
  CHECK(x.grad().to_vector() == std::vector<double>{1, 1});
}
