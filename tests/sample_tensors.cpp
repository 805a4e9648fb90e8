#include "tests/sample_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/element.h"

namespace fuselet::testing {
namespace {

double draw(SampleNumbers& numbers, DType dtype, Elements e) {
  if (e.halves && is_float(dtype)) {
    return 0.5 * static_cast<double>(numbers.whole(static_cast<int64_t>(std::ceil(2 * e.low)),
                                                   static_cast<int64_t>(std::floor(2 * e.high))));
  }
  if (is_float(dtype)) return numbers.smooth(e.low, e.high);
  double low = dtype == DType::Bool || dtype == DType::UInt8 ? std::max(e.low, 0.0) : e.low;
  double high = dtype == DType::Bool ? 1.0 : e.high;
  return static_cast<double>(
      numbers.whole(static_cast<int64_t>(std::ceil(low)), static_cast<int64_t>(std::floor(high))));
}

struct Geometry {
  Dims strides;
  int64_t offset = 0, held = 0;  // in elements
};

Geometry geometry_of(const std::vector<int64_t>& sizes, Layout layout) {
  Dims dims;
  for (int64_t s : sizes) dims.push_back(s);
  Geometry g;
  size_t rank = sizes.size();
  if (rank == 0 || layout == Layout::Contiguous) {
    g.strides = contiguous_strides(dims);
  } else if (layout == Layout::Sliced) {
    dims[rank - 1] = 2 * dims[rank - 1] + 1;
    g.strides = contiguous_strides(dims);
    g.strides[rank - 1] = 2;
    g.offset = 1;
  } else if (layout == Layout::Permuted) {
    std::reverse(dims.begin(), dims.end());
    g.strides = contiguous_strides(dims);
    std::reverse(g.strides.begin(), g.strides.end());
  } else {
    dims[0] = 1;
    g.strides = contiguous_strides(dims);
    g.strides[0] = 0;
  }
  g.held = numel_of(dims).concrete() + g.offset;
  return g;
}

Tensor place(const std::vector<int64_t>& sizes, DType dtype, const Geometry& g) {
  StoragePtr storage = make_intrusive<Storage>(static_cast<size_t>(g.held) * size_of(dtype), Device{});
  return Tensor(make_intrusive<TensorImpl>(storage, Dims(IntList(sizes).view()), g.strides, g.offset, dtype));
}

}  // namespace

double SampleNumbers::uniform() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return std::ldexp(static_cast<double>((z ^ (z >> 31)) >> 11), -53);
}

double SampleNumbers::smooth(double low, double high) {
  for (;;) {
    double v = low + (high - low) * uniform();
    if (std::fabs(2 * v - std::nearbyint(2 * v)) > 0.2) return v;
  }
}

int64_t SampleNumbers::whole(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(uniform() * static_cast<double>(high - low + 1));
}

Tensor sample_tensor(const std::vector<int64_t>& sizes, DType dtype, SampleNumbers& numbers, Elements elements,
                     Layout layout) {
  Geometry g = geometry_of(sizes, layout);
  Tensor t = place(sizes, dtype, g);
  for (int64_t i = 0; i < g.held; ++i)
    store_element(dtype, t.impl()->storage()->data(), i, draw(numbers, dtype, elements));
  return t;
}

Tensor tensor_of(const std::vector<int64_t>& sizes, DType dtype, const std::vector<double>& values) {
  Tensor t = place(sizes, dtype, geometry_of(sizes, Layout::Contiguous));
  for (size_t i = 0; i < values.size(); ++i) store_element(dtype, t.raw_data(), static_cast<int64_t>(i), values[i]);
  return t;
}

Tensor copy_of(const Tensor& t) {
  const Storage& from = *t.impl()->storage();
  StoragePtr storage = make_intrusive<Storage>(from.bytes(), from.device());
  if (from.bytes() > 0) std::memcpy(storage->data(), from.data(), from.bytes());
  return Tensor(make_intrusive<TensorImpl>(storage, Dims(t.sizes()), Dims(t.strides()), t.impl()->offset(), t.dtype()));
}

}  // namespace fuselet::testing
