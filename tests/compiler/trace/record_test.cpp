// Recordings: what they hold, and that replaying them is running the function, bit for bit.
#include "compiler/trace/record.h"

#include <doctest/doctest.h>

#include <cstring>

#include "autograd/engine.h"
#include "core/dispatch_state.h"
#include "core/generator.h"
#include "core/ops/functions.h"

using namespace fuselet;

namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!same_sizes(a.sizes(), b.sizes()) || a.dtype() != b.dtype()) return false;
  Tensor x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.numel()) * size_of(x.dtype())) == 0;
}

Tensor from(std::initializer_list<float> v, bool grad = false) {
  Tensor t = empty({static_cast<int64_t>(v.size())}, DType::Float32);
  std::copy(v.begin(), v.end(), t.data<float>());
  t.requires_grad_(grad);
  return t;
}

void check_round_trip(const ir::Graph& g) {
  std::string text = ir::print(g);
  ir::Graph again = ir::parse(text);
  CHECK(ir::print(again) == text);
  CHECK_NOTHROW(ir::verify(again));
}

}  // namespace

TEST_CASE("a recording runs once and replays on other arguments") {
  Tensor w = from({2, 3});
  auto f = record([&](const std::vector<Tensor>& x) { return std::vector<Tensor>{x[0] * w + 1}; }, {from({1, 1})});
  CHECK(f.first_outputs()[0].to_vector() == std::vector<double>{3, 4});
  CHECK(f({from({10, 20})})[0].to_vector() == std::vector<double>{21, 61});
  w.copy_(from({1, 1}));  // lifted by reference: read at each run
  CHECK(f({from({10, 20})})[0].to_vector() == std::vector<double>{11, 21});
  CHECK(f.graph().inputs.size() == 2);
  check_round_trip(f.graph());
}

TEST_CASE("a written parameter is written back on every run") {
  Tensor w = from({0});
  auto step = record(
      [&](const std::vector<Tensor>&) {
        Tensor g = 2 * (w - 3), loss = square(w - 3).sum();
        w.sub_(0.1 * g);
        return std::vector<Tensor>{loss};
      },
      {});
  std::vector<double> losses = {step.first_outputs()[0].item()};
  for (int i = 0; i < 4; ++i) losses.push_back(step({})[0].item());
  const double expected[] = {9, 5.76, 3.6864, 2.359296, 1.50994944};
  for (int i = 0; i < 5; ++i) CHECK(losses[static_cast<size_t>(i)] == doctest::Approx(expected[i]).epsilon(1e-6));
  CHECK(w.item() == doctest::Approx(2.01696).epsilon(1e-6));
}

TEST_CASE("a write through a view is seen through the base and through other views") {
  Tensor x = from({0, 1, 2, 3, 4, 5});
  auto f = record(
      [&](const std::vector<Tensor>&) {
        Tensor m = x.view({2, 3}), row = m.select(0, 1), column = m.select(1, 0);
        row.mul_(10);
        m.select(0, 0).add_(1);
        return std::vector<Tensor>{column + 0, x + 0, row + 0};
      },
      {});
  CHECK(f.first_outputs()[0].to_vector() == std::vector<double>{1, 30});
  CHECK(f.first_outputs()[1].to_vector() == std::vector<double>{1, 2, 3, 30, 40, 50});
  CHECK(f.first_outputs()[2].to_vector() == std::vector<double>{30, 40, 50});
  CHECK(x.to_vector() == std::vector<double>{1, 2, 3, 30, 40, 50});
  f({});
  CHECK(x.to_vector() == std::vector<double>{2, 3, 4, 300, 400, 500});
  check_round_trip(f.graph());
}

TEST_CASE("two lifted tensors over one storage see each other's writes") {
  Tensor base = from({0, 1, 2, 3, 4, 5});
  Tensor a = base.slice(0, 0, 4), b = base.slice(0, 1, 5);
  auto f = record(
      [&](const std::vector<Tensor>&) {
        a.mul_(10);
        return std::vector<Tensor>{a + b};
      },
      {});
  CHECK(f.first_outputs()[0].to_vector() == std::vector<double>{10, 30, 50, 34});
  CHECK(base.to_vector() == std::vector<double>{0, 10, 20, 30, 4, 5});
}

