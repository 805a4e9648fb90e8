// Reductions: each result is computed from the list of the elements that fold into it, in row-major order.
#include <cmath>

#include "backends/reference/reference.h"

namespace fuselet::reference {
namespace {

std::vector<bool> folded_dims(const std::vector<int64_t>& dims, int64_t rank) {
  std::vector<bool> folded(static_cast<size_t>(rank), dims.empty());
  for (int64_t d : dims) {
    if (rank > 0) folded[static_cast<size_t>(wrap(d, rank))] = true;
  }
  return folded;
}

template <class F>
RefTensor fold(const RefTensor& x, const std::vector<int64_t>& dims, bool keepdim, DType dtype, F&& value_of) {
  std::vector<bool> folded = folded_dims(dims, x.rank());
  std::vector<int64_t> kept_sizes, out_sizes;
  for (size_t d = 0; d < x.sizes.size(); ++d) {
    kept_sizes.push_back(folded[d] ? 1 : x.sizes[d]);
    if (!folded[d] || keepdim) out_sizes.push_back(kept_sizes.back());
  }
  // The result in the shape with all dimensions has the same row-major order as without the folded ones.
  RefTensor shaped = make(kept_sizes, dtype);
  std::vector<std::vector<double>> slices(shaped.values.size());
  for_each_index(x.sizes, [&](const Index& index) {
    Index kept = index;
    for (size_t d = 0; d < kept.size(); ++d) {
      if (folded[d]) kept[d] = 0;
    }
    slices[shaped.position(kept)].push_back(x.at(index));
  });
  for (size_t i = 0; i < slices.size(); ++i) shaped.values[i] = value_of(slices[i]);
  shaped.sizes = out_sizes;
  return shaped;
}

// Kept in the widest type, so that what a float64 kernel is measured against has no rounding of its own.
long double total(const std::vector<double>& slice) {
  long double sum = 0;
  for (double v : slice) sum += v;
  return sum;
}

double mean_of(const std::vector<double>& slice) {
  return static_cast<double>(total(slice) / static_cast<long double>(slice.size()));
}

template <class Better>
double extremum_of(const std::vector<double>& slice, Better&& better) {
  double best = slice[0];
  for (double v : slice) {
    if (std::isnan(v)) return v;
    if (better(v, best)) best = v;
  }
  return best;
}

size_t first_largest(const std::vector<double>& slice) {
  size_t best = 0;
  for (size_t i = 0; i < slice.size(); ++i) {
    if (std::isnan(slice[i])) return i;
    if (slice[i] > slice[best]) best = i;
  }
  return best;
}

double variance_of(const std::vector<double>& slice, int64_t correction) {
  double mean = mean_of(slice);
  long double squares = 0;
  for (double v : slice) squares += (static_cast<long double>(v) - mean) * (static_cast<long double>(v) - mean);
  double divisor = std::fmax(static_cast<double>(slice.size()) - static_cast<double>(correction), 0.0);
  return static_cast<double>(squares / divisor);
}

}  // namespace

void sum(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  DType dtype = call.dtype_or(3, is_float(x.dtype) ? x.dtype : DType::Int64);
  call.outs = {
      fold(x, call.ints(1), call.flag(2), dtype, [](const auto& slice) { return static_cast<double>(total(slice)); })};
}

void mean(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  call.outs = {fold(x, call.ints(1), call.flag(2), call.dtype_or(3, x.dtype), mean_of)};
}

void amax(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  call.outs = {fold(x, call.ints(1), call.flag(2), x.dtype, [](const auto& slice) {
    return extremum_of(slice, [](double v, double best) { return v > best; });
  })};
}

void amin(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  call.outs = {fold(x, call.ints(1), call.flag(2), x.dtype, [](const auto& slice) {
    return extremum_of(slice, [](double v, double best) { return v < best; });
  })};
}

void argmax(RefCall& call) {
  std::vector<int64_t> dims;
  if (call.has(1)) dims.push_back(call.integer(1));
  call.outs = {fold(call.tensor(0), dims, call.flag(2), DType::Int64,
                    [](const auto& slice) { return static_cast<double>(first_largest(slice)); })};
}

void var(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  int64_t correction = call.integer(2);
  call.outs = {
      fold(x, call.ints(1), call.flag(3), x.dtype, [&](const auto& slice) { return variance_of(slice, correction); })};
}

}  // namespace fuselet::reference
