// Symbolic sizes: arithmetic, guards, and shape rules that run on symbols.
#include <doctest/doctest.h>

#include "compiler/ir/node_call.h"
#include "core/dispatch_state.h"
#include "core/op.h"
#include "core/shape.h"
#include "core/shape_env.h"

using namespace fuselet;

namespace {

// A shape environment for the length of a test.
struct EnvScope {
  ShapeEnv env;
  StateGuard<ShapeEnv*> guard{&DispatchState::shape_env, &env};
};

Tensor symbolic_tensor(Dims sizes) {
  TensorMeta m;
  m.sizes = sizes;
  m.strides = contiguous_strides(sizes);
  return ir::stand_in(m);
}

TensorMeta infer(const char* name, std::vector<Arg> args) {
  const Op* op = find_op(name);
  TensorMeta meta;
  Call call{op, args.data(), static_cast<int>(args.size()), nullptr, 1, false, nullptr};
  op->shape(call, &meta);
  return meta;
}

}  // namespace

TEST_CASE("a concrete size is the number itself") {
  SymInt a = 7, b = -3;
  CHECK((a + b).word() == 4);
  CHECK((a * b).word() == -21);
  CHECK((b / SymInt(2)).word() == -2);  // rounds toward minus infinity
  CHECK((b % SymInt(2)).word() == 1);
  CHECK(!a.is_symbolic());
}

TEST_CASE("expressions fold and share") {
  EnvScope scope;
  SymInt n = scope.env.new_symbol("n", 5);
  CHECK((n + 0).word() == n.word());
  CHECK((n * 1).word() == n.word());
  CHECK((n - n).word() == 0);
  CHECK((n * 0).word() == 0);
  CHECK((n + 3).word() == (n + 3).word());
  CHECK((n * 2 + 1).hint() == 11);
  CHECK(to_string(n * 2 + 1) == "(1 + (2 * n))");
  CHECK(scope.env.guards().empty());
}

TEST_CASE("a comparison that ranges decide adds no guard, any other one does") {
  EnvScope scope;
  SymInt n = scope.env.new_symbol("n", 5, {2, 100});
  CHECK(n >= 0);
  CHECK(n != 1);
  CHECK(n + 1 > 2);
  CHECK(scope.env.guards().empty());
  CHECK(n == 5);
  REQUIRE(scope.env.guards().size() == 1);
  CHECK(scope.env.print(scope.env.guards()[0]) == "n == 5");
  CHECK(scope.env.holds({5}));
  CHECK_FALSE(scope.env.holds({6}));
}

TEST_CASE("broadcasting symbols lists what it took for granted") {
  EnvScope scope;
  SymInt n = scope.env.new_symbol("n", 4, {2, 1000}), m = scope.env.new_symbol("m", 4, {2, 1000});
  Tensor a = symbolic_tensor({n, 3}), b = symbolic_tensor({3}), c = symbolic_tensor({m, 3});
  TensorMeta one = infer("add", {Arg(a), Arg(b)});
  CHECK(one.sizes[0].word() == n.word());
  CHECK(scope.env.guards().empty());
  infer("add", {Arg(a), Arg(c)});
  REQUIRE(scope.env.guards().size() == 1);
  CHECK(scope.env.print(scope.env.guards()[0]) == "n == m");
}

TEST_CASE("shape rules give expressions") {
  EnvScope scope;
  SymInt n = scope.env.new_symbol("n", 6, {2, 1000});
  Tensor x = symbolic_tensor({n, 4});
  SUBCASE("view with -1") {
    Dims to = {-1};
    TensorMeta m = infer("view", {Arg(x), Arg(DimsView(to))});
    CHECK(m.sizes[0].hint() == 24);
    CHECK(scope.env.evaluate(m.sizes[0], {10}) == 40);
  }
  SUBCASE("cat adds") {
    Tensor y = symbolic_tensor({n, 4});
    std::vector<Tensor> both = {x, y};
    TensorMeta m = infer("cat", {Arg(TensorList(both)), Arg(int64_t{0})});
    CHECK(scope.env.evaluate(m.sizes[0], {7}) == 14);
  }
  SUBCASE("matmul and sum") {
    Tensor w = symbolic_tensor({4, 5});
    CHECK(infer("matmul", {Arg(x), Arg(w)}).sizes[0].word() == n.word());
    Dims dim = {1};
    CHECK(infer("sum", {Arg(x), Arg(DimsView(dim)), Arg(false), Arg()}).sizes[0].word() == n.word());
    CHECK(scope.env.guards().empty());
  }
  SUBCASE("slice with step rounds up") {
    TensorMeta m = infer("slice", {Arg(x), Arg(int64_t{0}), Arg(), Arg(), Arg(int64_t{2})});
    CHECK(scope.env.evaluate(m.sizes[0], {7}) == 4);
    CHECK(scope.env.evaluate(m.sizes[0], {8}) == 4);
  }
}
