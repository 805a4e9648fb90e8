// Tensors for the tests: elements from a small generator of their own, in every memory layout, made without any
// operator.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "core/tensor.h"

namespace fuselet::testing {

// splitmix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
class SampleNumbers {
 public:
  explicit SampleNumbers(uint64_t seed) : state_(seed) {}
  // Of [0, 1).
  double uniform();
  // Of [low, high), and at least 0.1 away from every multiple of 1/2, where pointwise functions have their kinks.
  double smooth(double low, double high);
  // An integer of [low, high].
  int64_t whole(int64_t low, int64_t high);

 private:
  uint64_t state_;
};

// How the elements lie: in row-major order; every second entry of the last dimension of something larger, behind an
// offset; dimensions reversed in memory; the first dimension repeated without memory.
enum class Layout : uint8_t { Contiguous, Sliced, Permuted, Expanded };

// What elements are drawn: floats smooth or multiples of 1/2, integers and bools inside the same range, cut to what the
// dtype holds.
struct Elements {
  double low = -3, high = 3;
  bool halves = false;
};

Tensor sample_tensor(const std::vector<int64_t>& sizes, DType dtype, SampleNumbers& numbers, Elements elements = {},
                     Layout layout = Layout::Contiguous);
Tensor tensor_of(const std::vector<int64_t>& sizes, DType dtype, const std::vector<double>& values);

// Another tensor with the same elements, strides and offset in memory of its own.
Tensor copy_of(const Tensor& t);

}  // namespace fuselet::testing
