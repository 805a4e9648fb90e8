#include "compiler/passes/simplify_algebra.h"

#include <cmath>

#include "compiler/passes/inspect_nodes.h"
#include "compiler/trace/edited_call.h"
#include "compiler/trace/rerecord.h"

namespace fuselet {
namespace {

// One node under inspection.
struct Site {
  const trace::Rerecording& recording;
  const ir::Node& node;
  Call& call;

  std::optional<Scalar> number(int i) const { return number_at(recording.from(), node, static_cast<size_t>(i)); }
  bool is_number(int i, double value) const {
    std::optional<Scalar> s = number(i);
    return s && s->to_double() == value;
  }
  // +0.0 or an integer 0, which subtracting leaves alone; -0.0 or an integer 0, which adding does.
  bool is_zero(int i, bool negative) const {
    std::optional<Scalar> s = number(i);
    if (!s || s->to_double() != 0) return false;
    return dtype() == DType::Int64 || (s->category() == Category::Float && std::signbit(s->to_double()) == negative) ||
           (s->category() != Category::Float && !negative);
  }
  // What argument i of the node stands negated for, if it is a negation.
  Tensor negated(int i) const {
    const ir::Node* maker = maker_of(recording.from(), node, static_cast<size_t>(i));
    return maker && maker->op == OpId::neg ? recording.now(value_at(*maker, 0)) : Tensor();
  }
  Tensor operand_of_operand(std::initializer_list<OpId> made_by) const {
    const ir::Node* maker = maker_of(recording.from(), node, 0);
    for (OpId op : made_by) {
      if (maker && maker->op == op) return recording.now(value_at(*maker, 0));
    }
    return {};
  }
  DType dtype() const { return recording.from().meta(node.outputs[0]).dtype; }
  // Argument i, if it is a tensor that can stand for the result.
  Tensor as_result(int i) const {
    const TensorMeta& meta = recording.from().meta(node.outputs[0]);
    bool fits =
        call.is_tensor(i) && call.tensor(i).dtype() == meta.dtype && same_sizes(call.tensor(i).sizes(), meta.sizes);
    return fits ? call.tensor(i) : Tensor();
  }
};

// Each rule gives what the node is, or nothing.

Tensor simplify_mul(const Site& s) {
  if (s.is_number(1, 1)) return s.as_result(0);
  return s.is_number(0, 1) ? s.as_result(1) : Tensor();
}

// x / c is x * (1 / c) where 1 / c is exact: for powers of 2, as long as neither is subnormal.
Tensor simplify_div(const Site& s) {
  if (s.is_number(1, 1)) return s.as_result(0);
  std::optional<Scalar> divisor = s.number(1);
  if (!divisor || !s.call.is_tensor(0)) return {};
  double c = divisor->to_double();
  int exponent = 0, most = s.dtype() == DType::Float32 ? 126 : 1022;
  if (std::abs(std::frexp(c, &exponent)) != 0.5 || std::abs(exponent - 1) > most) return {};
  return mul(s.call.tensor(0), 1 / c);
}

Tensor simplify_add(const Site& s) {
  if (s.is_zero(1, true)) return s.as_result(0);
  if (s.is_zero(0, true)) return s.as_result(1);
  if (Tensor b = s.negated(1); b.defined() && s.call.is_tensor(0)) return sub(s.call.tensor(0), b);
  if (Tensor a = s.negated(0); a.defined() && s.call.is_tensor(1)) return sub(s.call.tensor(1), a);
  return {};
}

Tensor simplify_sub(const Site& s) {
  if (s.is_zero(1, false)) return s.as_result(0);
  if (Tensor b = s.negated(1); b.defined() && s.call.is_tensor(0)) return add(s.call.tensor(0), b);
  return {};
}

// In float32, pow rounds the double power once, and the double square is exact.
Tensor simplify_pow(const Site& s) {
  if (s.is_number(1, 1)) return s.as_result(0);
  const bool squares = s.is_number(1, 2) && s.dtype() == DType::Float32;
  const Tensor x = squares ? s.as_result(0) : Tensor();
  return x.defined() ? mul(x, x) : Tensor();
}

Tensor simplify_neg(const Site& s) { return s.operand_of_operand({OpId::neg}); }

Tensor simplify_abs(const Site& s) {
  Tensor x = s.operand_of_operand({OpId::neg, OpId::abs});
  return x.defined() ? x.abs() : Tensor();
}

Tensor simplify_where(const Site& s) {
  if (s.node.args[1] == s.node.args[2]) return s.as_result(1);
  std::optional<Scalar> condition = s.number(0);
  return condition ? s.as_result(condition->to_int() ? 1 : 2) : Tensor();
}

Tensor simplify_extremum(const Site& s) { return s.node.args[0] == s.node.args[1] ? s.as_result(0) : Tensor(); }

constexpr struct {
  OpId op;
  Tensor (*simplify)(const Site&);
} kRules[] = {{OpId::mul, simplify_mul},     {OpId::div, simplify_div},          {OpId::add, simplify_add},
              {OpId::sub, simplify_sub},     {OpId::neg, simplify_neg},          {OpId::abs, simplify_abs},
              {OpId::where, simplify_where}, {OpId::maximum, simplify_extremum}, {OpId::minimum, simplify_extremum},
              {OpId::pow, simplify_pow}};

}  // namespace

bool simplify_algebra(ir::Graph& graph) {
  bool changed = false;
  graph = trace::rerecord(
      graph,
      [](trace::Rerecording& recording, const ir::Node& node, Call& call) {
        for (const auto& rule : kRules) {
          if (rule.op != node.op) continue;
          Tensor simpler = rule.simplify({recording, node, call});
          if (!simpler.defined()) return false;
          call.outs[0] = simpler;
          return true;
        }
        return false;
      },
      &changed);
  return changed;
}

}  // namespace fuselet
