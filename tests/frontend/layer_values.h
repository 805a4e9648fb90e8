// What layer tests share: inputs and parameters that PyTorch can be given as well, and the comparison with its results.
#pragma once
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <string>
#include <vector>

namespace fuselet {

// As many, and each within the part `relative` of 1 and of the value together.
inline void check_near(const std::vector<double>& got, const std::vector<double>& expected, double relative = 1e-6) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(expected[i]).epsilon(relative));
}
inline void check_close(const Tensor& got, const std::vector<double>& expected) {
  check_near(got.to_vector(), expected, 1e-5);
}

// cos(0.9 i), i counting elements.
inline Tensor wave(IntList sizes) {
  const double count = static_cast<double>(numel_of(sizes.view()).concrete());
  return cos(arange(0.0, count, 1, DType::Float64) * 0.9).to(DType::Float32).reshape(sizes);
}

// Sets parameters to sin(0.7 i) / 2, i counting through all of them in their order.
inline void fill(const nn::Module& module) {
  NoGradGuard no_grad;
  int64_t first = 0;
  for (const Tensor& p : module.parameters()) {
    Tensor values = sin((arange(0.0, static_cast<double>(p.numel()), 1, DType::Float64) + first) * 0.7) * 0.5;
    p.copy_(values.reshape(p.sizes()));
    first += p.numel();
  }
}

inline std::vector<std::string> parameter_names(const nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, value] : module.named_parameters()) names.push_back(name);
  return names;
}

}  // namespace fuselet
