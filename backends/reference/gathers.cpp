// Elements picked by index tensors, and the largest element of each pooling window.
#include <cmath>

#include "backends/reference/reference.h"
#include "backends/reference/window.h"

namespace fuselet::reference {
namespace {

int64_t entry(double index, int64_t size) { return wrap(static_cast<int64_t>(index), size); }

}  // namespace

void gather(RefCall& call) {
  const RefTensor &x = call.tensor(0), &index = call.tensor(2);
  RefTensor out = make(index.sizes, x.dtype);
  int64_t dim = wrap(call.integer(1), x.rank());
  for_each_index(out.sizes, [&](const Index& at) {
    Index from = at;
    if (x.rank() > 0) from[static_cast<size_t>(dim)] = entry(index.at(at), x.sizes[static_cast<size_t>(dim)]);
    out.at(at) = x.at(from);
  });
  call.outs = {out};
}

void index_select(RefCall& call) {
  const RefTensor &x = call.tensor(0), &index = call.tensor(2);
  if (x.rank() == 0) {
    call.outs = {make({}, x.dtype, x.values[0])};
    return;
  }
  size_t dim = static_cast<size_t>(wrap(call.integer(1), x.rank()));
  std::vector<int64_t> sizes = x.sizes;
  sizes[dim] = index.count();
  RefTensor out = make(sizes, x.dtype);
  for_each_index(sizes, [&](const Index& at) {
    Index from = at;
    from[dim] = entry(index.values[static_cast<size_t>(at[dim])], x.sizes[dim]);
    out.at(at) = x.at(from);
  });
  call.outs = {out};
}

void embedding(RefCall& call) {
  const RefTensor &weight = call.tensor(0), &indices = call.tensor(1);
  std::vector<int64_t> sizes = indices.sizes;
  sizes.push_back(weight.sizes[1]);
  RefTensor out = make(sizes, weight.dtype);
  for_each_index(sizes, [&](const Index& at) {
    Index which(at.begin(), at.end() - 1);
    out.at(at) = weight.at({entry(indices.at(which), weight.sizes[0]), at.back()});
  });
  call.outs = {out};
}

void max_pool2d_with_indices(RefCall& call) {
  const RefTensor& x = call.tensor(0);  // (N, C, H, W)
  const Pair kernel = pair_of(call.ints(1)), padding = pair_of(call.ints(3));
  const Pair stride = call.ints(2).empty() ? kernel : pair_of(call.ints(2));
  int64_t h = x.sizes[2], w = x.sizes[3];
  std::vector<int64_t> sizes = {x.sizes[0], x.sizes[1], window_count(h, kernel[0], stride[0], padding[0]),
                                window_count(w, kernel[1], stride[1], padding[1])};
  RefTensor largest = make(sizes, x.dtype), position = make(sizes, DType::Int64);
  for_each_index(sizes, [&](const Index& at) {
    bool found = false;
    for (int64_t i = 0; i < kernel[0]; ++i) {
      for (int64_t j = 0; j < kernel[1]; ++j) {
        int64_t y = at[2] * stride[0] + i - padding[0], z = at[3] * stride[1] + j - padding[1];
        if (y < 0 || y >= h || z < 0 || z >= w) continue;
        double value = x.at({at[0], at[1], y, z}), best = largest.at(at);
        if (!found || value > best || (std::isnan(value) && !std::isnan(best))) {
          largest.at(at) = value;
          position.at(at) = static_cast<double>(y * w + z);
          found = true;
        }
      }
    }
  });
  call.outs = {largest, position};
}

}  // namespace fuselet::reference
