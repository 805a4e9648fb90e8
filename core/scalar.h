// A number given to an operator. A plain C++ or Python number is a constant of the call; a Scalar made from a HostCell
// is an input: what is read is the cell's value at the time of the run.
#pragma once
#include <cstdint>
#include <type_traits>

#include "core/dtype.h"
#include "core/host_cell.h"

namespace fuselet {

class Scalar {
 public:
  Scalar() : Scalar(0.0) {}
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      category_ = Category::Bool;
      int_ = value;
    } else if constexpr (std::is_integral_v<T>) {
      category_ = Category::Int;
      int_ = static_cast<int64_t>(value);
    } else {
      category_ = Category::Float;
      double_ = static_cast<double>(value);
    }
  }
  Scalar(CellPtr cell) : category_(Category::Float), double_(0), cell_(std::move(cell)) {}

  Category category() const { return category_; }
  double to_double() const {
    if (cell_) return cell_->get();
    return category_ == Category::Float ? double_ : static_cast<double>(int_);
  }
  // The same without leaving a mark on the cell: for who only hands the value on.
  double peek() const {
    return cell_ ? cell_->peek() : category_ == Category::Float ? double_ : static_cast<double>(int_);
  }
  int64_t to_int() const { return category_ == Category::Float ? static_cast<int64_t>(to_double()) : int_; }
  const CellPtr& cell() const { return cell_; }
  // Same category and same bits, or the same cell.
  friend bool operator==(const Scalar& a, const Scalar& b) {
    return a.category_ == b.category_ && a.int_ == b.int_ && a.cell_ == b.cell_;
  }

 private:
  Category category_ = Category::Float;
  union {
    double double_;
    int64_t int_;
  };
  CellPtr cell_;
};

}  // namespace fuselet
