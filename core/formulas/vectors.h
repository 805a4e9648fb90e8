// The types that formulas take: scalars, GCC vectors of them, and what belongs to each (scalar,
// lane count, masks).
//
// Under NVRTC there are scalars only. FUSELET_FN marks every formula, inlined on host and device;
// FUSELET_RARE_FN what a formula seldom needs, which stays one call: inlined for every element, it
// would take most of the time that compiling a kernel takes.
#pragma once

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define FUSELET_DEVICE_FORMULAS 1
#define FUSELET_FN __device__ __forceinline__
#define FUSELET_RARE_FN inline __device__ __noinline__
#else
#define FUSELET_FN inline __attribute__((always_inline))
#define FUSELET_RARE_FN inline __attribute__((noinline, cold))
#if defined(__GNUC__) && !defined(__clang__) && !defined(__AVX512F__)
// Every function here is inlined, so no call passes a vector.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#endif

namespace fuselet::formula {

// What belongs to V: its scalar, its lane count, and the integers of the same width that masks and
// bit casts use.
template <class V>
struct LaneTraits;

template <class S, class I, class U>
struct ScalarTraits {
  using Scalar = S;
  using Ints = I;
  using Bits = U;
  static constexpr int kLanes = 1;
};
template <>
struct LaneTraits<float> : ScalarTraits<float, int, unsigned> {};
template <>
struct LaneTraits<double> : ScalarTraits<double, long long, unsigned long long> {};
template <>
struct LaneTraits<long> : ScalarTraits<long, long, unsigned long> {};
template <>
struct LaneTraits<long long> : ScalarTraits<long long, long long, unsigned long long> {};

#ifndef FUSELET_DEVICE_FORMULAS
template <class S, class I, class U, int Bytes>
struct VectorTraits {
  using Scalar = S;
  typedef I Ints __attribute__((vector_size(Bytes)));
  typedef U Bits __attribute__((vector_size(Bytes)));
  static constexpr int kLanes = Bytes / sizeof(S);
};

// Named by lane count. All widths work everywhere; one wider than the machine's registers is slow
// (GCC takes comparisons apart lane by lane), and lanes do not depend on the width, so a pointwise
// loop uses the native one below.
typedef float float16v __attribute__((vector_size(64)));
typedef float float8v __attribute__((vector_size(32)));
typedef float float4v __attribute__((vector_size(16)));
typedef double double8v __attribute__((vector_size(64)));
typedef double double4v __attribute__((vector_size(32)));
typedef double double2v __attribute__((vector_size(16)));
typedef long int64_8v __attribute__((vector_size(64)));
typedef long int64_4v __attribute__((vector_size(32)));
typedef long int64_2v __attribute__((vector_size(16)));
template <>
struct LaneTraits<float16v> : VectorTraits<float, int, unsigned, 64> {};
template <>
struct LaneTraits<float8v> : VectorTraits<float, int, unsigned, 32> {};
template <>
struct LaneTraits<float4v> : VectorTraits<float, int, unsigned, 16> {};
template <>
struct LaneTraits<double8v> : VectorTraits<double, long, unsigned long, 64> {};
template <>
struct LaneTraits<double4v> : VectorTraits<double, long, unsigned long, 32> {};
template <>
struct LaneTraits<double2v> : VectorTraits<double, long, unsigned long, 16> {};
template <>
struct LaneTraits<int64_8v> : VectorTraits<long, long, unsigned long, 64> {};
template <>
struct LaneTraits<int64_4v> : VectorTraits<long, long, unsigned long, 32> {};
template <>
struct LaneTraits<int64_2v> : VectorTraits<long, long, unsigned long, 16> {};

// The widest that this machine's registers hold.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
using FloatLanes = float16v;
using DoubleLanes = double8v;
using Int64Lanes = int64_8v;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
using FloatLanes = float8v;
using DoubleLanes = double4v;
using Int64Lanes = int64_4v;
#else
inline constexpr int kVectorBytes = 16;
using FloatLanes = float4v;
using DoubleLanes = double2v;
using Int64Lanes = int64_2v;
#endif
#endif

template <class V>
using Scalar = typename LaneTraits<V>::Scalar;
template <class V>
using Ints = typename LaneTraits<V>::Ints;
template <class V>
using Bits = typename LaneTraits<V>::Bits;
template <class V>
inline constexpr int kLanes = LaneTraits<V>::kLanes;
template <class V>
inline constexpr bool kIsVector = kLanes<V> != 1;

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;

// A float that may be off by 2^-10 of its value (a type of the CUDA backend's).
template <class V>
inline constexpr bool kIsRough = false;
template <class V>
inline constexpr bool kIsFloat = kSame<Scalar<V>, float>;
template <class V>
inline constexpr bool kIsDouble = kSame<Scalar<V>, double>;
template <class V>
inline constexpr bool kIsInteger = !kIsFloat<V> && !kIsDouble<V>;

}  // namespace fuselet::formula
