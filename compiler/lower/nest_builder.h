// Lowers a set of nodes to one loop nest, or says why they do not fit into one. That is the fuser's test of legality,
// too: what fuses is what lowers.
//
// The nest's dims are those of the node that iterates over most. Every other node that is stored, or that reduces, gets
// a home: coordinates for its own dimensions (see assign_homes.h). All else is evaluated where it is read: from a
// stored value by a load, from a node of the set by its rule, at the coordinates that the reader asks for. So views
// between nodes, broadcasting, and a value that two readers want at different places need no case of their own.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "compiler/compile_graph.h"
#include "compiler/lower/coordinate.h"
#include "compiler/lower/loop_rules.h"

namespace fuselet::lower {

// Why nodes cannot share a nest.
struct Refusal {
  std::string reason;
};

// A scalar parameter: a cell's value when the run begins, plus what has been added to it before the reader.
struct ScalarRead {
  int32_t cell;
  double plus;
  friend bool operator==(const ScalarRead&, const ScalarRead&) = default;
};

struct BuiltNest {
  kernel::Nest nest;
  std::vector<ir::ValueId> buffers;  // by the number that accesses give: base values
  std::vector<bool> written;
  std::vector<ScalarRead> scalars;
  std::vector<int32_t> draws;  // of the graph, by random parameter
};

// What is known of a graph beside its nodes, worked out once.
struct GraphFacts {
  // `recorded`: the graph that origins count operators in, if it is there; it must outlive the facts.
  explicit GraphFacts(const ir::Graph& graph, Numerics numerics, const ir::Graph* recorded = nullptr);

  const ir::Graph& graph;
  Numerics numerics;
  const ir::Graph* recorded;
  std::vector<ir::ValueId> base;  // of each value: the one whose memory it is a view of
  std::vector<bool> escapes;      // of each base: an output, a write or a gradient of the graph is in it
  // Of each node: no loop computes it by itself, so it runs as a call of its backend's kernel.
  std::vector<bool> is_call;
  // Of each node: every loop that reads it computes it anew, since it reads no memory (numbers, positions) or widens a
  // narrower value, which is what is stored then.
  std::vector<bool> is_inlined;
  std::vector<double> advanced;  // per node and cell: what advances before the node added (row-major)

  const TensorMeta& meta(ir::ValueId v) const { return graph.meta(v); }
  // The bases that a loop computing the node reads, inlined nodes seen through; those of its operands, for a call.
  std::vector<ir::ValueId> read_by(int32_t node) const;
  int32_t node_of(ir::ValueId v) const { return graph.values[static_cast<size_t>(v)].node; }
  double advanced_before(int32_t node, int32_t cell) const {
    return advanced[static_cast<size_t>(node) * graph.cells.size() + static_cast<size_t>(cell)];
  }
};

// `stored`: of the values that the nodes make, those that must be in memory afterwards.
std::variant<BuiltNest, Refusal> build_nest(const GraphFacts& facts, const std::vector<int32_t>& nodes,
                                            const std::vector<ir::ValueId>& stored);

// Where a node's own dimensions lie in the nest: of what it iterates over, and of its result.
struct Home {
  Coordinates domain, out;
};

class NestBuilder {
 public:
  NestBuilder(const GraphFacts& facts, const std::vector<int32_t>& nodes, const std::vector<ir::ValueId>& stored);
  BuiltNest build();  // throws Refusal

  // For loop rules: the element of `v` at coordinates of its dimensions.
  int32_t value(ir::ValueId v, const Coordinates& at);
  // The element of operand `arg` of a broadcasting node at the result's coordinates; numbers become constants or scalar
  // parameters of dtype `compute`.
  int32_t operand(const ir::Node& node, size_t arg, const Coordinates& at, DType compute);
  int32_t scalar(const ir::Node& node, size_t arg, DType dtype);
  int32_t add(kernel::Statement statement);
  int32_t position(const Coordinate& c);
  int32_t converted(int32_t statement, DType dtype);
  int32_t random(const ir::Node& node, const Coordinates& at, kernel::Statement statement);
  DType dtype_of(int32_t statement) const { return body_[static_cast<size_t>(statement)].dtype; }
  // An index as a coordinate of a dimension of `size`.
  Coordinate indexed(int32_t statement, int64_t size) const;
  const GraphFacts& facts() const { return facts_; }
  size_t rank() const { return extents_.size(); }

 private:
  int32_t compute_element(int32_t node, ir::ValueId v, const Coordinates& at);
  int32_t pointwise(const ir::Node& node, const Coordinates& at);
  int32_t single(const ir::Node& node, int32_t arg);
  int32_t reduction(int32_t node, const Coordinates& at);
  int32_t load(ir::ValueId base, const Coordinate& address);
  int32_t buffer_of(ir::ValueId base);
  void store(ir::ValueId v);
  uint32_t varies_of(const Coordinate& c) const;
  bool is_inside(int32_t node) const;
  bool drops_rounding(const ir::Node& node) const;

  const GraphFacts& facts_;
  const std::vector<int32_t>& nodes_;
  const std::vector<ir::ValueId>& stored_;
  Extents extents_;
  std::unordered_map<int32_t, Home> homes_;
  std::vector<kernel::Statement> body_;
  std::map<std::pair<ir::ValueId, std::vector<int64_t>>, int32_t> seen_;  // statements by value and coordinates
  std::unordered_map<int32_t, int32_t> reductions_;                       // by node
  BuiltNest out_;
  const ir::Node* current_ = nullptr;  // the node whose statements are being made
};

// True iff the cast is a decomposition's rounding, which fused numerics leave out inside a kernel.
bool is_boundary_cast(const ir::Node& node);
// "gelu_erf, train.py:33"
std::string note_of(const ir::Node& node);
// The operator that the user called for the node's sake, for errors: "embedding, train.py:12".
std::string asker_of(const GraphFacts& facts, const ir::Node& node);

}  // namespace fuselet::lower
