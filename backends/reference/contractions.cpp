// Matrix products and convolutions, one multiplication after another. Sums are kept in the widest type, so that what a
// float64 kernel is measured against has no rounding of its own.
#include <algorithm>

#include "backends/reference/reference.h"
#include "backends/reference/window.h"

namespace fuselet::reference {
namespace {

// The sizes of two batches aligned at the end, where a size of 1 repeats.
std::vector<int64_t> joined_batch(std::vector<int64_t> a, std::vector<int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  for (size_t d = 0; d < b.size(); ++d) {
    int64_t& size = a[d + a.size() - b.size()];
    if (size == 1) size = b[d];
  }
  return a;
}

// Index of a matrix element under a batch index of the result.
Index matrix_index(const RefTensor& t, const Index& batch, int64_t row, int64_t column) {
  Index at(t.sizes.size());
  size_t lead = at.size() - 2, shift = batch.size() - lead;
  for (size_t d = 0; d < lead; ++d) at[d] = t.sizes[d] == 1 ? 0 : batch[d + shift];
  at[lead] = row;
  at[lead + 1] = column;
  return at;
}

RefTensor product(RefTensor a, RefTensor b) {
  bool row_vector = a.rank() == 1, column_vector = b.rank() == 1;
  if (row_vector) a.sizes.insert(a.sizes.begin(), 1);
  if (column_vector) b.sizes.push_back(1);
  int64_t rows = a.sizes[a.sizes.size() - 2], inner = a.sizes.back(), columns = b.sizes.back();
  std::vector<int64_t> batch = joined_batch({a.sizes.begin(), a.sizes.end() - 2}, {b.sizes.begin(), b.sizes.end() - 2});
  std::vector<int64_t> sizes = batch;
  sizes.push_back(rows);
  sizes.push_back(columns);
  RefTensor out = make(sizes, a.dtype);
  for_each_index(sizes, [&](const Index& at) {
    Index lead(at.begin(), at.end() - 2);
    int64_t row = at[lead.size()], column = at.back();
    long double sum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      sum += static_cast<long double>(a.at(matrix_index(a, lead, row, k))) * b.at(matrix_index(b, lead, k, column));
    }
    out.at(at) = static_cast<double>(sum);
  });
  if (column_vector) out.sizes.pop_back();
  if (row_vector) out.sizes.erase(out.sizes.end() - (column_vector ? 1 : 2));
  return out;
}

struct ConvolutionShape {
  Pair stride, padding, dilation;
  int64_t groups;
  int64_t row(int64_t out, int64_t kernel) const { return out * stride[0] + kernel * dilation[0] - padding[0]; }
  int64_t column(int64_t out, int64_t kernel) const { return out * stride[1] + kernel * dilation[1] - padding[1]; }
};

ConvolutionShape shape_of(const RefCall& call) {
  return {pair_of(call.ints(3)), pair_of(call.ints(4)), pair_of(call.ints(5)), call.integer(6)};
}

// Calls f(input index, weight index, output index) for every multiplication of a convolution.
template <class F>
void for_each_product(const std::vector<int64_t>& input, const std::vector<int64_t>& weight,
                      const std::vector<int64_t>& output, const ConvolutionShape& shape, F&& f) {
  for_each_index(output, [&](const Index& o) {
    const int64_t group = o[1] / (weight[0] / shape.groups);
    for_each_index({weight[1], weight[2], weight[3]}, [&](const Index& k) {
      int64_t y = shape.row(o[2], k[1]), x = shape.column(o[3], k[2]);
      if (y < 0 || y >= input[2] || x < 0 || x >= input[3]) return;
      f(Index{o[0], group * weight[1] + k[0], y, x}, Index{o[1], k[0], k[1], k[2]}, o);
    });
  });
}

}  // namespace

void matmul(RefCall& call) { call.outs = {product(call.tensor(0), call.tensor(1))}; }
void matmul_wide(RefCall& call) {
  matmul(call);
  call.outs[0].dtype = DType::Float32;
}

void addmm(RefCall& call) {
  const RefTensor& self = call.tensor(0);
  RefTensor out = product(call.tensor(1), call.tensor(2));
  for_each_index(out.sizes, [&](const Index& at) {
    Index from(self.sizes.size());
    for (size_t d = 0; d < from.size(); ++d) from[d] = self.sizes[d] == 1 ? 0 : at[d + 2 - from.size()];
    out.at(at) += self.at(from);
  });
  call.outs = {out};
}

void linear(RefCall& call) {
  const RefTensor &x = call.tensor(0), &w = call.tensor(1);
  std::vector<int64_t> sizes = x.sizes;
  sizes.back() = w.sizes[0];
  RefTensor out = make(sizes, x.dtype);
  for_each_index(sizes, [&](const Index& at) {
    long double sum = call.has(2) ? call.tensor(2).at({at.back()}) : 0.0;
    Index from = at;
    for (int64_t k = 0; k < w.sizes[1]; ++k) {
      from.back() = k;
      sum += static_cast<long double>(x.at(from)) * w.at({at.back(), k});
    }
    out.at(at) = static_cast<double>(sum);
  });
  call.outs = {out};
}

void conv2d(RefCall& call) {
  const RefTensor &x = call.tensor(0), &w = call.tensor(1);
  const ConvolutionShape shape = shape_of(call);
  auto count = [&](size_t axis) {
    return window_count(x.sizes[axis + 2], w.sizes[axis + 2], shape.stride[axis], shape.padding[axis],
                        shape.dilation[axis]);
  };
  RefTensor out = make({x.sizes[0], w.sizes[0], count(0), count(1)}, x.dtype);
  if (call.has(2)) for_each_index(out.sizes, [&](const Index& o) { out.at(o) = call.tensor(2).at({o[1]}); });
  for_each_product(x.sizes, w.sizes, out.sizes, shape,
                   [&](const Index& i, const Index& k, const Index& o) { out.at(o) += x.at(i) * w.at(k); });
  call.outs = {out};
}

void conv2d_input_grad(RefCall& call) {
  const RefTensor &grad = call.tensor(0), &w = call.tensor(1);
  const ConvolutionShape shape = shape_of(call);
  RefTensor out = make(call.ints(2), grad.dtype);
  for_each_product(out.sizes, w.sizes, grad.sizes, shape,
                   [&](const Index& i, const Index& k, const Index& o) { out.at(i) += grad.at(o) * w.at(k); });
  call.outs = {out};
}

void conv2d_weight_grad(RefCall& call) {
  const RefTensor &grad = call.tensor(0), &x = call.tensor(1);
  const ConvolutionShape shape = shape_of(call);
  RefTensor out = make(call.ints(2), grad.dtype);
  for_each_product(x.sizes, out.sizes, grad.sizes, shape,
                   [&](const Index& i, const Index& k, const Index& o) { out.at(k) += grad.at(o) * x.at(i); });
  call.outs = {out};
}

}  // namespace fuselet::reference
