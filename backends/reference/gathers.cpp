// Elements picked by index tensors, and the largest element of each pooling window.
#include <algorithm>
#include <cmath>
#include <numeric>

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

void argsort(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  RefTensor out = make(x.sizes, DType::Int64);
  size_t dim = static_cast<size_t>(wrap(call.integer(1), x.rank()));
  std::vector<int64_t> lines = x.sizes;
  if (x.rank() > 0) lines[dim] = std::min<int64_t>(lines[dim], 1);
  for_each_index(lines, [&](const Index& first) {
    auto element = [&](int64_t place) {
      Index at = first;
      if (x.rank() > 0) at[dim] = place;
      return at;
    };
    // Higher keys come later: NaN above all, turned round where larger elements come first.
    auto precedes = [&](int64_t a, int64_t b) {
      double p = x.at(element(a)), q = x.at(element(b));
      if (call.flag(2)) std::swap(p, q);
      return std::isnan(p) ? false : std::isnan(q) || p < q;
    };
    std::vector<int64_t> order(x.rank() > 0 ? static_cast<size_t>(x.sizes[dim]) : 1);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), precedes);
    for (size_t k = 0; k < order.size(); ++k) {
      out.at(element(static_cast<int64_t>(k))) = static_cast<double>(order[k]);
    }
  });
  call.outs = {out};
}

void max_pool2d_with_indices(RefCall& call) {
  const RefTensor& x = call.tensor(0);  // (N, C, H, W)
  const Pair kernel = pair_of(call.ints(1)), padding = pair_of(call.ints(3));
  const Pair stride = call.ints(2).empty() ? kernel : pair_of(call.ints(2)), dilation = pair_of(call.ints(4));
  int64_t h = x.sizes[2], w = x.sizes[3];
  std::vector<int64_t> sizes = {x.sizes[0], x.sizes[1],
                                window_count(h, kernel[0], stride[0], padding[0], dilation[0], call.flag(5)),
                                window_count(w, kernel[1], stride[1], padding[1], dilation[1], call.flag(5))};
  RefTensor largest = make(sizes, x.dtype), position = make(sizes, DType::Int64);
  for_each_index(sizes, [&](const Index& at) {
    bool found = false;
    for (int64_t i = 0; i < kernel[0]; ++i) {
      for (int64_t j = 0; j < kernel[1]; ++j) {
        int64_t y = at[2] * stride[0] + i * dilation[0] - padding[0];
        int64_t z = at[3] * stride[1] + j * dilation[1] - padding[1];
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
