// What generated kernels hold values in, and how elements become values and values elements.
//
// Elements have a stored type: float, double, float16, bfloat16, long, int, signed char, unsigned char, bool. Values
// are held as float, double, long or bool, or as vectors of W of them; a vector of truth values is one of ints, 0 or
// -1. Includes no standard header: generated units paste it.
#pragma once

#include "core/casts.h"
#include "core/half.h"

namespace fuselet::generated {

using formula::kSame;

template <class T, int W>
struct LanesType {
  typedef T Type __attribute__((vector_size(sizeof(T) * W)));
};
template <class T, int W>
using Lanes = typename LanesType<T, W>::Type;

template <int W>
using Floats = Lanes<float, W>;
template <int W>
using Doubles = Lanes<double, W>;
template <int W>
using Integers = Lanes<long, W>;
template <int W>
using Truths = Lanes<int, W>;

// The scalar that a stored type is held as, its lanes, and the bits that memory holds.
template <class Held, class Lane, class Raw>
struct StoredTraits {
  using HeldType = Held;
  using LaneType = Lane;
  using RawType = Raw;
};
template <class T>
struct Stored;
template <>
struct Stored<float> : StoredTraits<float, float, float> {};
template <>
struct Stored<double> : StoredTraits<double, double, double> {};
template <>
struct Stored<float16> : StoredTraits<float, float, unsigned short> {};
template <>
struct Stored<bfloat16> : StoredTraits<float, float, unsigned short> {};
template <>
struct Stored<long> : StoredTraits<long, long, long> {};
template <>
struct Stored<int> : StoredTraits<long, long, int> {};
template <>
struct Stored<signed char> : StoredTraits<long, long, signed char> {};
template <>
struct Stored<unsigned char> : StoredTraits<long, long, unsigned char> {};
template <>
struct Stored<bool> : StoredTraits<bool, int, unsigned char> {};

template <class T>
using Held = typename Stored<T>::HeldType;
template <class T, int W>
using HeldLanes = Lanes<typename Stored<T>::LaneType, W>;
template <class T, int W>
using RawLanes = Lanes<typename Stored<T>::RawType, W>;

template <class T>
struct Bare {
  using Type = T;
};
template <class T>
struct Bare<T&> {
  using Type = T;
};

// Scalars have one lane.
template <class V>
struct LaneInfo {
  using Lane = V;
  static constexpr int kLanes = 1;
};
template <class V>
requires requires(V v) { v[0]; }
struct LaneInfo<V> {
  static V& sample();
  using Lane = typename Bare<decltype(sample()[0])>::Type;
  static constexpr int kLanes = sizeof(V) / sizeof(Lane);
};
template <class V>
inline constexpr bool kIsLanes = LaneInfo<V>::kLanes > 1;

// Keeps GCC from taking the load of bytes that are widened next apart into loads of single ones.
template <class V>
FUSELET_FN V as_one_load(V raw) {
#if defined(__SSE2__) && !defined(__clang__)
  if constexpr (sizeof(raw[0]) == 1 && sizeof(V) >= 8) asm("" : "+x"(raw));
#endif
  return raw;
}

template <class T, int W>
FUSELET_FN HeldLanes<T, W> widen(RawLanes<T, W> stored) {
  const auto raw = as_one_load(stored);
  if constexpr (kSame<T, bool>) {
    return __builtin_convertvector(raw, Truths<W>) != 0;
  } else if constexpr (kSame<T, bfloat16>) {
    return __builtin_bit_cast(Floats<W>, __builtin_convertvector(raw, Lanes<unsigned, W>) << 16);
  } else if constexpr (kSame<T, float16>) {
    Floats<W> result;
#if defined(__F16C__) && !defined(__clang__)
    if constexpr (W % 8 == 0) {
      for (int i = 0; i < W; i += 8) {
        Lanes<short, 8> halves;
        __builtin_memcpy(&halves, (const char*)&raw + i * 2, sizeof halves);
        Floats<8> floats = __builtin_ia32_vcvtph2ps256(halves);
        __builtin_memcpy((char*)&result + i * 4, &floats, sizeof floats);
      }
      return result;
    }
#endif
    for (int i = 0; i < W; ++i) result[i] = to_float(float16{raw[i]});
    return result;
  } else {
    return __builtin_convertvector(raw, HeldLanes<T, W>);
  }
}

// v is one of the values that T holds.
template <class T, class V, int W = LaneInfo<V>::kLanes>
FUSELET_FN RawLanes<T, W> narrow(V v) {
  if constexpr (kSame<T, bool>) {
    return __builtin_convertvector(v & 1, RawLanes<T, W>);
  } else if constexpr (kSame<T, bfloat16>) {
    return __builtin_convertvector(__builtin_bit_cast(Lanes<unsigned, W>, v) >> 16, RawLanes<T, W>);
  } else if constexpr (kSame<T, float16>) {
    RawLanes<T, W> result;
#if defined(__F16C__) && !defined(__clang__)
    if constexpr (W % 8 == 0) {
      constexpr int kNearestEven = 0;
      for (int i = 0; i < W; i += 8) {
        Floats<8> floats;
        __builtin_memcpy(&floats, (const char*)&v + i * 4, sizeof floats);
        Lanes<short, 8> halves = __builtin_ia32_vcvtps2ph256(floats, kNearestEven);
        __builtin_memcpy((char*)&result + i * 2, &halves, sizeof halves);
      }
      return result;
    }
#endif
    for (int i = 0; i < W; ++i) result[i] = to_float16(v[i]).bits;
    return result;
  } else {
    return __builtin_convertvector(v, RawLanes<T, W>);
  }
}

// Floating lanes to integers, as cast_to_integer does each.
template <class T, class V, int W = LaneInfo<V>::kLanes>
FUSELET_FN Integers<W> cast_lanes(V x) {
  using S = typename LaneInfo<V>::Lane;
  constexpr S kBeyond = S(IntegerRange<T>::kHigh / 2 + 1) * 2, kLowest = S(IntegerRange<T>::kLow);
  auto above = x >= kBeyond, below = x < kLowest, nan = x != x;
  Integers<W> inside = __builtin_convertvector((above | below | nan) ? V{} : x, Integers<W>);
  Integers<W> high = Integers<W>{} + (long)IntegerRange<T>::kHigh, low = Integers<W>{} + (long)IntegerRange<T>::kLow;
  return __builtin_convertvector(above, Integers<W>) ? high
                                                     : (__builtin_convertvector(below, Integers<W>) ? low : inside);
}

// As to_bfloat16 rounds each.
template <class V, int W = LaneInfo<V>::kLanes>
FUSELET_FN V round_to_bfloat16(V x) {
  using Bits = Lanes<unsigned, W>;
  const Bits bits = __builtin_bit_cast(Bits, x);
  const Bits rounded = bits + 0x7fffu + (bits >> 16 & 1u), quiet = bits | 0x400000u;
  return __builtin_bit_cast(V, (x != x ? quiet : rounded) & 0xffff0000u);
}

template <class T>
FUSELET_FN T half_of(double x) {
  if constexpr (kSame<T, float16>)
    return to_float16(x);
  else
    return to_bfloat16(x);
}
template <class T>
FUSELET_FN T half_of(float x) {
  if constexpr (kSame<T, float16>)
    return to_float16(x);
  else
    return to_bfloat16(x);
}
template <class T>
inline constexpr bool kIsStoredHalf = kSame<T, float16> || kSame<T, bfloat16>;

// A held scalar converted to the stored type T by the rule of casts, and held again.
template <class T, class From>
FUSELET_FN Held<T> convert_one(From x) {
  if constexpr (kSame<From, bool>) {
    if constexpr (kSame<T, bool>)
      return x;
    else
      return convert_one<T>((long)x);
  } else if constexpr (kSame<T, bool>) {
    return x != From(0);
  } else if constexpr (kIsStoredHalf<T>) {
    if constexpr (kSame<From, long>)
      return to_float(half_of<T>(to_odd_double(x)));
    else
      return to_float(half_of<T>(x));
  } else if constexpr (kSame<Held<T>, long> && !kSame<From, long>) {
    return cast_to_integer<T>(x);
  } else {
    return (Held<T>)(T)x;
  }
}

// The same for lanes.
template <class T, class V, int W = LaneInfo<V>::kLanes>
FUSELET_FN HeldLanes<T, W> convert_lanes(V x) {
  using From = typename LaneInfo<V>::Lane;
  if constexpr (kSame<From, int>) {  // truth values
    if constexpr (kSame<T, bool>)
      return x;
    else if constexpr (kSame<Held<T>, float>)
      return x ? Floats<W>{} + 1.0f : Floats<W>{};
    else
      return __builtin_convertvector(-x, HeldLanes<T, W>);
  } else if constexpr (kSame<T, bool>) {
    return __builtin_convertvector(x != From(0), Truths<W>);
  } else if constexpr (kIsStoredHalf<T>) {
    if constexpr (kSame<From, float> && kSame<T, bfloat16>) {
      return round_to_bfloat16(x);
    } else if constexpr (kSame<From, float>) {
      return widen<T, W>(narrow<T>(x));
    } else {  // one rounding: by way of float there would be two
      Floats<W> result;
      for (int i = 0; i < W; ++i) result[i] = convert_one<T>((From)x[i]);
      return result;
    }
  } else if constexpr (kSame<Held<T>, long>) {
    if constexpr (kSame<From, long>)
      return __builtin_convertvector(__builtin_convertvector(x, RawLanes<T, W>), Integers<W>);
    else
      return cast_lanes<T>(x);
  } else {
    return __builtin_convertvector(x, HeldLanes<T, W>);
  }
}

template <class T, class V>
FUSELET_FN auto convert(V x) {
  if constexpr (kIsLanes<V>)
    return convert_lanes<T>(x);
  else
    return convert_one<T>(x);
}

// What a formula of V takes: x in V's type, in every lane where x is a scalar; truth values are 0 or 1.
template <class V, class X>
FUSELET_FN V as(X x) {
  using S = typename LaneInfo<V>::Lane;
  if constexpr (kSame<V, X>) {
    return x;
  } else if constexpr (kIsLanes<X>) {
    return convert_lanes<S>(x);
  } else if constexpr (kIsLanes<V> && kSame<S, int>) {
    return V{} - (int)convert_one<bool>(x);
  } else if constexpr (kIsLanes<V>) {
    return convert_one<S>(x) - V{};  // keeps the sign of -0
  } else {
    return convert_one<S>(x);
  }
}

// A whole vector, or its first `count` lanes (none if count <= 0).
struct Whole {};
struct First {
  long count;
};
FUSELET_FN long bytes_of(First first, int lanes, int size) {
  long count = first.count < 0 ? 0 : first.count > lanes ? lanes : first.count;
  return count * size;
}

template <int W, class T>
FUSELET_FN HeldLanes<T, W> load(Whole, const T* from) {
  RawLanes<T, W> raw;
  __builtin_memcpy(&raw, from, sizeof raw);
  return widen<T, W>(raw);
}
template <int W, class T>
FUSELET_FN HeldLanes<T, W> load(First first, const T* from) {
  // The others are 1, cheap for every formula; 0 where the bits of 1 would be a subnormal.
  RawLanes<T, W> raw = RawLanes<T, W>{} + (typename Stored<T>::RawType)(kIsStoredHalf<T> ? 0 : 1);
  __builtin_memcpy(&raw, from, bytes_of(first, W, sizeof(T)));
  return widen<T, W>(raw);
}
template <int W, class T>
FUSELET_FN HeldLanes<T, W> load_strided(Whole, const T* from, long stride) {
  RawLanes<T, W> raw;
  const auto* x = (const typename Stored<T>::RawType*)from;
  for (int i = 0; i < W; ++i) raw[i] = x[i * stride];
  return widen<T, W>(raw);
}
template <int W, class T>
FUSELET_FN HeldLanes<T, W> load_strided(First first, const T* from, long stride) {
  RawLanes<T, W> raw = RawLanes<T, W>{} + (typename Stored<T>::RawType)(kIsStoredHalf<T> ? 0 : 1);
  const auto* x = (const typename Stored<T>::RawType*)from;
  for (int i = 0; i < W; ++i) {
    if (i < first.count) raw[i] = x[i * stride];
  }
  return widen<T, W>(raw);
}
template <class T>
FUSELET_FN Held<T> load_one(const T* from) {
  if constexpr (kIsStoredHalf<T>)
    return to_float(*from);
  else if constexpr (kSame<T, bool>)
    return *(const unsigned char*)from != 0;
  else
    return *from;
}

template <class T, class V>
FUSELET_FN void store(Whole, T* to, V v) {
  auto raw = narrow<T>(v);
  __builtin_memcpy(to, &raw, sizeof raw);
}
template <class T, class V>
FUSELET_FN void store(First first, T* to, V v) {
  auto raw = narrow<T>(v);
  __builtin_memcpy(to, &raw, bytes_of(first, LaneInfo<V>::kLanes, sizeof(T)));
}
template <class T, class V>
FUSELET_FN void store_strided(Whole, T* to, long stride, V v) {
  auto raw = narrow<T>(v);
  auto* y = (typename Stored<T>::RawType*)to;
  for (int i = 0; i < LaneInfo<V>::kLanes; ++i) y[i * stride] = raw[i];
}
template <class T, class V>
FUSELET_FN void store_strided(First first, T* to, long stride, V v) {
  auto raw = narrow<T>(v);
  auto* y = (typename Stored<T>::RawType*)to;
  for (int i = 0; i < LaneInfo<V>::kLanes; ++i) {
    if (i < first.count) y[i * stride] = raw[i];
  }
}
template <class T, class S>
FUSELET_FN void store_one(T* to, S x) {
  if constexpr (kIsStoredHalf<T>)
    *to = half_of<T>(x);
  else
    *to = (T)x;
}

// step(Whole or First, j) for the vectors of W elements that make up [first, end).
template <int W, class Step>
FUSELET_FN void over_lanes(long first, long end, Step step) {
  long j = first;
  for (; j + W <= end; j += W) step(Whole{}, j);
  if (j < end) step(First{end - j}, j);
}

// 0, 1, …: written out, for vectors made lane by lane are no constants to the compiler.
template <class V>
FUSELET_FN V lane_numbers() {
  constexpr int kLanes = LaneInfo<V>::kLanes;
  if constexpr (kLanes == 16)
    return V{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  else if constexpr (kLanes == 8)
    return V{0, 1, 2, 3, 4, 5, 6, 7};
  else
    return V{0, 1, 2, 3};
}

// start, start + step, …
template <class V>
FUSELET_FN V ramp(long start, long step) {
  using S = typename LaneInfo<V>::Lane;
  return lane_numbers<V>() * (S)step + (S)start;
}

}  // namespace fuselet::generated
