// Pieces of the graph's text form that printer and parser share.
#pragma once
#include <string>

#include "compiler/ir/graph.h"

namespace fuselet::ir {

// The shortest text that reads back as the same double, always recognisable as a float: "2.0", "1e-05", "inf", "nan".
std::string number_text(double v);

// "f32[2, 3]", with {strides} where the layout is not row-major and @device where it is not the default.
std::string type_text(const TensorMeta& meta);

// A node's line of the printed graph.
std::string node_text(const Graph& graph, const Node& node);

// An argument as the printed graph shows it.
std::string arg_text(const GraphArg& arg);

}  // namespace fuselet::ir
