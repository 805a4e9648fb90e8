// Every mistake from C++ gives an Error that names the operator and what was given, and leaves everything as it was.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <climits>

using namespace fuselet;

#define CHECK_REFUSED(expression, text) CHECK_THROWS_WITH_AS((void)(expression), doctest::Contains(text), Error)
#define CHECK_NO_INDEX(expression, text) CHECK_THROWS_WITH_AS((void)(expression), doctest::Contains(text), IndexError)

TEST_CASE("shapes that do not fit") {
  CHECK_REFUSED(ones({2}) + ones({3}), "add: shapes [2] and [3] do not broadcast");
  CHECK_REFUSED(where(ones({2}) > 0, ones({3}), ones({2})), "where: shapes [2] and [3]");
  CHECK_REFUSED(matmul(ones({2, 3}), ones({2, 3})), "matmul: shapes [2, 3] and [2, 3]");
  CHECK_REFUSED(bmm(ones({2, 3, 4}), ones({3, 4, 5})), "bmm: expected shapes");
  CHECK_REFUSED(addmm(ones({5}), ones({2, 3}), ones({3, 4})), "addmm: shapes [2, 4] and [5]");
  CHECK_REFUSED(linear(ones({2, 3}), ones({4, 5})), "linear: input of shape [2, 3] has 3 features");
  CHECK_REFUSED(conv2d(ones({1, 3, 5, 5}), ones({2, 4, 3, 3})), "conv2d: input of shape [1, 3, 5, 5] has 3 channels");
  CHECK_REFUSED(max_pool2d(ones({3, 3}), {2}), "max_pool2d: expected (N, C, H, W), got [3, 3]");
  CHECK_REFUSED(layer_norm(ones({2, 3}), {2}), "layer_norm: input of shape [2, 3] does not end in");
  CHECK_REFUSED(mse_loss(ones({2, 1}), ones({2})), "mse_loss: input of shape [2, 1] and target of shape [2]");
  CHECK_REFUSED(cross_entropy(ones({2, 3}), zeros({3}, kInt64)), "need targets of shape [2], got [3]");
  CHECK_REFUSED(cross_entropy(ones({2, 3, 4}), zeros({4, 2}, kInt64)), "need targets of shape [2, 4], got [4, 2]");
  CHECK_REFUSED(cat({ones({2, 3}), ones({2, 4})}), "cat: shapes [2, 3] and [2, 4]");
  CHECK_REFUSED(stack({ones({2}), ones({3})}), "stack: shapes [2] and [3]");
  CHECK_REFUSED(ones({2, 3}).view({4}), "view: shape [4] does not hold 6");
  CHECK_REFUSED(ones({2, 3}).expand({4, 3}), "expand: dimension 0 of [2, 3]");
  CHECK_REFUSED(ones({2, 3}).permute({0, 0}), "permute: dimension 0 stands twice");
  CHECK_NO_INDEX(ones({2}).sum({3}), "sum: dimension 3 is out of range");
}

TEST_CASE("dtypes that do not fit") {
  CHECK_REFUSED(matmul(ones({2, 2}), ones({2, 2}, kFloat64)), "matmul: expected tensors of one dtype");
  CHECK_REFUSED(linear(ones({2, 3}), ones({4, 3}, kFloat16)), "linear: expected tensors of one dtype");
  CHECK_REFUSED(ones({2}, kInt64).mean(), "mean: expected a floating dtype, got int64");
  CHECK_REFUSED(softmax(ones({2}, kInt64), 0), "softmax: expected a floating dtype");
  CHECK_REFUSED(ones({2}).index_select(0, ones({1})), "index_select: indices must be integers, got float32");
  CHECK_REFUSED(cross_entropy(ones({2, 3}), ones({2})), "cross_entropy: targets must be integer classes");
  CHECK_REFUSED(ones({1}, kInt64).requires_grad_(), "requires_grad_: only floating tensors");
  Tensor integers = ones({2}, kInt64);
  CHECK_REFUSED(integers.add_(0.5), "add_: a result of dtype float32 cannot be written");
  CHECK(integers.to_vector() == std::vector<double>{1, 1});
}

TEST_CASE("indices out of range") {
  Tensor x = zeros({2, 3}), three = full({1, 1}, 3, kInt64), two = full({1}, 2, kInt64);
  CHECK_NO_INDEX(x.gather(1, three), "gather: index 3 is out of range for size 3");
  CHECK_NO_INDEX(x.index_select(0, two), "index_select: index 2 is out of range for size 2");
  CHECK_NO_INDEX(embedding(x, two), "embedding: index 2 is out of range for size 2");
  CHECK_NO_INDEX(cross_entropy(x, full({2}, 3, kInt64)), "cross_entropy: target 3 of row 0");
  CHECK_NO_INDEX(x.select(0, 2), "select: index 2 is out of range for dimension 0 of size 2");
  CHECK_NO_INDEX(x[2], "select: index 2");
  CHECK_NO_INDEX(x.narrow(0, 1, 2), "narrow: entries 1 to 3");
  // Good indices before the bad one have not been used.
  CHECK_NO_INDEX(x.scatter_add_(1, tensor({{0, 3}}), ones({1, 2})), "scatter_add: index 3");
  CHECK_NO_INDEX(x.index_add_(0, tensor({0, 2}), ones({2, 3})), "index_add: index 2");
  CHECK(x.to_vector() == std::vector<double>(6, 0.0));
  CHECK(x.version() == 0);
}