TEST_CASE("gradients recorded in the function land in .grad, now and on replays") {
  Tensor w = from({1, 2, 3}, true);
  auto f = record(
      [&](const std::vector<Tensor>& x) {
        w.set_grad(Tensor());
        Tensor loss = (w * w * x[0]).sum();
        loss.backward();
        return std::vector<Tensor>{loss};
      },
      {from({1, 1, 1})});
  CHECK(w.grad().to_vector() == std::vector<double>{2, 4, 6});
  f({from({1, 10, 100})});
  CHECK(w.grad().to_vector() == std::vector<double>{2, 40, 600});
  bool any_backward = false;
  for (const ir::Node& n : f.graph().nodes) {
    CHECK(n.origin.line.find("record_test.cpp:") == 0);
    any_backward = any_backward || n.origin.backward;
  }
  CHECK(any_backward);
}

TEST_CASE("a graph may be kept for a backward after the recording") {
  Tensor w = from({1, 2}, true);
  auto f = record([&](const std::vector<Tensor>&) { return std::vector<Tensor>{(w * w).sum()}; }, {});
  f.first_outputs()[0].backward();
  CHECK(w.grad().to_vector() == std::vector<double>{2, 4});
}

TEST_CASE("random draws are those of an eager run, and move the generator as far") {
  auto body = [](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{dropout(x[0], 0.5), rand({7}), x[0] + randn({1})};
  };
  Tensor x = ones({100});
  manual_seed(3);
  std::vector<Tensor> e1 = body({x}), e2 = body({x});
  GeneratorState end = default_generator().state();
  manual_seed(3);
  auto f = record(body, {x});
  std::vector<Tensor> r2 = f({x});
  CHECK(default_generator().state() == end);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(same_bits(e1[i], f.first_outputs()[i]));
    CHECK(same_bits(e2[i], r2[i]));
  }
  CHECK(f.graph().draws == 3);
}

TEST_CASE("a host cell is an input; an advance is repeated") {
  auto lr = make_intrusive<HostCell>(0.5, "lr"), step = make_intrusive<HostCell>(0.0, "step");
  auto f = record(
      [&](const std::vector<Tensor>& x) {
        step->advance(1);
        return std::vector<Tensor>{x[0] * Operand(lr) + Operand(step)};
      },
      {from({2})});
  CHECK(f.first_outputs()[0].item() == 2);
  lr->set(3);
  CHECK(f({from({2})})[0].item() == 8);
  CHECK(step->get() == 2);
  CHECK(f.graph().cells == std::vector<std::string>{"step", "lr"});
  check_round_trip(f.graph());
}

TEST_CASE("an optimizer's step over lists is one node") {
  Tensor p = from({1}), m = zeros({1}), v = zeros({1});
  auto step = make_intrusive<HostCell>(0.0, "step");
  auto f = record(
      [&](const std::vector<Tensor>& g) {
        step->advance(1);
        std::vector<Tensor> ps = {p}, gs = {g[0]}, ms = {m}, vs = {v};
        adam_step(ps, gs, ms, vs, 0.1, Scalar(step), 0.9, 0.999, 1e-8, 0.1, true);
        return std::vector<Tensor>{};
      },
      {from({0.5f})});
  CHECK(p.item() == doctest::Approx(0.89).epsilon(1e-6));
  f({from({-0.25f})});
  CHECK(p.item() == doctest::Approx(0.8544663).epsilon(1e-6));
  CHECK(f.graph().nodes.size() == 1);
  CHECK(f.graph().writes.size() == 3);
  check_round_trip(f.graph());
}

TEST_CASE("asking for a value, or failing, leaves everything as it was") {
  Tensor w = from({1, 2}, true);
  Tensor grad = from({7, 7});
  w.set_grad(grad);
  GeneratorState before = default_generator().state();
  CHECK_THROWS_WITH_AS(record(
                           [&](const std::vector<Tensor>&) {
                             w.set_grad(Tensor());
                             rand({3});
                             (w * 2).sum().backward();
                             (w * 2).sum().item();
                             return std::vector<Tensor>{};
                           },
                           {}),
                       doctest::Contains("while a recording runs"), Error);
  CHECK(w.grad().is_same(grad));
  CHECK(default_generator().state() == before);
  CHECK(!dispatch_state().recording);
  CHECK((w * 2).to_vector() == std::vector<double>{2, 4});
}

