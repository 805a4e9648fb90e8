// A tensor of the reference: sizes, the elements as doubles in row-major order, and the dtype that they stand for.
//
// Indices are vectors with one entry for each dimension. A tensor read from a real one also has its memory, strides and
// offset, which the operators on explicit strides need; the others ignore them.
#pragma once
#include <cstdint>
#include <vector>

#include "core/dtype.h"
#include "core/op.h"

namespace fuselet::reference {

using Index = std::vector<int64_t>;

struct RefTensor {
  std::vector<int64_t> sizes;
  std::vector<double> values;
  DType dtype = DType::Float64;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  std::vector<double> memory;

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  int64_t count() const { return static_cast<int64_t>(values.size()); }
  double& at(const Index& index) { return values[position(index)]; }
  double at(const Index& index) const { return values[position(index)]; }
  // Where an element stands in `values`.
  size_t position(const Index& index) const;
};

RefTensor make(std::vector<int64_t> sizes, DType dtype, double value = 0);
int64_t count_of(const std::vector<int64_t>& sizes);
// Maps a negative dimension or index to the one it means.
int64_t wrap(int64_t value, int64_t size);

// Calls f(index) for every index of `sizes` in row-major order.
template <class F>
void for_each_index(const std::vector<int64_t>& sizes, F&& f) {
  Index index(sizes.size(), 0);
  for (int64_t n = count_of(sizes); n > 0; --n) {
    f(static_cast<const Index&>(index));
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
}

// The value that a result of dtype `to` holds: floats as they are; integers truncated, saturated, NaN to 0, or, where
// the computation was on integers, modulo the type's range; bool by comparison with 0.
double stored_as(double value, DType to, bool from_integers);

// A copy of a tensor with concrete sizes on the CPU.
RefTensor to_reference(const Tensor& t);

}  // namespace fuselet::reference
