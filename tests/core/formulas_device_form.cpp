// The device form of the formulas, compiled by the host compiler against stand-ins for the CUDA
// intrinsics they name. formulas_device_test.cpp compares it with the host form; the two must not
// meet in one translation unit.
#include <bit>
#include <cmath>

#define __CUDACC_RTC__
#define FUSELET_HOST_STAND_IN
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define fuselet fuselet_device_form

inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

#include "core/ops/derived_formulas.h"
#include "core/random_values.h"

#undef fuselet

template <class S>
void device_form(S x, S y, S* out) {
  namespace f = fuselet_device_form::formula;
  const S values[] = {f::exp(x),
                      f::log(x),
                      f::tanh(x),
                      f::erf(x),
                      f::sigmoid(x),
                      f::silu(x),
                      f::gelu_erf(x),
                      f::gelu_tanh(x),
                      f::gelu_erf_grad(y, x),
                      f::gelu_tanh_grad(y, x),
                      f::silu_grad(y, x),
                      f::sin(x),
                      f::cos(x),
                      f::pow(x, y),
                      f::sqrt(x),
                      f::rsqrt(x),
                      f::floor(x),
                      f::round(x),
                      f::maximum(x, y),
                      f::minimum(x, y),
                      f::sign(x),
                      f::relu(x)};
  for (S value : values) *out++ = value;
}
template void device_form(float, float, float*);
template void device_form(double, double, double*);

float device_form_normal(unsigned long long seed, unsigned long long draw, unsigned long long i) {
  return fuselet_device_form::philox::normal_float(seed, draw, i);
}