TEST_CASE("arguments of another shape are refused before anything runs") {
  Tensor w = from({1, 2});
  auto f = record(
      [&](const std::vector<Tensor>& x) {
        w.add_(x[0]);
        return std::vector<Tensor>{};
      },
      {from({1, 1})});
  CHECK_THROWS_WITH_AS(f({from({1, 1, 1})}), doctest::Contains("was recorded as float32[2]"), Error);
  CHECK_THROWS_AS(f({}), Error);
  CHECK(w.to_vector() == std::vector<double>{2, 3});
}

TEST_CASE("an argument may be a part of a larger memory, in any layout, on any run") {
  Tensor data = arange(24, {}, 1, DType::Float32).view({4, 3, 2}).clone();
  auto body = [](const std::vector<Tensor>& x) {
    Tensor y = x[0] * 2;
    y[0].add_(100);  // a strided write into a value whose layout follows the argument's
    x[0][1].mul_(10);
    return std::vector<Tensor>{y, x[0] + 0};
  };
  std::vector<double> y = {100 + 12, 100 + 14, 16, 18, 20, 22}, x = {6, 7, 80, 90, 10, 11};
  auto check = [&](const std::vector<Tensor>& outputs) {
    CHECK(outputs[0].to_vector() == y);
    CHECK(outputs[1].to_vector() == x);
  };
  auto second = [&] { return data.clone()[1]; };  // [[6, 7], [8, 9], [10, 11]], 6 elements into its memory
  Tensor first = second();
  auto f = record(body, {first});
  check(f.first_outputs());
  CHECK(first.to_vector() == x);
  Tensor apart = second().clone(), permuted = second().t().clone(true).t();
  CHECK(permuted.strides()[0] == 1);
  for (Tensor t : {second(), apart, permuted}) {
    check(f({t}));
    CHECK(t.to_vector() == x);
  }
  Tensor columns = second().t().clone(true).t();
  auto g = record(body, {columns});
  check(g.first_outputs());
  check(g({second()}));
  auto gaps = record([](const std::vector<Tensor>& v) { return std::vector<Tensor>{v[0] * 2}; },
                     {data.slice(2, 0, 1).expand({4, 3, 5})});
  CHECK(gaps({data.slice(2, 1, 2).expand({4, 3, 5})})[0].sum().item() == 2 * 5 * (1 + 23) * 6);
}

TEST_CASE("what shares memory with an argument without being a part of it is refused") {
  Tensor data = from({0, 1, 2, 3}), other = data.narrow(0, 0, 2);
  auto body = [&](const std::vector<Tensor>& x) { return std::vector<Tensor>{x[0] + other}; };
  CHECK_THROWS_WITH_AS(record(body, {data.narrow(0, 2, 2)}), doctest::Contains("shares memory with an argument"),
                       Error);
}

TEST_CASE("a recording that fails when it runs gives the gradients back") {
  Tensor w = from({1, 2}, true), grad = from({7, 7}), bad = full({1}, 9, DType::Int64);
  w.set_grad(grad);
  auto body = [&](const std::vector<Tensor>&) {
    w.set_grad(Tensor());
    w.index_select(0, bad).sum().backward();
    return std::vector<Tensor>{};
  };
  CHECK_THROWS_AS(record(body, {}), IndexError);
  CHECK(w.grad().is_same(grad));
  CHECK(w.grad().to_vector() == std::vector<double>{7, 7});
}

TEST_CASE("backward in one recording of what another recording made") {
  Tensor w = from({1, 2}, true), loss;
  record(
      [&](const std::vector<Tensor>&) {
        Tensor y = w * 1;
        for (int i = 0; i < 5; ++i) y = y * y;
        loss = y.sum();
        return std::vector<Tensor>{};
      },
      {});
  auto f = record(
      [&](const std::vector<Tensor>&) {
        loss.backward();
        return std::vector<Tensor>{};
      },
      {});
  CHECK(w.grad().to_vector() == std::vector<double>{32, 32.0 * (int64_t{1} << 31)});
  check_round_trip(f.graph());
}

TEST_CASE("a cell that is set after it was read is refused: the run would read the new number in the old one's place") {
  auto lr = make_intrusive<HostCell>(0.5, "lr");
  Tensor w = from({1});
  auto body = [&](const std::vector<Tensor>&) {
    w.mul_(Operand(lr));
    lr->set(0.25);
    return std::vector<Tensor>{};
  };
  CHECK_THROWS_WITH_AS(record(body, {}), doctest::Contains("the cell 'lr' has been set from 0.5 to 0.25"), Error);
  CHECK(w.item() == 1);
}
