// The kernel IR: what one generated function does. Device-neutral; emitters turn it into source, the interpreter runs
// it.
//
// A kernel is a list of stages that run one after the other; what a stage stores, the next one reads. A stage is a set
// of independent nests, run in one parallel region. A nest iterates over `dims`, outermost first; its body is a list of
// statements, each defined before its uses, and each has one value for every position of the dims that it varies over.
//
// Structures, with the last dim the one that is vectorised:
//   Pointwise       no Reduce; every position by itself.
//   Rows            dims (…, n): Reduce combines the n elements of a row. Statements that vary over the last dim and
//                   depend on a Reduce run in a later pass over the row.
//   SplitRows       Rows whose Reduces nothing varying over the last dim depends on: chunks of long rows run in
//                   parallel.
//   Columns         dims (…, l, b): Reduce combines l elements for each of the b columns, and what depends on one runs
//                   in a later pass over the l.
//   Tile            Pointwise over dims (r, c), for the part of them that a launch names: a TileRange stands in its
//   scratch
//                   memory. What follows a product runs so, part by part.
//   RowsAndColumns  Rows, and Reduces of tree Column, on which nothing depends but statements that vary over the last
//                   dim alone: they combine over all dims but the last, in row-major order.
//
// Values. A statement's value has a dtype; it is calculated and held as float32 for float32 and the 16-bit floats
// (where it is one of those the dtype holds), float64, int64 for integers, or a truth value for bool. Numbers round as
// eager kernels do: formulas are core/formulas.h, conversions core/casts.h and core/half.h, Reduce follows
// core/reduction_tree.h (Row: reduce_row, Column: reduce_column), random numbers core/random_values.h.
//
// Memory. A Load that the nest's Stores may reach reads the very element that they write, at equal accesses: then the
// element is read before it is written, whichever pass a statement runs in. Other overlap between buffers of a nest is
// not allowed. A Store varies over every dim of more than one position, but for those that the nest's Reduces combine.
#pragma once
#include <string>
#include <vector>

#include "core/op.h"

namespace fuselet::kernel {

// Where an element lies: element offset + sum of position * stride over the dims of the nest.
struct Access {
  int32_t buffer = -1;
  int64_t offset = 0;
  std::vector<int64_t> strides;  // one a dim
  friend bool operator==(const Access&, const Access&) = default;
};

enum class Kind : uint8_t {
  Load,      // the element of `access`
  LoadAt,    // the element of `access` + sum over `indices` of value * stride
  Constant,  // `number`, or `integer` for integers and bool
  Scalar,    // scalar parameter `parameter`, rounded to dtype (floating)
  Position,  // int64: access.offset + sum of position * access.strides; access.buffer is -1
  Random,    // element (given like Position) of random parameter `parameter`
  Formula,   // the formula of pointwise row `op` of args, each converted to `compute` first (bool: 0 or 1), calculated
             // there and converted to dtype (bool: whether it is not 0)
  Convert,   // args[0] converted to dtype, as eager cast does
  Reduce,    // args[0] combined over the reduced dims
  Store,     // args[0], of the buffer's dtype, into the element of `access`
};
enum class Combine : uint8_t { Sum, Max, Min };  // NaN wins in Max and Min
enum class Tree : uint8_t { Row, Column };
enum class Distribution : uint8_t { Uniform, Normal, Bernoulli };  // Bernoulli: bool, true iff halfword < threshold

// An index of LoadAt: the value of an int64 statement in [-size, size), negative ones counted from the end.
struct IndexedDim {
  int32_t statement;
  int64_t stride;
  int64_t size;
  friend bool operator==(const IndexedDim&, const IndexedDim&) = default;
};

struct Statement {
  Kind kind;
  DType dtype = DType::Float32;
  std::vector<int32_t> args{};  // earlier statements
  uint32_t varies = 0;          // bit d set: the value depends on dim d
  Access access{};
  std::vector<IndexedDim> indices{};
  OpId op{};
  DType compute = DType::Float32;  // Float32, Float64 or Int64
  Combine combine{};
  Tree tree{};
  Distribution distribution{};
  uint32_t threshold = 0;  // Bernoulli, of 65536
  int32_t parameter = -1;
  double number = 0;
  int64_t integer = 0;
  std::string note{};  // "gelu_erf, train.py:33": what it comes from; no part of a kernel's meaning
};

enum class Structure : uint8_t { Pointwise, Rows, SplitRows, Columns, RowsAndColumns, Tile };

// Positions [row, row_end) by [column, column_end) of a Tile.
struct TileRange {
  int64_t row, row_end, column, column_end;
};

struct Nest {
  Structure structure = Structure::Pointwise;
  std::vector<int64_t> dims;
  std::vector<Statement> body;
};

struct Stage {
  std::vector<Nest> nests;
};

struct Buffer {
  DType dtype;
  int64_t elements;  // an upper bound of what accesses reach
  bool written;
};

struct Kernel {
  std::string name;             // after its operators; a C identifier
  std::vector<Buffer> buffers;  // parameters, in order
  int32_t scalars = 0;          // parameters of type double
  int32_t randoms = 0;          // parameters: seed and draw number
  std::vector<Stage> stages;
};

// The text form, one statement a line.
std::string print(const Kernel& kernel);
// Throws InternalError naming the statement where the kernel is not well formed.
void verify(const Kernel& kernel);

}  // namespace fuselet::kernel
