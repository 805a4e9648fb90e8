// Index tensors as checked arrays.
#pragma once
#include <cstdint>

#include "backends/cpu/dense.h"

namespace fuselet::cpu {

// Row-major int64 indices, wrapped from [-size, size) to [0, size). Throws IndexError naming the operator, the index
// and the size, so a kernel reads its indices before it writes anything.
class Indices {
 public:
  Indices(const Tensor& index, int64_t size, const char* op);
  const int64_t* data() const { return values_.as<int64_t>(); }
  int64_t* data() { return values_.as<int64_t>(); }
  int64_t count() const { return count_; }

 private:
  int64_t count_;
  Scratch values_;
};

// The size of a dimension; a 0-d tensor counts as one of a single element.
inline int64_t extent(const Tensor& t, int64_t dim) {
  return t.dim() == 0 ? 1 : t.sizes()[static_cast<size_t>(dim)].word();
}

}  // namespace fuselet::cpu