TEST_CASE("sizes that no tensor has") {
  CHECK_REFUSED(zeros({int64_t{1} << 40, int64_t{1} << 40}), "too large");
  CHECK_REFUSED(zeros({int64_t{1} << 61}, kFloat64),
                "full: a result of shape [2305843009213693952] has too many bytes");
  CHECK_REFUSED(ones({1}).expand({int64_t{1} << 40, int64_t{1} << 40}), "too large");
  CHECK_REFUSED(zeros({0}).view({int64_t{1} << 32, int64_t{1} << 32}), "too large");
  CHECK_REFUSED(arange(0, 1e30), "arange: bounds 0 and 1e+30");
  CHECK_REFUSED(zeros({-1}), "sizes must not be negative, got [-1]");
  CHECK_REFUSED(ones({2}).select(0, INT64_MAX), "too large");
  // Bounds of slices, and steps, are cut, however far away.
  constexpr int64_t kFar = int64_t{1} << 61;
  CHECK(arange(5).slice(0, 1, kFar).size(0) == 4);
  CHECK(arange(5).slice(0, -kFar, kFar, kFar).size(0) == 1);
}

TEST_CASE("sums over tensors without elements") {
  CHECK(zeros({4, 0}).sum({0}).numel() == 0);
  CHECK(zeros({3, 0, 5}).mean({0, 2}).numel() == 0);
  CHECK(zeros({3, 0}).amax({0}).numel() == 0);
  CHECK(zeros({0, 4}).sum({0}).to_vector() == std::vector<double>(4, 0.0));
}

TEST_CASE("writes to elements that share memory") {
  Tensor cell = ones({1});
  Tensor e = cell.expand({4});
  CHECK_REFUSED(e.add_(1), "add_: several elements of the written tensor share one memory cell");
  CHECK_REFUSED(e.copy_(zeros({4})), "copy_: several elements");
  CHECK(cell.item() == 1);
  Tensor line = zeros({8});
  CHECK_REFUSED(line.as_strided({2, 3}, {1, 1}).add_(1), "share one memory cell");
  line.as_strided({3, 2}, {2, 3}).add_(1);
  CHECK(line.to_vector() == std::vector<double>{1, 0, 1, 1, 1, 1, 0, 1});
}

TEST_CASE("misuse of backward") {
  Tensor x = ones({2}).requires_grad_();
  CHECK_REFUSED((x * 2).backward(), "backward: a gradient must be given for a tensor of shape [2]");
  CHECK_REFUSED((x * 2).backward(ones({3})), "backward: the gradient has shape [3] but the tensor has shape [2]");
  CHECK_REFUSED(ones({1}).backward(), "does not require grad");
  CHECK_FALSE(x.grad().defined());

  Tensor y = (x * x).sum();
  y.backward();
  CHECK_REFUSED(y.backward(), "mul: backward through this part of the graph a second time");
  CHECK(x.grad().to_vector() == std::vector<double>{2, 2});

  Tensor saved = sigmoid(x);
  saved.detach().copy_(0);
  CHECK_REFUSED(saved.sum().backward(), "sigmoid: result 'result' of shape [2] was saved for backward at version 0");
  CHECK_REFUSED(x.add_(1), "add_: a leaf tensor that requires grad");
  CHECK_REFUSED(x.select(0, 0).copy_(5), "copy_: a view of a leaf tensor that requires grad");
  CHECK(x.to_vector() == std::vector<double>{1, 1});
  CHECK(x.grad().to_vector() == std::vector<double>{2, 2});
}

TEST_CASE("a hook that fails, or gives what does not fit, leaves every gradient") {
  Tensor a = ones({2}).requires_grad_(), b = ones({2}).requires_grad_();
  (a * b).sum().backward();
  struct Mine {};
  const TensorHook hooks[] = {[](const Tensor&) -> Tensor { throw Mine(); }, [](const Tensor& g) { return g.sum(); },
                              [](const Tensor& g) { return g.cast(kFloat64); }};
  for (const TensorHook& hook : hooks) {
    int64_t id = b.register_hook(hook);
    Tensor product = a * b;
    product.retain_grad();
    CHECK_THROWS(product.sum().backward());
    b.remove_hook(id);
    CHECK_FALSE(product.grad().defined());
    CHECK(a.grad().to_vector() == std::vector<double>{1, 1});
    CHECK(b.grad().to_vector() == std::vector<double>{1, 1});
  }
}

TEST_CASE("a gradient that several tensors retain is theirs each") {
  Tensor x = ones({2}).requires_grad_();
  Tensor a = x * 1, b = x * 2;
  a.retain_grad();
  b.retain_grad();
  (a + b).sum().backward();
  a.grad().add_(100);
  CHECK(b.grad().to_vector() == std::vector<double>{1, 1});
  CHECK(x.grad().to_vector() == std::vector<double>{3, 3});
}

TEST_CASE("clipping to a negative norm leaves the gradients") {
  Tensor p = ones({2}).requires_grad_();
  p.set_grad(full({2}, 3.0));
  CHECK_REFUSED(nn::utils::clip_grad_norm_({p}, -1.0), "max_norm must not be negative, got -1");
  CHECK(p.grad().to_vector() == std::vector<double>{3, 3});
}
