#include "backends/reference/interpret_kernel.h"

#include <cmath>
#include <limits>

#include "backends/reference/random_elements.h"
#include "backends/reference/reference.h"
#include "core/casts.h"
#include "core/element.h"

namespace fuselet::reference {
namespace {

using kernel::Combine;
using kernel::Statement;
using kernel::Value;

struct DoubleArithmetic {
  Value convert(Value v, DType from, DType to) const {
    if (is_float(to)) return {is_float(from) ? v.number : static_cast<double>(v.integer), 0};
    if (to == DType::Bool) return {0, is_float(from) ? v.number != 0 : v.integer != 0};
    return visit_dtype(to, [&](auto zero) -> Value {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>) {
        return {0, is_float(from) ? static_cast<int64_t>(cast_to_integer<T>(v.number))
                                  : int64_t{static_cast<T>(v.integer)}};
      } else {
        return {};
      }
    });
  }
  Value constant(const Statement& s) const { return is_float(s.dtype) ? Value{s.number, 0} : Value{0, s.integer}; }
  Value scalar(double x, DType) const { return {x, 0}; }
  Value load(DType t, const void* data, int64_t element) const {
    return is_float(t) ? Value{load_element(t, data, element), 0} : Value{0, load_element_int(t, data, element)};
  }
  void store(DType t, void* data, int64_t element, Value v) const {
    if (is_float(t))
      store_element(t, data, element, v.number);
    else
      store_element_int(t, data, element, v.integer);
  }
  Value formula(const Statement& s, const Value* args) const {
    double x[8];
    for (size_t k = 0; k < s.args.size(); ++k) {
      x[k] = is_float(s.compute) ? args[k].number : static_cast<double>(args[k].integer);
    }
    const double y = rule_of(op_of(s.op)).point(x);
    return is_float(s.compute) ? Value{y, 0} : Value{0, cast_to_integer<int64_t>(y)};
  }
  Value random(const Statement& s, GeneratorState draw, uint64_t element) const {
    switch (s.distribution) {
      case kernel::Distribution::Uniform:
        return {uniform_element(draw, element, s.dtype), 0};
      case kernel::Distribution::Normal:
        return {normal_element(draw, element), 0};
      case kernel::Distribution::Bernoulli:
        break;
    }
    return {0, bernoulli_element(draw, element, s.threshold)};
  }
  Value reduce(const Statement& s, DType accumulator, const std::vector<Value>& terms) const {
    return is_float(accumulator) ? Value{reduce_numbers(s.combine, terms), 0}
                                 : Value{0, reduce_integers(s.combine, terms)};
  }
  static double reduce_numbers(Combine combine, const std::vector<Value>& terms) {
    const double infinity = std::numeric_limits<double>::infinity();
    double result = combine == Combine::Sum ? 0 : combine == Combine::Max ? -infinity : infinity;
    for (const Value& v : terms) {
      const double x = v.number;
      if (combine == Combine::Sum)
        result += x;
      else if (std::isnan(x) || std::isnan(result))
        result = std::numeric_limits<double>::quiet_NaN();
      else
        result = combine == Combine::Max ? std::fmax(result, x) : std::fmin(result, x);
    }
    return result;
  }
  static int64_t reduce_integers(Combine combine, const std::vector<Value>& terms) {
    using Limits = std::numeric_limits<int64_t>;
    int64_t result = combine == Combine::Sum ? 0 : combine == Combine::Max ? Limits::min() : Limits::max();
    for (const Value& v : terms) {
      if (combine == Combine::Sum)
        result = static_cast<int64_t>(static_cast<uint64_t>(result) + static_cast<uint64_t>(v.integer));
      else
        result = combine == Combine::Max ? std::max(result, v.integer) : std::min(result, v.integer);
    }
    return result;
  }
};

}  // namespace

int interpret(const kernel::Kernel& kernel, const kernel::KernelArguments& arguments) {
  return kernel::interpret(DoubleArithmetic(), kernel, arguments);
}

}  // namespace fuselet::reference
