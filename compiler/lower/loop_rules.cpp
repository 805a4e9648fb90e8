#include "compiler/lower/loop_rules.h"

#include "compiler/lower/nest_builder.h"
#include "core/ops/reduced_dims.h"
#include "core/random_values.h"

namespace fuselet::lower {
namespace {

using kernel::Kind;
using kernel::Statement;

ir::ValueId operand_of(const ir::Node& node, size_t arg) { return std::get<ir::ValueRef>(node.args[arg]).id; }

int64_t wrapped_dim(const GraphFacts& facts, const ir::Node& node, size_t self, size_t dim_arg) {
  const auto rank = static_cast<int64_t>(facts.meta(operand_of(node, self)).sizes.size());
  return wrap_dim(std::get<SymInt>(node.args[dim_arg]).concrete(), rank, op_of(node.op).name);
}

int32_t full(NestBuilder& b, const ir::Node& node, const Coordinates&) {
  return b.scalar(node, 1, b.facts().meta(node.outputs[0]).dtype);
}

int32_t arange(NestBuilder& b, const ir::Node& node, const Coordinates& at) {
  const auto number = [&](size_t arg, int64_t otherwise) {
    const auto* s = std::get_if<Scalar>(&node.args[arg]);
    if (!s) return otherwise;
    if (s->category() == Category::Float) throw Refusal{"counts in floating point"};
    return s->to_int();
  };
  const bool counts_from_zero = std::holds_alternative<std::monostate>(node.args[1]);
  Coordinate c = origin_of(b.rank());
  c.offset = counts_from_zero ? 0 : number(0, 0);
  if (counts_from_zero) number(0, 0);
  if (!at[0].indices.empty()) throw Refusal{"counts at computed positions"};
  add_scaled(c, at[0], number(2, 1));
  return b.converted(b.position(c), b.facts().meta(node.outputs[0]).dtype);
}

int32_t rand(NestBuilder& b, const ir::Node& node, const Coordinates& at) {
  Statement s{Kind::Random};
  s.distribution = kernel::Distribution::Uniform;
  return b.random(node, at, s);
}
int32_t randn(NestBuilder& b, const ir::Node& node, const Coordinates& at) {
  Statement s{Kind::Random};
  s.distribution = kernel::Distribution::Normal;
  return b.random(node, at, s);
}

int32_t bernoulli(NestBuilder& b, const ir::Node& node, const Coordinates& at) {
  Statement s{Kind::Random};
  s.distribution = kernel::Distribution::Bernoulli;
  s.threshold = philox::keep_threshold(1 - std::get<double>(node.args[1]));
  return b.random(node, at, s);
}

// out[…, k, …] = self[…, index[k], …]
int32_t index_select(NestBuilder& b, const ir::Node& node, const Coordinates& at) {
  const auto dim = static_cast<size_t>(wrapped_dim(b.facts(), node, 0, 1));
  Coordinates from = at;
  const int32_t index = b.converted(b.value(operand_of(node, 2), {at[dim]}), DType::Int64);
  from[dim] = b.indexed(index, b.facts().meta(operand_of(node, 0)).sizes[dim].concrete());
  return b.value(operand_of(node, 0), from);
}

// out[i][j]… = self[…index[i][j]…]
int32_t gather(NestBuilder& b, const ir::Node& node, const Coordinates& at) {
  if (at.empty()) return b.value(operand_of(node, 0), at);
  const auto dim = static_cast<size_t>(wrapped_dim(b.facts(), node, 0, 1));
  Coordinates from = at;
  const int32_t index = b.converted(b.value(operand_of(node, 2), at), DType::Int64);
  from[dim] = b.indexed(index, b.facts().meta(operand_of(node, 0)).sizes[dim].concrete());
  return b.value(operand_of(node, 0), from);
}

// out[…, j] = weight[indices[…]][j]
int32_t embedding(NestBuilder& b, const ir::Node& node, const Coordinates& at) {
  Coordinates of_indices(at.begin(), at.end() - 1);
  const int32_t index = b.converted(b.value(operand_of(node, 1), of_indices), DType::Int64);
  const TensorMeta& weight = b.facts().meta(operand_of(node, 0));
  return b.value(operand_of(node, 0), {b.indexed(index, weight.sizes[0].concrete()), at.back()});
}

struct Entry {
  OpId op;
  LoopRule rule;
};

const Entry kRules[] = {
    {OpId::full, {full}},
    {OpId::arange, {arange}},
    {OpId::rand, {rand}},
    {OpId::randn, {randn}},
    {OpId::bernoulli, {bernoulli}},
    {OpId::index_select, {index_select}},
    {OpId::gather, {gather}},
    {OpId::embedding, {embedding}},
    {OpId::sum, {nullptr, true, kernel::Combine::Sum}},
    {OpId::amax, {nullptr, true, kernel::Combine::Max}},
    {OpId::amin, {nullptr, true, kernel::Combine::Min}},
};

constexpr LoopRule kPointwise{};

std::vector<int64_t> words(const Dims& dims) {
  std::vector<int64_t> out;
  for (SymInt d : dims) out.push_back(d.concrete());
  return out;
}

}  // namespace

const LoopRule* loop_rule(const ir::Graph&, const ir::Node& node) {
  if (op_of(node.op).kind == OpKind::Pointwise) return &kPointwise;
  for (const Entry& e : kRules) {
    if (e.op == node.op) return &e.rule;
  }
  return nullptr;
}

uint64_t reduced_mask(const ir::Graph& graph, const ir::Node& node) {
  const auto rank = static_cast<int64_t>(graph.meta(operand_of(node, 0)).sizes.size());
  return reduced_dims(std::get<Dims>(node.args[1]), rank, op_of(node.op).name);
}

std::vector<int64_t> domain_of(const ir::Graph& graph, const ir::Node& node) {
  const LoopRule* rule = loop_rule(graph, node);
  return words(graph.meta(rule && rule->reduces ? operand_of(node, 0) : node.outputs[0]).sizes);
}

}  // namespace fuselet::lower
