// The scalar formulas as NVRTC sees them have the bits of the host's. Linked with
// formulas_device_form.cpp.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

#include "core/ops/derived_formulas.h"
#include "core/random_values.h"

template <class S>
void device_form(S x, S y, S* out);
float device_form_normal(unsigned long long seed, unsigned long long draw, unsigned long long i);

namespace {

constexpr int kFormulas = 22;

template <class S>
[[gnu::noinline]] void host_form(S x, S y, S* out) {
  namespace f = fuselet::formula;
  const S values[kFormulas] = {f::exp(x),
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

template <class S>
S next_sample(std::uint64_t& state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  std::uint64_t bits = state ^ state >> 29;
  // In turn any bits and ordinary sizes.
  if (state >> 63) return static_cast<S>(static_cast<double>(static_cast<std::int64_t>(bits << 1)) * 0x1p-59);
  S value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

TEST_CASE_TEMPLATE("the device form gives the host form's bits", S, float, double) {
  std::uint64_t state = 3;
  int wrong = 0;
  for (int i = 0; i < 100000; ++i) {
    S x = next_sample<S>(state), y = next_sample<S>(state), host[kFormulas], device[kFormulas];
    host_form(x, y, host);
    device_form(x, y, device);
    for (int k = 0; k < kFormulas; ++k) {
      bool nan = host[k] != host[k] && device[k] != device[k];
      wrong += !nan && std::memcmp(&host[k], &device[k], sizeof(S)) != 0;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("normals as well") {
  int wrong = 0;
  for (unsigned i = 0; i < 10000; ++i) {
    wrong += device_form_normal(7, 1, i) != fuselet::philox::normal_float(7, 1, i);
  }
  CHECK(wrong == 0);
}
