#include "compiler/lower/nest_builder.h"

#include <algorithm>

#include "compiler/lower/assign_homes.h"
#include "compiler/schedule/arrange_nest.h"
#include "core/error.h"

namespace fuselet::lower {
namespace {

using kernel::Kind;
using kernel::Statement;

// More would make sources that compile slowly and spill registers.
constexpr size_t kMostStatements = 400;

// The dtype that a value is calculated in.
DType held(DType t) {
  if (t == DType::Float64) return t;
  return is_float(t) ? DType::Float32 : DType::Int64;
}

std::vector<int64_t> key_of(const Coordinates& at) {
  std::vector<int64_t> key;
  for (const Coordinate& c : at) {
    key.push_back(c.offset);
    key.insert(key.end(), c.strides.begin(), c.strides.end());
    for (const kernel::IndexedDim& i : c.indices) key.insert(key.end(), {-1 - i.statement, i.stride, i.size});
  }
  return key;
}

}  // namespace

std::string note_of(const ir::Node& node) {
  return node.origin.line.empty() ? op_of(node.op).name : concat(op_of(node.op).name, ", ", node.origin.line);
}

std::string asker_of(const GraphFacts& facts, const ir::Node& node) {
  const ir::Origin& origin = node.origin;
  const bool known = facts.recorded && !origin.operators.empty() && origin.operators[0] >= 0 &&
                     static_cast<size_t>(origin.operators[0]) < facts.recorded->nodes.size();
  if (!known) return note_of(node);
  std::string name = op_of(facts.recorded->nodes[static_cast<size_t>(origin.operators[0])].op).name;
  // Of a layer's two results the user's operator gives one.
  constexpr std::string_view kForward = "_forward";
  if (name.ends_with(kForward)) name.resize(name.size() - kForward.size());
  // "in embedding": an eager operator.
  return origin.line.empty() || origin.line.starts_with("in ") ? name : concat(name, ", ", origin.line);
}

NestBuilder::NestBuilder(const GraphFacts& facts, const std::vector<int32_t>& nodes,
                         const std::vector<ir::ValueId>& stored)
    : facts_(facts), nodes_(nodes), stored_(stored) {}

bool NestBuilder::is_inside(int32_t node) const { return std::binary_search(nodes_.begin(), nodes_.end(), node); }

BuiltNest NestBuilder::build() {
  std::vector<int32_t> anchors;
  for (int32_t n : nodes_) {
    const ir::Node& node = facts_.graph.nodes[static_cast<size_t>(n)];
    const LoopRule* rule = loop_rule(facts_.graph, node);
    const bool kept = std::find(stored_.begin(), stored_.end(), node.outputs[0]) != stored_.end();
    if (rule->reduces || kept) anchors.push_back(n);
  }
  FUSELET_INTERNAL_CHECK(!anchors.empty(), "a group of nodes that stores nothing");
  homes_ = assign_homes(facts_, nodes_, anchors, &extents_);
  for (ir::ValueId v : stored_) store(v);
  std::vector<uint32_t> reduced(body_.size(), 0);
  for (const auto& [n, statement] : reductions_) {
    const ir::Node& node = facts_.graph.nodes[static_cast<size_t>(n)];
    const Coordinates& domain = homes_.at(n).domain;
    const uint64_t mask = reduced_mask(facts_.graph, node);
    Coordinate axis = origin_of(rank());  // the place on the reduced axis
    int64_t stride = 1;
    for (size_t d = domain.size(); d-- > 0;) {
      if (!(mask >> d & 1)) continue;
      add_scaled(axis, domain[d], stride);
      stride *= facts_.meta(std::get<ir::ValueRef>(node.args[0]).id).sizes[d].concrete();
    }
    int64_t expected = 1;
    for (size_t k = rank(); k-- > 0;) {
      if (axis.strides[k] == 0) continue;
      if (axis.strides[k] != expected) throw Refusal{"combines elements in another order"};
      expected *= extents_[k];
      reduced[static_cast<size_t>(statement)] |= 1u << k;
    }
  }
  out_.nest.dims = extents_;
  out_.nest.body = std::move(body_);
  schedule::arrange_nest(out_.nest, reduced);
  return std::move(out_);
}

int32_t NestBuilder::add(Statement statement) {
  if (body_.size() >= kMostStatements) throw Refusal{"the kernel would have too many statements"};
  for (int32_t a : statement.args) statement.varies |= body_[static_cast<size_t>(a)].varies;
  for (const kernel::IndexedDim& i : statement.indices)
    statement.varies |= body_[static_cast<size_t>(i.statement)].varies;
  if (current_ && statement.note.empty()) statement.note = note_of(*current_);
  body_.push_back(std::move(statement));
  return static_cast<int32_t>(body_.size() - 1);
}

uint32_t NestBuilder::varies_of(const Coordinate& c) const {
  uint32_t varies = 0;
  for (size_t k = 0; k < extents_.size(); ++k) varies |= (c.strides[k] != 0 ? 1u : 0u) << k;
  return varies;
}

Coordinate NestBuilder::indexed(int32_t statement, int64_t size) const {
  Coordinate c = origin_of(rank());
  c.indices.push_back({statement, 1, size});
  return c;
}

int32_t NestBuilder::position(const Coordinate& c) {
  Statement s{Kind::Position, DType::Int64};
  s.access = {-1, c.offset, c.strides};
  s.varies = varies_of(c);
  return add(std::move(s));
}

int32_t NestBuilder::converted(int32_t statement, DType dtype) {
  if (dtype_of(statement) == dtype) return statement;
  Statement s{Kind::Convert, dtype, {statement}};
  return add(std::move(s));
}

int32_t NestBuilder::random(const ir::Node& node, const Coordinates& at, Statement s) {
  const TensorMeta& meta = facts_.meta(node.outputs[0]);
  Coordinate element = origin_of(rank());
  int64_t stride = 1;
  for (size_t d = at.size(); d-- > 0;) {
    add_scaled(element, at[d], stride);
    stride *= meta.sizes[d].concrete();
  }
  if (!element.indices.empty()) throw Refusal{"draws random numbers at computed positions"};
  const DType dtype = s.distribution == kernel::Distribution::Bernoulli ? DType::Bool : meta.dtype;
  s.dtype = dtype == DType::Bool ? dtype : held(dtype);
  s.access = {-1, element.offset, element.strides};
  s.varies = varies_of(element);
  auto known = std::find(out_.draws.begin(), out_.draws.end(), node.draw);
  s.parameter = static_cast<int32_t>(known - out_.draws.begin());
  if (known == out_.draws.end()) out_.draws.push_back(node.draw);
  return converted(add(std::move(s)), meta.dtype);
}

int32_t NestBuilder::buffer_of(ir::ValueId base) {
  auto known = std::find(out_.buffers.begin(), out_.buffers.end(), base);
  if (known == out_.buffers.end()) {
    out_.buffers.push_back(base);
    out_.written.push_back(false);
    return static_cast<int32_t>(out_.buffers.size() - 1);
  }
  return static_cast<int32_t>(known - out_.buffers.begin());
}

int32_t NestBuilder::load(ir::ValueId base, const Coordinate& address) {
  Statement s{address.indices.empty() ? Kind::Load : Kind::LoadAt, facts_.meta(base).dtype};
  s.access = {buffer_of(base), address.offset, address.strides};
  s.indices = address.indices;
  s.varies = varies_of(address);
  if (current_ && s.kind == Kind::LoadAt) s.note = asker_of(facts_, *current_);
  return add(std::move(s));
}

int32_t NestBuilder::value(ir::ValueId v, const Coordinates& at) {
  const ir::ValueId base = facts_.base[static_cast<size_t>(v)];
  const int32_t n = facts_.node_of(base);
  Coordinate address = address_of(facts_.meta(v), at);
  address.strides.resize(rank(), 0);
  const bool computes = n >= 0 && (is_inside(n) || facts_.is_inlined[static_cast<size_t>(n)]);
  if (!computes) {
    auto key = std::make_pair(base, key_of({address}));
    auto seen = seen_.find(key);
    return seen != seen_.end() ? seen->second : seen_[key] = load(base, address);
  }
  std::optional<Coordinates> inner = split(address, facts_.meta(base), extents_);
  if (!inner) throw Refusal{"is read through a view that does not follow its dimensions"};
  auto key = std::make_pair(base, key_of(*inner));
  auto seen = seen_.find(key);
  if (seen != seen_.end()) return seen->second;
  const ir::Node* reader = current_;
  const int32_t statement = compute_element(n, base, *inner);
  current_ = reader;
  return seen_[key] = statement;
}

int32_t NestBuilder::compute_element(int32_t n, ir::ValueId v, const Coordinates& at) {
  const ir::Node& node = facts_.graph.nodes[static_cast<size_t>(n)];
  current_ = &node;
  const LoopRule* rule = loop_rule(facts_.graph, node);
  if (rule->element) return rule->element(*this, node, at);
  if (rule->reduces) return reduction(n, at);
  FUSELET_INTERNAL_CHECK(node.outputs[0] == v, "a pointwise operator with several results");
  return pointwise(node, at);
}

int32_t NestBuilder::scalar(const ir::Node& node, size_t arg, DType dtype) {
  if (auto* cell = std::get_if<ir::CellRef>(&node.args[arg])) {
    const auto n = static_cast<int32_t>(&node - facts_.graph.nodes.data());
    const ScalarRead read{cell->index, facts_.advanced_before(n, cell->index)};
    auto known = std::find(out_.scalars.begin(), out_.scalars.end(), read);
    Statement s{Kind::Scalar, is_float(dtype) ? held(dtype) : DType::Float64};
    s.parameter = static_cast<int32_t>(known - out_.scalars.begin());
    if (known == out_.scalars.end()) out_.scalars.push_back(read);
    return converted(add(std::move(s)), dtype);
  }
  const Scalar& number = std::get<Scalar>(node.args[arg]);
  Statement s{Kind::Constant, is_float(dtype) ? held(dtype) : dtype == DType::Bool ? dtype : DType::Int64};
  s.number = number.to_double();
  s.integer = number.category() == Category::Float ? static_cast<int64_t>(number.to_double()) : number.to_int();
  if (dtype == DType::Bool) s.integer = number.to_double() != 0;
  return converted(add(std::move(s)), dtype);
}

int32_t NestBuilder::operand(const ir::Node& node, size_t arg, const Coordinates& at, DType compute) {
  if (auto* v = std::get_if<ir::ValueRef>(&node.args[arg])) {
    const int32_t statement = value(v->id, aligned(at, facts_.meta(v->id)));
    current_ = &node;
    const DType have = dtype_of(statement);
    return have == DType::Bool || held(have) == compute ? statement : converted(statement, compute);
  }
  return scalar(node, arg, compute);
}

bool NestBuilder::drops_rounding(const ir::Node& node) const {
  return facts_.numerics == Numerics::Fused && is_boundary_cast(node) &&
         std::find(stored_.begin(), stored_.end(), node.outputs[0]) == stored_.end();
}

namespace {

// The type that a row's formula runs in: where the operands meet, for comparisons; of the result, for the others.
DType compute_of(const GraphFacts& facts, const ir::Node& node) {
  const Op& op = op_of(node.op);
  const DType result = facts.meta(node.outputs[0]).dtype;
  DType met = result;
  bool found = false, float_number = false;
  for (size_t k = static_cast<size_t>(op.promote_from); k < node.args.size(); ++k) {
    if (auto* v = std::get_if<ir::ValueRef>(&node.args[k])) {
      const DType t = held(facts.meta(v->id).dtype);
      if (!found || (t != DType::Int64 && t != met)) met = found && met == DType::Float64 ? met : t;
      found = true;
    } else if (auto* s = std::get_if<Scalar>(&node.args[k])) {
      float_number |= s->category() == Category::Float;
    } else {
      float_number |= std::holds_alternative<ir::CellRef>(node.args[k]);
    }
  }
  if (op.promotion != Promotion::Bool) return held(result);
  return held(met) == DType::Int64 && float_number ? DType::Float32 : held(met);
}

// Rows that hand on one of their operands: which one, or -1.
int handed_on(const ir::Node& node) {
  const std::string_view formula = op_of(node.op).formula;
  return formula == "identity" ? 0 : formula == "second" ? 1 : -1;
}

}  // namespace

int32_t NestBuilder::pointwise(const ir::Node& node, const Coordinates& at) {
  const DType result = facts_.meta(node.outputs[0]).dtype;
  if (const int arg = handed_on(node); arg >= 0) {
    const size_t k = static_cast<size_t>(arg);
    if (!std::holds_alternative<ir::ValueRef>(node.args[k])) return scalar(node, k, result);
    const ir::ValueId v = std::get<ir::ValueRef>(node.args[k]).id;
    const int32_t statement = value(v, aligned(at, facts_.meta(v)));
    current_ = &node;
    return drops_rounding(node) ? statement : converted(statement, result);
  }
  const Op& op = op_of(node.op);
  const DType compute = compute_of(facts_, node);
  Statement s{Kind::Formula, result == DType::Bool ? result : compute};
  for (size_t k = 0; k < node.args.size(); ++k) s.args.push_back(operand(node, k, at, compute));
  s.op = op.id;
  s.compute = compute;
  return converted(add(std::move(s)), result);
}

// A reduction of one element: a sum begins with 0, which makes 0 of -0; others give the element.
int32_t NestBuilder::single(const ir::Node& node, int32_t arg) {
  if (loop_rule(facts_.graph, node)->combine != kernel::Combine::Sum || !is_float(dtype_of(arg))) return arg;
  Statement zero{Kind::Constant, dtype_of(arg)};
  const int32_t number = add(std::move(zero));
  Statement sum{Kind::Formula, dtype_of(arg), {number, arg}};
  sum.op = OpId::add;
  sum.compute = dtype_of(arg);
  return add(std::move(sum));
}

int32_t NestBuilder::reduction(int32_t n, const Coordinates& at) {
  const ir::Node& node = facts_.graph.nodes[static_cast<size_t>(n)];
  const Home& home = homes_.at(n);
  if (at != home.out) throw Refusal{"a reduction's result is wanted at other positions than its own"};
  if (auto known = reductions_.find(n); known != reductions_.end())
    return converted(known->second, facts_.meta(node.outputs[0]).dtype);
  const ir::ValueId from = std::get<ir::ValueRef>(node.args[0]).id;
  const DType result = facts_.meta(node.outputs[0]).dtype;
  const uint64_t mask = reduced_mask(facts_.graph, node);
  const size_t dims = home.domain.size();
  uint32_t reduced = 0;
  int64_t combined = 1;
  for (size_t d = 0; d < dims; ++d) {
    if (!(mask >> d & 1)) continue;
    reduced |= varies_of(home.domain[d]);
    combined *= facts_.meta(from).sizes[d].concrete();
  }
  current_ = &node;
  if (combined == 0) {  // a sum; the shape rules of the others refuse it
    Statement zero{Kind::Constant, held(result)};
    return converted(reductions_[n] = add(std::move(zero)), result);
  }
  const int32_t arg = value(from, home.domain);
  current_ = &node;
  if (reduced == 0 && combined == 1)
    return converted(reductions_[n] = single(node, converted(arg, held(result))), result);
  Statement s{Kind::Reduce, held(result), {converted(arg, held(result))}};
  s.combine = loop_rule(facts_.graph, node)->combine;
  s.tree = dims == 0 || (mask >> (dims - 1) & 1) ? kernel::Tree::Row : kernel::Tree::Column;
  const int32_t statement = add(std::move(s));
  body_[static_cast<size_t>(statement)].varies &= ~reduced;
  reductions_[n] = statement;
  return converted(statement, result);
}

void NestBuilder::store(ir::ValueId v) {
  const TensorMeta& meta = facts_.meta(v);
  const Coordinates& home = homes_.at(facts_.node_of(v)).out;
  const int32_t statement = converted(value(v, home), meta.dtype);
  Coordinate address = address_of(meta, home);
  address.strides.resize(rank(), 0);
  Statement s{Kind::Store, meta.dtype, {statement}};
  s.access = {buffer_of(v), address.offset, address.strides};
  s.varies = varies_of(address);
  current_ = &facts_.graph.nodes[static_cast<size_t>(facts_.node_of(v))];
  out_.written[static_cast<size_t>(s.access.buffer)] = true;
  add(std::move(s));
}

std::variant<BuiltNest, Refusal> build_nest(const GraphFacts& facts, const std::vector<int32_t>& nodes,
                                            const std::vector<ir::ValueId>& stored) {
  try {
    return NestBuilder(facts, nodes, stored).build();
  } catch (const Refusal& refusal) {
    return refusal;
  }
}

}  // namespace fuselet::lower
