// One vector register of the build's target as a GCC vector type: lanes, load, store, broadcast, fused multiply-add.
//
// load_first and store_first touch the first `count` lanes only, 0 <= count <= kLanes; the others load as zero.
// Wide as the target allows: 64 bytes with AVX-512, 32 with AVX2 and FMA, else 16. Without FMA, fma() rounds twice.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#endif

namespace fuselet::cpu {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
inline constexpr int kVectorRegisters = 32;
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int kVectorBytes = 32;
inline constexpr int kVectorRegisters = 16;
#else
inline constexpr int kVectorBytes = 16;
inline constexpr int kVectorRegisters = 16;
#endif

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(kVectorBytes)));
  typedef int32_t Lanes __attribute__((vector_size(kVectorBytes)));
};
template <>
struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(kVectorBytes)));
  typedef int64_t Lanes __attribute__((vector_size(kVectorBytes)));
};

template <class T>
using Vector = typename VectorOf<T>::Type;
template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
inline void store(T* to, Vector<T> value) {
  std::memcpy(to, &value, sizeof value);
}

#if defined(__AVX512F__)
inline Vector<float> broadcast(float x) { return _mm512_set1_ps(x); }
inline Vector<double> broadcast(double x) { return _mm512_set1_pd(x); }
inline Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) { return _mm512_fmadd_ps(a, b, c); }
inline Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) { return _mm512_fmadd_pd(a, b, c); }

inline uint32_t first_bits(int count) { return (uint32_t{1} << count) - 1; }
inline Vector<float> load_first(const float* from, int count) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>(first_bits(count)), from);
}
inline Vector<double> load_first(const double* from, int count) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>(first_bits(count)), from);
}
inline void store_first(float* to, Vector<float> value, int count) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(first_bits(count)), value);
}
inline void store_first(double* to, Vector<double> value, int count) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>(first_bits(count)), value);
}
#else
#if defined(__AVX2__) && defined(__FMA__)
inline Vector<float> broadcast(float x) { return _mm256_set1_ps(x); }
inline Vector<double> broadcast(double x) { return _mm256_set1_pd(x); }
inline Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) { return _mm256_fmadd_ps(a, b, c); }
inline Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) { return _mm256_fmadd_pd(a, b, c); }
#else
inline Vector<float> broadcast(float x) { return Vector<float>{x, x, x, x}; }
inline Vector<double> broadcast(double x) { return Vector<double>{x, x}; }
template <class V>
inline V fma(V a, V b, V c) {
  return a * b + c;
}
#endif

template <class T>
inline Vector<T> load_first(const T* from, int count) {
  if (count == kLanes<T>) return load(from);
  Vector<T> value{};
  for (int i = 0; i < count; ++i) value[i] = from[i];
  return value;
}
template <class T>
inline void store_first(T* to, Vector<T> value, int count) {
  if (count == kLanes<T>) return store(to, value);
  for (int i = 0; i < count; ++i) to[i] = value[i];
}
#endif

}  // namespace fuselet::cpu
