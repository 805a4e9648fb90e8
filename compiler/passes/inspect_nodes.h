// Small questions that passes ask about nodes.
#pragma once
#include <optional>

#include "compiler/ir/graph.h"

namespace fuselet {

// The value that an argument names; -1 if it names none.
ir::ValueId value_at(const ir::Node& node, size_t arg);

// The node that makes argument `arg`; nullptr for an input, and for what is no tensor.
const ir::Node* maker_of(const ir::Graph& graph, const ir::Node& node, size_t arg);

// The number that argument `arg` is, or that fills it throughout (a `full`), where an operator on that dtype may take
// the number instead. Nothing for a cell, whose value only a run knows.
std::optional<Scalar> number_at(const ir::Graph& graph, const ir::Node& node, size_t arg);

// True iff the node reads a cell.
bool reads_cell(const ir::Node& node);

// How many places read each value; being a result counts as one.
std::vector<int> count_readers(const ir::Graph& graph);

}  // namespace fuselet
