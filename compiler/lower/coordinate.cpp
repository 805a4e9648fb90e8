#include "compiler/lower/coordinate.h"

#include <algorithm>
#include <numeric>

namespace fuselet::lower {
namespace {

// The largest value.
int64_t reach_of(const Coordinate& c, const Extents& extents) {
  int64_t reach = c.offset;
  for (size_t k = 0; k < extents.size(); ++k) reach += std::max<int64_t>(extents[k] - 1, 0) * c.strides[k];
  for (const kernel::IndexedDim& i : c.indices) reach += std::max<int64_t>(i.size - 1, 0) * i.stride;
  return reach;
}

// Moves what is a multiple of `stride` from `address` into the result, in units of it.
Coordinate take_multiples(Coordinate& address, int64_t stride, const Extents& extents) {
  Coordinate out = origin_of(extents.size());
  out.offset = address.offset / stride;
  address.offset %= stride;
  for (size_t k = 0; k < extents.size(); ++k) {
    if (address.strides[k] % stride != 0) continue;
    out.strides[k] = address.strides[k] / stride;
    address.strides[k] = 0;
  }
  std::erase_if(address.indices, [&](const kernel::IndexedDim& i) {
    if (i.stride % stride != 0) return false;
    out.indices.push_back({i.statement, i.stride / stride, i.size});
    return true;
  });
  return out;
}

}  // namespace

Coordinate origin_of(size_t rank) { return {0, std::vector<int64_t>(rank, 0), {}}; }

Coordinate along(size_t dim, size_t rank) {
  Coordinate c = origin_of(rank);
  c.strides[dim] = 1;
  return c;
}

void add_scaled(Coordinate& to, const Coordinate& by, int64_t factor) {
  to.offset += by.offset * factor;
  for (size_t k = 0; k < to.strides.size(); ++k) to.strides[k] += by.strides[k] * factor;
  for (const kernel::IndexedDim& i : by.indices) {
    if (factor != 0) to.indices.push_back({i.statement, i.stride * factor, i.size});
  }
}

Coordinate address_of(const TensorMeta& meta, const Coordinates& at) {
  Coordinate address = origin_of(at.empty() ? 0 : at[0].strides.size());
  address.offset = meta.offset.concrete();
  for (size_t d = 0; d < at.size(); ++d) add_scaled(address, at[d], meta.strides[d].concrete());
  return address;
}

std::optional<Coordinates> split(Coordinate address, const TensorMeta& meta, const Extents& extents) {
  const size_t rank = meta.sizes.size();
  address.strides.resize(extents.size(), 0);
  Coordinates out(rank, origin_of(extents.size()));
  std::vector<size_t> order;
  for (size_t d = 0; d < rank; ++d) {
    if (meta.sizes[d].concrete() > 1) order.push_back(d);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return meta.strides[a].concrete() > meta.strides[b].concrete(); });
  for (size_t d : order) {
    const int64_t stride = meta.strides[d].concrete();
    if (stride <= 0) return std::nullopt;
    out[d] = take_multiples(address, stride, extents);
    if (reach_of(address, extents) >= stride) return std::nullopt;
    if (reach_of(out[d], extents) >= meta.sizes[d].concrete()) return std::nullopt;
  }
  if (reach_of(address, extents) != 0) return std::nullopt;
  return out;
}

Coordinates aligned(const Coordinates& at, const TensorMeta& operand) {
  const size_t rank = operand.sizes.size(), nest = at.empty() ? 0 : at[0].strides.size();
  Coordinates out;
  for (size_t d = 0; d < rank; ++d) {
    const Coordinate& c = at[at.size() - rank + d];
    out.push_back(operand.sizes[d].concrete() == 1 ? origin_of(nest) : c);
  }
  return out;
}

}  // namespace fuselet::lower
