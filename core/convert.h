// One element converted to another type by the project's cast rule, rounding once.
//
// Between floats: to nearest even. Floats to integers and bool: casts.h. Integers to narrower ones wrap around; to
// floats they round to nearest even, to the 16-bit floats as well.
#pragma once
#include <cstdint>
#include <type_traits>

#include "core/casts.h"
#include "core/half.h"

namespace fuselet {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

template <class To, class From>
inline To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kIsHalf<From>) {
    return convert<To>(to_float(x));
  } else if constexpr (kIsHalf<To>) {
    if constexpr (std::is_integral_v<From>) {
      return convert<To>(to_odd_double(static_cast<long>(x)));
    } else if constexpr (std::is_same_v<To, float16>) {
      return to_float16(x);
    } else {
      return to_bfloat16(x);
    }
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return cast_to_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace fuselet
