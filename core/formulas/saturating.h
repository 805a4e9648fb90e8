// tanh and erf, at most 2 ulp in float over all inputs; the C library's in double.
#pragma once

#include "core/formulas/exponential.h"

namespace fuselet::formula {

template <class V>
FUSELET_FN V tanh(V x) {
  if constexpr (kIsFloat<V>) {
    V magnitude = abs(x);
    V z = x * x;
    // |x| <= 0.625, error 2^-26.8.
    V small =
        fma(x * z, polynomial(z, -0x1.555532p-2f, 0x1.110726p-3f, -0x1.b83c5ap-5f, 0x1.5226a2p-6f, -0x1.75e1e8p-8f), x);
    V large = 1.0f - 2.0f / (exp(magnitude + magnitude) + 1.0f);
    // The sign on top of everything, for `small` loses that of -0.
    return with_sign_of(select(magnitude <= 0.625f, small, large), x);
  } else {
    return map_lanes([](double lane) { return library_tanh(lane); }, x);
  }
}

template <class V>
FUSELET_FN V erf(V x) {
  if constexpr (kIsFloat<V>) {
    V magnitude = abs(x);
    V z = x * x;
    // |x| <= 0.921875, error 2^-25.
    V small = fma(x,
                  polynomial(z, 0x1.06eba6p-3f, -0x1.8126e6p-2f, 0x1.ce1a6ap-4f, -0x1.b68b54p-6f, 0x1.473baap-8f,
                             -0x1.3a17e6p-11f),
                  x);
    // log(erfc(|x|)) up to 4, where erf rounds to 1; error 2^-27 of erf.
    V bounded = select(magnitude > 4.0f, splat<V>(4.0f), magnitude);
    V log_erfc = polynomial(bounded, 0x1.6f64d2p-13f, -0x1.21280cp+0f, -0x1.444568p-1f, -0x1.bb898ap-4f, 0x1.9b9d1ap-6f,
                            -0x1.1170fcp-8f, 0x1.c7da54p-12f, -0x1.624fcap-16f);
    V large = 1.0f - exp(log_erfc);
    return select(magnitude <= 0.921875f, small, with_sign_of(large, x));
  } else {
    return map_lanes([](double lane) { return library_erf(lane); }, x);
  }
}

template <class V>
FUSELET_FN V tanh_grad(V g, V y) {
  return g * fma(-y, y, splat<V>(1));
}

}  // namespace fuselet::formula
