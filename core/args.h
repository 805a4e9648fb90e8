// The argument types of the generated operator functions. Each converts from what a caller has at hand and is only a
// view: it must not outlive the call.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/scalar.h"
#include "core/shape.h"

namespace fuselet {

class Tensor;

// A list of sizes or dimensions: {2, 3}, a vector, the sizes of a tensor.
class IntList {
 public:
  IntList() = default;
  IntList(std::initializer_list<SymInt> v) : view_(v.begin(), v.size()) {}
  IntList(DimsView v) : view_(v) {}
  IntList(const Dims& v) : view_(v) {}
  IntList(const std::vector<int64_t>& v) : view_(reinterpret_cast<const SymInt*>(v.data()), v.size()) {
    for (int64_t i : v) (void)SymInt(i);  // Error if it is no size
  }
  // One dimension: x.sum(0).
  template <class Int>
  requires std::is_integral_v<Int> IntList(Int v) : single_(v), is_single_(true) {}
  DimsView view() const { return is_single_ ? DimsView(&single_, 1) : view_; }

 private:
  DimsView view_;
  SymInt single_ = 0;
  bool is_single_ = false;
};

class TensorList {
 public:
  TensorList() = default;
  TensorList(std::initializer_list<Tensor> v);
  TensorList(std::span<const Tensor> v);
  TensorList(const Tensor* data, size_t size) : data_(data), size_(size) {}
  TensorList(const std::vector<Tensor>& v);
  std::span<const Tensor> view() const;

 private:
  const Tensor* data_ = nullptr;
  size_t size_ = 0;
};

// A tensor or a number: the operand of a pointwise operator. Carries the line where the conversion stands, which for
// `a + b` is the user's own line.
class Operand {
 public:
  Operand(const Tensor& t, Location line = Location::current()) : tensor_(&t), line_(line) {}
  Operand(const Scalar& s, Location line = Location::current()) : scalar_(s), line_(line) {}
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T number, Location line = Location::current())
      : scalar_(number), line_(line) {}
  Operand(CellPtr cell, Location line = Location::current()) : scalar_(std::move(cell)), line_(line) {}

  const Tensor* tensor() const { return tensor_; }
  const Scalar& scalar() const { return scalar_; }
  const Location& line() const { return line_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_;
  Location line_;
};

}  // namespace fuselet
