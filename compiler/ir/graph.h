// The graph: what a recording gives and what every compiler stage takes.
//
// Meaning. A graph is a pure function of its inputs, its cells and a base draw number. Nodes run in order; each is one
// operator of the table in its functional form and makes new values. Nothing is written in place: a write of the user's
// program became a new value, and what must reach the outside is listed at the end (writes, grads). A value is named by
// index, defined once, before its uses. Effects are the exception to purity: at its place among the nodes, an advance
// adds to a host cell.
//
// Inputs: arguments of the recorded function, in order, and lifted tensors that the function met (parameters, state).
// A joint graph has tangents besides: the gradients that flow into its forward outputs.
// Scalars: a constant, or a reference to a cell that is read when its node runs. Random nodes carry the number of their
// draw counted from the start of the graph.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "core/op.h"

namespace fuselet::ir {

using ValueId = int32_t;

struct ValueRef {
  ValueId id = -1;
  friend bool operator==(ValueRef, ValueRef) = default;
};
struct CellRef {
  int32_t index = -1;
  friend bool operator==(CellRef, CellRef) = default;
};

// One argument of a node, in the order of the operator's row.
using GraphArg = std::variant<std::monostate, ValueRef, std::vector<ValueRef>, Scalar, CellRef, SymInt, Dims, double,
                              bool, std::string, DType, Device>;

// Where a node comes from: the operators of the recording (numbered in their order) and the user's line; `backward` if
// it is part of their backward.
struct Origin {
  std::vector<int32_t> operators;
  std::string line;
  bool backward = false;
  friend bool operator==(const Origin&, const Origin&) = default;
};

// What a node is that does the work of both.
void unite(Origin& into, const Origin& other);

struct Value {
  TensorMeta meta;
  int32_t node = -1;  // -1: an input
  int32_t output = 0;
};

struct Node {
  OpId op;
  std::vector<GraphArg> args;
  std::vector<ValueId> outputs;
  Origin origin;
  int32_t draw = -1;
  // A cast between float32 and a 16-bit float that the compiler put where eager mode loads or stores 16 bits. Fused
  // numerics may drop a pair of them inside one kernel; a cast of the user's program is never one.
  bool boundary = false;
};

enum class InputKind : uint8_t { Argument, Lifted, Tangent };
const char* name_of(InputKind kind);
struct Input {
  ValueId value;
  InputKind kind;
  std::string name;
};

struct Advance {
  int32_t before_node;  // runs before the node of this index (or at the end)
  CellRef cell;
  double by;
};
// Input `input` takes the value when the graph has run.
struct Write {
  int32_t input;
  ValueId value;
};

struct Graph {
  std::string name = "graph";
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Input> inputs;
  std::vector<std::string> cells;
  std::vector<Advance> advances;
  std::vector<ValueId> outputs;
  std::vector<Write> writes;  // into the memory of an input
  std::vector<Write> grads;   // becomes the `.grad` of an input
  int32_t draws = 0;
  // This is a part of another graph and keeps its numbers: some of those below `draws`, in any order.
  bool draws_of_whole = false;

  ValueId add_input(InputKind kind, std::string input_name, TensorMeta meta);
  // Appends a node; its outputs get the given metas.
  const Node& add_node(OpId op, std::vector<GraphArg> args, std::vector<TensorMeta> metas, Origin origin,
                       int32_t draw = -1);
  const TensorMeta& meta(ValueId v) const { return values[static_cast<size_t>(v)].meta; }
};

// Where the graph runs: the device of its values, among which numbers of the host (0-d inputs) may be.
Device device_of(const Graph& graph);

// Renumbers the values so that inputs come first, then outputs of nodes in order: the form that prints. Returns the new
// id of each old one.
std::vector<ValueId> number_in_order(Graph& graph);

// Calls f(ValueId) for each value that the node reads.
template <class F>
void for_each_operand(const Node& node, F&& f) {
  for (const GraphArg& arg : node.args) {
    if (auto* v = std::get_if<ValueRef>(&arg)) f(v->id);
    if (auto* list = std::get_if<std::vector<ValueRef>>(&arg)) {
      for (ValueRef v : *list) f(v.id);
    }
  }
}

// The text form. `print` and `parse` are inverse: parse(print(g)) prints the same text.
std::string print(const Graph& graph);
// Throws Error with the line number and what was expected.
Graph parse(const std::string& text);

// Throws InternalError naming the node where the graph is not well formed: an argument of a wrong kind, a use before
// the definition, a meta that the operator's shape rule does not give, a write of another shape or dtype.
void verify(const Graph& graph);

}  // namespace fuselet::ir
