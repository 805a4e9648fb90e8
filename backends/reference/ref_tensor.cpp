#include "backends/reference/ref_tensor.h"

#include <cmath>

#include "core/element.h"

namespace fuselet::reference {
namespace {

struct Range {
  double low, beyond;  // [low, beyond), both exact in double
};

Range range_of(DType t) {
  switch (t) {
    case DType::Int64:
      return {-0x1p63, 0x1p63};
    case DType::Int32:
      return {-0x1p31, 0x1p31};
    case DType::Int8:
      return {-128, 128};
    default:
      return {0, 256};
  }
}

}  // namespace

size_t RefTensor::position(const Index& index) const {
  int64_t at = 0;
  for (size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + index[d];
  return static_cast<size_t>(at);
}

int64_t count_of(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

RefTensor make(std::vector<int64_t> sizes, DType dtype, double value) {
  RefTensor t;
  t.values.assign(static_cast<size_t>(count_of(sizes)), value);
  t.sizes = std::move(sizes);
  t.dtype = dtype;
  return t;
}

int64_t wrap(int64_t value, int64_t size) { return value < 0 ? value + size : value; }

double stored_as(double value, DType to, bool from_integers) {
  if (is_float(to)) return value;
  if (to == DType::Bool) return value != 0;
  if (std::isnan(value)) return 0;
  double whole = std::trunc(value);
  auto [low, beyond] = range_of(to);
  if (whole >= low && whole < beyond) return whole;
  if (from_integers) {
    double width = beyond - low, shifted = std::fmod(whole - low, width);
    return (shifted < 0 ? shifted + width : shifted) + low;
  }
  return whole < low ? low : beyond - 1;
}

RefTensor to_reference(const Tensor& t) {
  RefTensor r;
  r.dtype = t.dtype();
  for (SymInt s : t.sizes()) r.sizes.push_back(s.concrete());
  for (SymInt s : t.strides()) r.strides.push_back(s.concrete());
  r.offset = t.impl()->offset().concrete();
  const Storage& storage = *t.impl()->storage();
  int64_t held = static_cast<int64_t>(storage.bytes() / size_of(t.dtype()));
  for (int64_t i = 0; i < held; ++i) r.memory.push_back(load_element(t.dtype(), storage.data(), i));
  for_each_index(r.sizes, [&](const Index& index) {
    int64_t at = r.offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * r.strides[d];
    r.values.push_back(r.memory[static_cast<size_t>(at)]);
  });
  return r;
}

}  // namespace fuselet::reference
