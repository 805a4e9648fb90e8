// One element at a time, converted: for item(), printing, tests and the reference. Kernels have faster ways.
#pragma once
#include <cstring>

#include "core/casts.h"
#include "core/dtype.h"
#include "core/half.h"
#include "core/shape.h"

namespace fuselet {

template <class F>
auto visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::Float64:
      return f(double{});
    case DType::Float32:
      return f(float{});
    case DType::Float16:
      return f(float16{});
    case DType::BFloat16:
      return f(bfloat16{});
    case DType::Int64:
      return f(int64_t{});
    case DType::Int32:
      return f(int32_t{});
    case DType::Int8:
      return f(int8_t{});
    case DType::UInt8:
      return f(uint8_t{});
    case DType::Bool:
      return f(bool{});
  }
  __builtin_unreachable();
}

// The element at `index` (in elements) as double; an int64 beyond 2^53 is rounded.
double load_element(DType t, const void* data, int64_t index);
// The element as int64; floats by the project's cast rule.
int64_t load_element_int(DType t, const void* data, int64_t index);
// Stores by the project's cast rule, rounding once.
void store_element(DType t, void* data, int64_t index, double value);
void store_element_int(DType t, void* data, int64_t index, int64_t value);

// Calls f(offset) for each element in row-major order.
template <class F>
void for_each_offset(DimsView sizes, DimsView strides, F&& f) {
  size_t rank = sizes.size();
  int64_t total = numel_of(sizes).concrete();
  InlineVector<int64_t, 6> at(rank, 0);
  int64_t offset = 0;
  for (int64_t n = 0; n < total; ++n) {
    f(offset);
    for (size_t d = rank; d-- > 0;) {
      offset += strides[d].concrete();
      if (++at[d] < sizes[d].concrete()) break;
      offset -= at[d] * strides[d].concrete();
      at[d] = 0;
    }
  }
}

}  // namespace fuselet
