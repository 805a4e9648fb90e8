// Intrinsics that are plain functions of their arguments: bit casts, rounded arithmetic, integer instructions, cached
// loads and stores. The fast forms (__expf …) are the exact functions: their device values are within CUDA's bounds.
#pragma once

__forceinline__ unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__forceinline__ int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__forceinline__ float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__forceinline__ float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__forceinline__ long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__forceinline__ double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__forceinline__ int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
__forceinline__ int __double2loint(double x) { return (int)__double_as_longlong(x); }
__forceinline__ double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)(((unsigned long long)(unsigned)high << 32) | (unsigned)low));
}

__forceinline__ float __fadd_rn(float a, float b) { return a + b; }
__forceinline__ float __fsub_rn(float a, float b) { return a - b; }
__forceinline__ float __fmul_rn(float a, float b) { return a * b; }
__forceinline__ float __fdiv_rn(float a, float b) { return a / b; }
__forceinline__ float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__forceinline__ float __frcp_rn(float x) { return 1.0f / x; }
__forceinline__ float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
__forceinline__ float __frsqrt_rn(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
__forceinline__ double __dadd_rn(double a, double b) { return a + b; }
__forceinline__ double __dsub_rn(double a, double b) { return a - b; }
__forceinline__ double __dmul_rn(double a, double b) { return a * b; }
__forceinline__ double __ddiv_rn(double a, double b) { return a / b; }
__forceinline__ double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
__forceinline__ double __drcp_rn(double x) { return 1.0 / x; }
__forceinline__ double __dsqrt_rn(double x) { return __builtin_sqrt(x); }

__forceinline__ float __expf(float x) { return expf(x); }
__forceinline__ float __exp10f(float x) { return exp10f(x); }
__forceinline__ float __logf(float x) { return logf(x); }
__forceinline__ float __log2f(float x) { return log2f(x); }
__forceinline__ float __log10f(float x) { return log10f(x); }
__forceinline__ float __sinf(float x) { return sinf(x); }
__forceinline__ float __cosf(float x) { return cosf(x); }
__forceinline__ float __tanf(float x) { return tanf(x); }
__forceinline__ float __powf(float x, float y) { return powf(x, y); }
__forceinline__ float __fdividef(float a, float b) { return a / b; }
// NaN becomes 0.
__forceinline__ float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// Conversions saturate and take NaN to 0 (32 bits) or the most negative (64 bits), as cvt does.
template <class To, class From>
__forceinline__ To sim_saturating(From x, From low, From high, To lowest, To highest, To of_nan) {
  return x != x ? of_nan : x < low ? lowest : x >= high ? highest : (To)x;
}
#define SIM_CONVERT(from, From, suffix, rounded)                                                        \
  __forceinline__ int __##from##2int_##suffix(From x) {                                                 \
    return sim_saturating<int, From>(rounded, -0x1p31, 0x1p31, -0x7fffffff - 1, 0x7fffffff, 0);         \
  }                                                                                                     \
  __forceinline__ unsigned __##from##2uint_##suffix(From x) {                                           \
    return sim_saturating<unsigned, From>(rounded, 0, 0x1p32, 0u, 0xffffffffu, 0u);                     \
  }                                                                                                     \
  __forceinline__ long long __##from##2ll_##suffix(From x) {                                            \
    constexpr long long kLow = -0x7fffffffffffffffll - 1;                                               \
    return sim_saturating<long long, From>(rounded, -0x1p63, 0x1p63, kLow, 0x7fffffffffffffffll, kLow); \
  }
SIM_CONVERT(float, float, rn, __builtin_rintf(x))
SIM_CONVERT(float, float, rz, __builtin_truncf(x))
SIM_CONVERT(float, float, rd, __builtin_floorf(x))
SIM_CONVERT(float, float, ru, __builtin_ceilf(x))
SIM_CONVERT(double, double, rn, __builtin_rint(x))
SIM_CONVERT(double, double, rz, __builtin_trunc(x))
SIM_CONVERT(double, double, rd, __builtin_floor(x))
SIM_CONVERT(double, double, ru, __builtin_ceil(x))
#undef SIM_CONVERT
__forceinline__ float __int2float_rn(int x) { return (float)x; }
__forceinline__ float __uint2float_rn(unsigned x) { return (float)x; }
__forceinline__ float __ll2float_rn(long long x) { return (float)x; }
__forceinline__ float __double2float_rn(double x) { return (float)x; }
__forceinline__ double __int2double_rn(int x) { return x; }
__forceinline__ double __ll2double_rn(long long x) { return (double)x; }

__forceinline__ int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
__forceinline__ int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
__forceinline__ int __ffs(int x) { return __builtin_ffs(x); }
__forceinline__ int __ffsll(long long x) { return __builtin_ffsll(x); }
__forceinline__ int __popc(unsigned x) { return __builtin_popcount(x); }
__forceinline__ int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__forceinline__ unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
__forceinline__ int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
__forceinline__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
__forceinline__ long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
__forceinline__ unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= ((x >> bit) & 1u) << (31 - bit);
  return reversed;
}
__forceinline__ unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned long long bytes = ((unsigned long long)y << 32) | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned pick = (selector >> (4 * i)) & 0xfu;
    unsigned byte = (unsigned)(bytes >> (8 * (pick & 7u))) & 0xffu;
    if (pick & 8u) byte = byte & 0x80u ? 0xffu : 0u;
    result |= byte << (8 * i);
  }
  return result;
}
__forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((((unsigned long long)high << 32) | low) << (shift & 31u)) >> 32);
}
__forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)((((unsigned long long)high << 32) | low) >> (shift & 31u));
}

#define SIM_LOAD(name)                       \
  template <class T>                         \
  __forceinline__ T name(const T* address) { \
    return *address;                         \
  }
SIM_LOAD(__ldg)
SIM_LOAD(__ldca)
SIM_LOAD(__ldcg)
SIM_LOAD(__ldcs)
SIM_LOAD(__ldlu)
SIM_LOAD(__ldcv)
#undef SIM_LOAD
#define SIM_STORE(name)                            \
  template <class T>                               \
  __forceinline__ void name(T* address, T value) { \
    *address = value;                              \
  }
SIM_STORE(__stwb)
SIM_STORE(__stcg)
SIM_STORE(__stcs)
SIM_STORE(__stwt)
#undef SIM_STORE
__forceinline__ size_t __cvta_generic_to_shared(const void* address) { return (size_t)address; }
