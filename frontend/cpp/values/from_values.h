// Tensors from values that the host has: nested lists, vectors, foreign memory.
//
//   tensor(2.5)                     a 0-d float tensor
//   tensor({{1, 2}, {3, 4}})        shape (2, 2); int64 if every literal is an integer, bool if every one is a bool
//   from_vector(labels, {2, 3})     copies; dtype of the vector's element type
//   from_blob(data, {2, 3}, dtype)  shares the memory, which must outlive the tensor or be freed by `release`
#pragma once
#include <functional>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "core/tensor.h"

namespace fuselet {

// A number or a nested list of numbers, as written in braces. Error where inner lists differ in shape.
class NestedValues {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> NestedValues(T value)
      : category_(std::is_same_v<T, bool> ? Category::Bool
                  : std::is_integral_v<T> ? Category::Int
                                          : Category::Float),
        doubles_{static_cast<double>(value)},
        ints_{static_cast<int64_t>(value)} {}
  NestedValues(std::initializer_list<NestedValues> items);

  const std::vector<int64_t>& sizes() const { return sizes_; }
  Category category() const { return category_; }
  Tensor materialize(DType dtype) const;

 private:
  std::vector<int64_t> sizes_;
  Category category_ = Category::Bool;
  std::vector<double> doubles_;
  std::vector<int64_t> ints_;
};

Tensor tensor(const NestedValues& values, std::optional<DType> dtype = std::nullopt);

// The dtype whose element is T.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, double>)
    return DType::Float64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::Float32;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::Int8;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::UInt8;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return DType::Int32;
  else {
    static_assert(std::is_integral_v<T> && sizeof(T) == 8, "no dtype has this element type");
    return DType::Int64;
  }
}

// A tensor with a copy of the bytes; `data` holds as many elements as `sizes` ask for. In host memory, or on the
// default device.
Tensor copy_bytes(const void* data, IntList sizes, DType dtype);
Tensor from_bytes(const void* data, IntList sizes, DType dtype);

template <class T>
Tensor from_span(std::span<const T> values, IntList sizes) {
  FUSELET_CHECK(static_cast<int64_t>(values.size()) == numel_of(sizes.view()).concrete(),
                "from_vector: ", values.size(), " values do not fill the shape ", to_string(sizes.view()));
  return from_bytes(values.data(), sizes, dtype_of<T>());
}
template <class T>
Tensor from_vector(const std::vector<T>& values, IntList sizes) {
  return from_span(std::span<const T>(values), sizes);
}
template <class T>
Tensor from_vector(const std::vector<T>& values) {
  return from_span(std::span<const T>(values), IntList(values.size()));
}

Tensor from_blob(void* data, IntList sizes, DType dtype, std::function<void()> release = {});

}  // namespace fuselet
