#include "compiler/partition/recompute_table.h"

#include <algorithm>
#include <cmath>

namespace fuselet::partition {
namespace {

constexpr RecomputeRow kRows[] = {
    {OpKind::View, When::Always, Cost::None, 0, ""},
    {OpKind::Factory, When::Always, Cost::Written, 1, ""},
    {OpKind::Pointwise, When::Cheap, Cost::Moved, 1, ""},
    {OpKind::Join, When::Cheap, Cost::Moved, 1, ""},
    {OpKind::Gather, When::Cheap, Cost::Moved, 2, ""},
    {OpKind::Reduction, When::Shrinks, Cost::Moved, 1, "would read again far more than it saves"},
    {OpKind::Scan, When::Pressed, Cost::Moved, 2, "a scan: each element waits for the one before"},
    {OpKind::Fused, When::Pressed, Cost::Moved, 2, "several passes over its operands"},
    {OpKind::Random, When::Pressed, Cost::Moved, 4, "random: its draw is kept, not repeated"},
    {OpKind::Scatter, When::Pressed, Cost::Moved, 4, "scatters"},
    {OpKind::Contraction, When::Pressed, Cost::Volume, 1, "contraction: arithmetic outweighs the bytes"},
    {OpKind::Optimizer, When::Never, Cost::Moved, 1, "an optimizer's step belongs to one place"},
    {OpKind::Composite, When::Never, Cost::Moved, 1, "composite: stands in no graph"},
};

constexpr RecomputeException kExceptions[] = {
    {OpId::argsort, When::Pressed, "a sort reads its operand many times"},
    {OpId::empty, When::Never, "what it holds is not repeated"},
};

struct Traffic {
  int64_t read = 0, written = 0;
  int64_t largest = 0, second = 0;  // elements of the largest operands
  int64_t out_elements = 0;
};

int64_t elements_of(const TensorMeta& meta) {
  int64_t n = 1;
  for (SymInt size : meta.sizes) n *= size.hint();
  return n;
}

Traffic traffic_of(const ir::Graph& graph, const ir::Node& node) {
  Traffic t;
  for_each_operand(node, [&](ir::ValueId v) {
    t.read += bytes_of(graph.meta(v));
    int64_t n = elements_of(graph.meta(v));
    t.second = std::max(t.second, std::min(n, t.largest));
    t.largest = std::max(t.largest, n);
  });
  for (ir::ValueId v : node.outputs) {
    t.written += bytes_of(graph.meta(v));
    t.out_elements += elements_of(graph.meta(v));
  }
  return t;
}

// Of (m, k) by (k, n): the root of mk * kn * mn is mkn. Batches and windows come near enough.
int64_t volume_of(const Traffic& t) {
  double root = std::sqrt(static_cast<double>(t.largest) * static_cast<double>(t.second)) *
                std::sqrt(static_cast<double>(t.out_elements));
  return static_cast<int64_t>(2 * root) / kFlopsPerByte + t.read + t.written;
}

int64_t cost_of(const RecomputeRow& row, const Traffic& t) {
  switch (row.cost) {
    case Cost::None:
      return 0;
    case Cost::Written:
      return row.weight * t.written;
    case Cost::Moved:
      return row.weight * (t.read + t.written);
    case Cost::Volume:
      return row.weight * volume_of(t);
  }
  return 0;
}

}  // namespace

std::span<const RecomputeRow> recompute_rows() { return kRows; }
std::span<const RecomputeException> recompute_exceptions() { return kExceptions; }

int64_t bytes_of(const TensorMeta& meta) {
  int64_t last = 0;
  for (size_t d = 0; d < meta.sizes.size(); ++d) {
    int64_t size = meta.sizes[d].hint();
    if (size == 0) return 0;
    last += (size - 1) * meta.strides[d].hint();
  }
  return (last + 1) * static_cast<int64_t>(size_of(meta.dtype));
}

RecomputeRule recompute_rule(const ir::Graph& graph, const ir::Node& node) {
  OpKind kind = op_of(node.op).kind;
  const RecomputeRow* row = std::find_if(std::begin(kRows), std::end(kRows), [&](auto& r) { return r.kind == kind; });
  FUSELET_INTERNAL_CHECK(row != std::end(kRows), concat("no recompute row for the kind of ", op_of(node.op).name));
  Traffic t = traffic_of(graph, node);
  RecomputeRule rule{row->when, row->reason, cost_of(*row, t)};
  for (const RecomputeException& e : kExceptions) {
    if (e.op == node.op) rule = {e.when, e.reason, rule.cost};
  }
  if (rule.when == When::Shrinks) rule.when = t.read >= kShrinks * t.written ? When::Pressed : When::Cheap;
  return rule;
}

}  // namespace fuselet::partition
