#include "autograd/memory_layout.h"

#include <algorithm>

#include "core/ops/functions.h"

namespace fuselet {
namespace {

// The order of dimensions in memory, slowest first: a dense tensor permuted by it is contiguous.
Dims memory_order(const Geometry& g) {
  Dims order;
  for (size_t i = 0; i < g.sizes.size(); ++i) order.push_back(static_cast<int64_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](SymInt a, SymInt b) {
    return g.strides[static_cast<size_t>(b.word())] < g.strides[static_cast<size_t>(a.word())];
  });
  return order;
}

}  // namespace

Dims sizes_in_memory(const Geometry& tensor) {
  Dims sizes;
  for (SymInt d : memory_order(tensor)) sizes.push_back(tensor.sizes[static_cast<size_t>(d.word())]);
  return sizes;
}

// contiguous() alone does not do: a slice of a larger gradient can be contiguous anywhere in its storage.
Tensor in_memory_order(const Tensor& g, const Geometry& tensor) {
  Tensor ordered = g.permute(memory_order(tensor));
  bool at_start = ordered.is_contiguous() && ordered.impl()->offset() == 0;
  return at_start ? ordered : ordered.clone(true);
}

Tensor from_memory_order(const Tensor& g, const Geometry& tensor) {
  Dims order = memory_order(tensor), inverse(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i].word())] = static_cast<int64_t>(i);
  return g.permute(inverse);
}

}  // namespace fuselet
