// Calls a reference by the operator's name on tensors written as literals.
#pragma once
#include <doctest/doctest.h>

#include "backends/reference/reference.h"

namespace fuselet::reference {

inline RefTensor tensor(std::vector<int64_t> sizes, std::vector<double> values, DType dtype = DType::Float64) {
  RefTensor t = make(std::move(sizes), dtype);
  t.values = std::move(values);
  return t;
}

inline bool operator==(const RefTensor& a, const RefTensor& b) {
  return a.sizes == b.sizes && a.values == b.values && a.dtype == b.dtype;
}

// As ==, with values within 1e-12 of each other.
inline bool near(const RefTensor& a, const RefTensor& b) {
  if (a.sizes != b.sizes || a.dtype != b.dtype) return false;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (!(a.values[i] - b.values[i] <= 1e-12 && b.values[i] - a.values[i] <= 1e-12)) return false;
  }
  return true;
}

inline std::vector<RefTensor> run_all(const char* name, std::vector<RefArg> args, GeneratorState draw = {}) {
  return evaluate(*find_op(name), args, draw);
}
inline RefTensor run(const char* name, std::vector<RefArg> args, GeneratorState draw = {}) {
  return run_all(name, args, draw)[0];
}

inline doctest::String toString(const RefTensor& t) {
  std::string text = concat(name_of(t.dtype), " [");
  for (int64_t s : t.sizes) text += concat(s, " ");
  text += "] {";
  for (double v : t.values) text += concat(v, " ");
  return (text + "}").c_str();
}

}  // namespace fuselet::reference
