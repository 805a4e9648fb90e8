// Positions as affine functions of a loop nest: offset + sum of position * stride + sum of index * stride, where an
// index is the value of a statement (a gather's). A value's element is named by one coordinate a dimension.
//
// A view needs no rule of its own: its meta says where its elements lie in its base, so the coordinates of the view
// give an address in the base, and `split` turns the address into coordinates of the base.
#pragma once
#include <optional>
#include <vector>

#include "compiler/lower/kernel.h"

namespace fuselet::lower {

struct Coordinate {
  int64_t offset = 0;
  std::vector<int64_t> strides;  // one a dim of the nest
  std::vector<kernel::IndexedDim> indices;
  friend bool operator==(const Coordinate&, const Coordinate&) = default;
};
using Coordinates = std::vector<Coordinate>;
using Extents = std::vector<int64_t>;  // sizes of the nest's dims

// What is always position 0, in a nest of `rank` dims.
Coordinate origin_of(size_t rank);
// The dim itself.
Coordinate along(size_t dim, size_t rank);
// to += by * factor.
void add_scaled(Coordinate& to, const Coordinate& by, int64_t factor);

// The element of a tensor, counted from the first element of its storage.
Coordinate address_of(const TensorMeta& meta, const Coordinates& at);
// Coordinates of the element at `address` in a tensor whose elements have distinct addresses; nothing where the address
// does not come apart along the tensor's dimensions.
std::optional<Coordinates> split(Coordinate address, const TensorMeta& meta, const Extents& extents);

// Of an operand that broadcasts against a result of these coordinates, aligned at the last dimension.
Coordinates aligned(const Coordinates& at, const TensorMeta& operand);

}  // namespace fuselet::lower
