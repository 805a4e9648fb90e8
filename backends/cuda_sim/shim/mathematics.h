// The C library's functions under CUDA's names, for float and double, and min and max. Values may differ from the
// device's by units in the last place where the function is not exact.
#pragma once

#define SIM_MATH1(name)                     \
  extern "C" double name(double) noexcept;  \
  extern "C" float name##f(float) noexcept; \
  __forceinline__ float name(float x) { return name##f(x); }
#define SIM_MATH2(name)                            \
  extern "C" double name(double, double) noexcept; \
  extern "C" float name##f(float, float) noexcept; \
  __forceinline__ float name(float x, float y) { return name##f(x, y); }

SIM_MATH1(exp)
SIM_MATH1(exp2)
SIM_MATH1(exp10)
SIM_MATH1(expm1)
SIM_MATH1(log)
SIM_MATH1(log2)
SIM_MATH1(log10)
SIM_MATH1(log1p)
SIM_MATH1(sqrt)
SIM_MATH1(cbrt)
SIM_MATH1(sin)
SIM_MATH1(cos)
SIM_MATH1(tan)
SIM_MATH1(asin)
SIM_MATH1(acos)
SIM_MATH1(atan)
SIM_MATH1(sinh)
SIM_MATH1(cosh)
SIM_MATH1(tanh)
SIM_MATH1(asinh)
SIM_MATH1(acosh)
SIM_MATH1(atanh)
SIM_MATH1(erf)
SIM_MATH1(erfc)
SIM_MATH1(tgamma)
SIM_MATH1(lgamma)
SIM_MATH1(floor)
SIM_MATH1(ceil)
SIM_MATH1(trunc)
SIM_MATH1(round)
SIM_MATH1(rint)
SIM_MATH1(nearbyint)
SIM_MATH1(fabs)
SIM_MATH2(pow)
SIM_MATH2(atan2)
SIM_MATH2(fmod)
SIM_MATH2(remainder)
SIM_MATH2(hypot)
SIM_MATH2(copysign)
SIM_MATH2(nextafter)
SIM_MATH2(fdim)
#undef SIM_MATH1
#undef SIM_MATH2
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double frexp(double, int*) noexcept;
extern "C" float frexpf(float, int*) noexcept;
extern "C" double modf(double, double*) noexcept;
extern "C" float modff(float, float*) noexcept;
extern "C" void sincos(double, double*, double*) noexcept;
extern "C" void sincosf(float, float*, float*) noexcept;
__forceinline__ float fma(float a, float b, float c) { return fmaf(a, b, c); }
__forceinline__ float ldexp(float x, int e) { return ldexpf(x, e); }
__forceinline__ void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
__forceinline__ void sincospif(float x, float* s, float* c) { sincosf(x * 3.14159265f, s, c); }
__forceinline__ float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
__forceinline__ double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
__forceinline__ float rsqrt(float x) { return rsqrtf(x); }
__forceinline__ float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

// A NaN gives way to the other argument.
template <class T>
__forceinline__ T sim_larger(T a, T b) {
  if (a != a) return b;
  if (a == b) return __builtin_signbit(a) ? b : a;
  return b != b || a > b ? a : b;
}
template <class T>
__forceinline__ T sim_smaller(T a, T b) {
  if (a != a) return b;
  if (a == b) return __builtin_signbit(a) ? a : b;
  return b != b || a < b ? a : b;
}
__forceinline__ float fmaxf(float a, float b) { return sim_larger(a, b); }
__forceinline__ float fminf(float a, float b) { return sim_smaller(a, b); }
__forceinline__ double fmax(double a, double b) { return sim_larger(a, b); }
__forceinline__ double fmin(double a, double b) { return sim_smaller(a, b); }
__forceinline__ float fmax(float a, float b) { return sim_larger(a, b); }
__forceinline__ float fmin(float a, float b) { return sim_smaller(a, b); }

#define SIM_MIN_MAX(T)                                      \
  __forceinline__ T min(T a, T b) { return b < a ? b : a; } \
  __forceinline__ T max(T a, T b) { return a < b ? b : a; }
SIM_MIN_MAX(int)
SIM_MIN_MAX(unsigned)
SIM_MIN_MAX(long)
SIM_MIN_MAX(unsigned long)
SIM_MIN_MAX(long long)
SIM_MIN_MAX(unsigned long long)
#undef SIM_MIN_MAX
__forceinline__ unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
__forceinline__ unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
__forceinline__ unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
__forceinline__ unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
__forceinline__ float min(float a, float b) { return fminf(a, b); }
__forceinline__ float max(float a, float b) { return fmaxf(a, b); }
__forceinline__ double min(double a, double b) { return fmin(a, b); }
__forceinline__ double max(double a, double b) { return fmax(a, b); }

__forceinline__ int abs(int x) { return x < 0 ? -x : x; }
__forceinline__ long abs(long x) { return x < 0 ? -x : x; }
__forceinline__ long long abs(long long x) { return x < 0 ? -x : x; }
__forceinline__ long long llabs(long long x) { return x < 0 ? -x : x; }
__forceinline__ float abs(float x) { return __builtin_fabsf(x); }
__forceinline__ double abs(double x) { return __builtin_fabs(x); }
#define SIM_CLASSIFY(T)                                                \
  __forceinline__ bool isnan(T x) { return x != x; }                   \
  __forceinline__ bool isinf(T x) { return __builtin_isinf(x); }       \
  __forceinline__ bool isfinite(T x) { return __builtin_isfinite(x); } \
  __forceinline__ bool signbit(T x) { return __builtin_signbit(x) != 0; }
SIM_CLASSIFY(float)
SIM_CLASSIFY(double)
#undef SIM_CLASSIFY
