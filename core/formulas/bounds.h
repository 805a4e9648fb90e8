// Bounds that keep NaN, for the inside of formulas: one instruction where the machine has one.
#pragma once

#include "core/formulas/rounded.h"

namespace fuselet::formula {

template <class V>
FUSELET_FN V at_most(V x, Scalar<V> bound) {
#ifdef FUSELET_AVX512_BUILTINS
  // Of two operands that do not compare, the instruction gives the second. GCC writes a comparison and a blend.
  if constexpr (kSame<V, float16v>) return __builtin_ia32_minps512_mask(splat<V>(bound), x, x, -1, kCurrentRounding);
#endif
#ifdef FUSELET_DEVICE_UNITS
  if constexpr (kIsFloat<V>) return at_most_or_nan((float)x, bound);
#endif
  return select(x > bound, splat<V>(bound), x);
}

template <class V>
FUSELET_FN V at_least(V x, Scalar<V> bound) {
#ifdef FUSELET_AVX512_BUILTINS
  if constexpr (kSame<V, float16v>) return __builtin_ia32_maxps512_mask(splat<V>(bound), x, x, -1, kCurrentRounding);
#endif
#ifdef FUSELET_DEVICE_UNITS
  if constexpr (kIsFloat<V>) return at_least_or_nan((float)x, bound);
#endif
  return select(x < bound, splat<V>(bound), x);
}

// x within [-limit, limit].
template <class V>
FUSELET_FN V bounded_by(V x, Scalar<V> limit) {
  return at_least(at_most(x, limit), -limit);
}

}  // namespace fuselet::formula
