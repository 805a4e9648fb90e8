// Softmax and layer norm with their gradients, slice by slice.
#include <cmath>

#include "backends/reference/reference.h"

namespace fuselet::reference {
namespace {

// Calls f(indices) with the indices of each slice of `sizes` along `dim`.
template <class F>
void for_each_slice(const std::vector<int64_t>& sizes, int64_t dim, F&& f) {
  std::vector<int64_t> outer = sizes;
  if (!sizes.empty()) outer[static_cast<size_t>(dim)] = sizes[static_cast<size_t>(dim)] > 0 ? 1 : 0;
  for_each_index(outer, [&](const Index& start) {
    std::vector<Index> slice;
    int64_t n = sizes.empty() ? 1 : sizes[static_cast<size_t>(dim)];
    for (int64_t i = 0; i < n; ++i) {
      slice.push_back(start);
      if (!sizes.empty()) slice.back()[static_cast<size_t>(dim)] = i;
    }
    f(slice);
  });
}

double largest(const RefTensor& x, const std::vector<Index>& slice) {
  double best = -INFINITY;
  for (const Index& at : slice) best = std::fmax(best, x.at(at));
  return best;
}

// log(sum(exp(x - largest))).
double log_total(const RefTensor& x, const std::vector<Index>& slice, double shift) {
  double total = 0;
  for (const Index& at : slice) total += std::exp(x.at(at) - shift);
  return std::log(total);
}

template <class F>
RefTensor over_slices(const RefTensor& x, int64_t dim, DType dtype, F&& fill) {
  RefTensor out = make(x.sizes, dtype);
  for_each_slice(x.sizes, wrap(dim, x.rank()), [&](const std::vector<Index>& slice) { fill(out, slice); });
  return out;
}

}  // namespace

void softmax(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  call.outs = {over_slices(x, call.integer(1), call.dtype_or(2, x.dtype), [&](RefTensor& out, const auto& slice) {
    double shift = largest(x, slice), log_sum = log_total(x, slice, shift);
    for (const Index& at : slice) out.at(at) = std::exp(x.at(at) - shift - log_sum);
  })};
}

void log_softmax(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  call.outs = {over_slices(x, call.integer(1), call.dtype_or(2, x.dtype), [&](RefTensor& out, const auto& slice) {
    double shift = largest(x, slice), log_sum = log_total(x, slice, shift);
    for (const Index& at : slice) out.at(at) = x.at(at) - shift - log_sum;
  })};
}

void softmax_grad(RefCall& call) {
  const RefTensor &grad = call.tensor(0), &y = call.tensor(1);
  call.outs = {over_slices(grad, call.integer(2), grad.dtype, [&](RefTensor& out, const auto& slice) {
    double sum = 0;
    for (const Index& at : slice) sum += grad.at(at) * y.at(at);
    for (const Index& at : slice) out.at(at) = y.at(at) * (grad.at(at) - sum);
  })};
}

void log_softmax_grad(RefCall& call) {
  const RefTensor &grad = call.tensor(0), &y = call.tensor(1);
  call.outs = {over_slices(grad, call.integer(2), grad.dtype, [&](RefTensor& out, const auto& slice) {
    double sum = 0;
    for (const Index& at : slice) sum += grad.at(at);
    for (const Index& at : slice) out.at(at) = grad.at(at) - std::exp(y.at(at)) * sum;
  })};
}

namespace {

// Leading dimensions and the row length of a layer norm: x as (rows, width).
struct Rows {
  std::vector<int64_t> statistic_sizes;  // leading sizes, then ones
  size_t rows, width;
};

Rows rows_of(const RefTensor& x, const std::vector<int64_t>& normalized) {
  Rows r;
  r.width = static_cast<size_t>(count_of(normalized));
  r.statistic_sizes.assign(x.sizes.begin(), x.sizes.end() - static_cast<std::ptrdiff_t>(normalized.size()));
  r.rows = static_cast<size_t>(count_of(r.statistic_sizes));
  r.statistic_sizes.resize(x.sizes.size(), 1);
  return r;
}

DType statistic_dtype(DType t) { return t == DType::Float64 ? t : DType::Float32; }

}  // namespace

void layer_norm_forward(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  Rows r = rows_of(x, call.ints(1));
  RefTensor out = make(x.sizes, x.dtype), mean = make(r.statistic_sizes, statistic_dtype(x.dtype)), rstd = mean;
  double n = static_cast<double>(r.width);
  for (size_t row = 0; row < r.rows; ++row) {
    const double* in = x.values.data() + row * r.width;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < r.width; ++i) sum += in[i];
    mean.values[row] = sum / n;
    for (size_t i = 0; i < r.width; ++i) squares += (in[i] - sum / n) * (in[i] - sum / n);
    rstd.values[row] = 1 / std::sqrt(squares / n + call.number(4));
    for (size_t i = 0; i < r.width; ++i) {
      double y = (in[i] - mean.values[row]) * rstd.values[row];
      if (call.has(2)) y *= call.tensor(2).values[i];
      if (call.has(3)) y += call.tensor(3).values[i];
      out.values[row * r.width + i] = y;
    }
  }
  call.outs = {out, mean, rstd};
}

void layer_norm_grad(RefCall& call) {
  const RefTensor &grad = call.tensor(0), &x = call.tensor(1), &mean = call.tensor(2), &rstd = call.tensor(3);
  Rows r = rows_of(x, call.ints(5));
  DType weight_dtype = call.has(4) ? call.tensor(4).dtype : x.dtype;
  RefTensor dx = make(x.sizes, x.dtype), dweight = make(call.ints(5), weight_dtype), dbias = dweight;
  double n = static_cast<double>(r.width);
  for (size_t row = 0; row < r.rows; ++row) {
    const double* g = grad.values.data() + row * r.width;
    const double* in = x.values.data() + row * r.width;
    auto normal = [&](size_t i) { return (in[i] - mean.values[row]) * rstd.values[row]; };
    auto scaled = [&](size_t i) { return call.has(4) ? g[i] * call.tensor(4).values[i] : g[i]; };
    double sum = 0, with_normal = 0;
    for (size_t i = 0; i < r.width; ++i) {
      sum += scaled(i);
      with_normal += scaled(i) * normal(i);
      dweight.values[i] += g[i] * normal(i);
      dbias.values[i] += g[i];
    }
    for (size_t i = 0; i < r.width; ++i) {
      dx.values[row * r.width + i] = rstd.values[row] * (scaled(i) - sum / n - normal(i) * with_normal / n);
    }
  }
  call.outs = {dx, dweight, dbias};
}

}  // namespace fuselet::reference
