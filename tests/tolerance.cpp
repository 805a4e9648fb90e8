#include "tests/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fuselet::testing {
namespace {

constexpr double kWrong = std::numeric_limits<double>::infinity();

double percent_of(double got, double want, double allowed) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  if (got == want) return 0;
  if (std::isinf(want) || std::isinf(got) || allowed == 0) return kWrong;
  return 100 * std::fabs(got - want) / allowed;
}

}  // namespace

Tolerance tolerance_of(std::string_view op, DType dtype, bool decomposed) {
  if (!is_float(dtype)) return {0, 0};
  auto found =
      std::find_if(std::begin(kTolerances), std::end(kTolerances), [&](const ToleranceRow& r) { return r.op == op; });
  const ToleranceRow& row = found == std::end(kTolerances) ? kTolerances[0] : *found;
  // A product of size 30 that is rounded to the dtype before a bias is added is off by 15 eps.
  double steps = decomposed ? 16 * eps_of(dtype) : 0;
  double smallest = dtype == DType::Float16 ? 0x1p-24 : 0;  // spacing of subnormals
  return {row.atol * compute_eps_of(dtype) + steps + smallest, row.scale * (decomposed ? 2 : 1)};
}

Comparison compare(const Tensor& got, const reference::RefTensor& want, Tolerance allowed) {
  if (!got.defined()) return {kWrong, "the result is undefined"};
  std::vector<int64_t> sizes;
  for (SymInt s : got.sizes()) sizes.push_back(s.concrete());
  if (sizes != want.sizes)
    return {kWrong,
            concat("the shape is ", to_string(got.sizes()), ", expected ", to_string(IntList(want.sizes).view()))};
  if (got.dtype() != want.dtype)
    return {kWrong, concat("the dtype is ", name_of(got.dtype()), ", expected ", name_of(want.dtype))};
  Comparison worst;
  std::vector<double> values = got.to_vector();
  for (size_t i = 0; i < values.size(); ++i) {
    double expected = want.values[i];
    double percent =
        percent_of(values[i], expected, allowed.atol + eps_of(want.dtype) * std::fabs(expected) * allowed.scale);
    if (percent > worst.percent) worst = {percent, concat("element ", i, " is ", values[i], ", expected ", expected)};
  }
  return worst;
}

}  // namespace fuselet::testing
