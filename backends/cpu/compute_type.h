// The types that CPU kernels calculate in: float for float32 and the 16-bit floats, double for float64, int64_t for all
// integers and bool.
#pragma once
#include <cstdint>
#include <type_traits>

#include "core/dtype.h"

namespace fuselet::cpu {

enum class ComputeType : uint8_t { f32, f64, i64 };

constexpr ComputeType compute_type_of(DType t) {
  if (t == DType::Float64) return ComputeType::f64;
  return is_float(t) ? ComputeType::f32 : ComputeType::i64;
}

constexpr DType storage_of(ComputeType t) {
  return t == ComputeType::f32 ? DType::Float32 : t == ComputeType::f64 ? DType::Float64 : DType::Int64;
}

template <class T>
inline constexpr ComputeType kComputeType = std::is_same_v<T, float>    ? ComputeType::f32
                                            : std::is_same_v<T, double> ? ComputeType::f64
                                                                        : ComputeType::i64;

// Calls f(T{}) with the compute type of `t`.
template <class F>
decltype(auto) with_compute_type(DType t, F&& f) {
  switch (compute_type_of(t)) {
    case ComputeType::f32:
      return f(float{});
    case ComputeType::f64:
      return f(double{});
    case ComputeType::i64:
      return f(int64_t{});
  }
  __builtin_unreachable();
}

// The same for floating dtypes.
template <class F>
decltype(auto) with_float_type(DType t, F&& f) {
  return t == DType::Float64 ? f(double{}) : f(float{});
}

}  // namespace fuselet::cpu
