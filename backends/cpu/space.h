// The index space that the operands of a kernel share, with each operand's strides over it.
//
// Built by adding operands (broadcast to the sizes), then simplified: dimensions of size 1 go, the rest is ordered by
// the strides of operand 0 from slow to fast, and neighbours that all operands cross without a gap become one
// dimension. The order of elements changes, so a space suits kernels that treat each element alone.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/inline_vector.h"
#include "core/shape.h"

namespace fuselet::cpu {

using Index = InlineVector<int64_t, 6>;

inline constexpr int kMaxOperands = 5;

struct Space {
  Index sizes;
  int operands = 0;
  Index strides[kMaxOperands];  // in elements

  explicit Space(DimsView shape);
  // Aligned at the last dimension; an operand without strides is the same everywhere.
  void add(DimsView operand_sizes, DimsView operand_strides);
  // On exit there is at least one dimension.
  void simplify();

  int64_t numel() const;
  // True iff the operand's elements lie one after another in the order of the space.
  bool is_linear(int operand) const;
  bool is_uniform(int operand) const;
  // The coordinates of the element `position` in the order of the space.
  Index unravel(int64_t position) const;
  // Moves the coordinates on by n elements.
  void advance(Index& at, int64_t n) const;
  int64_t offset(int operand, const Index& at) const;

  // Calls f(offset, length, done) for the stretches along the last dimension that make up the n elements from `at`;
  // `done` elements came before.
  template <class F>
  void for_each_run(int operand, Index at, int64_t n, F&& f) const {
    const Index& step = strides[operand];
    const size_t last = sizes.size() - 1;
    int64_t from = offset(operand, at);
    for (int64_t done = 0;;) {
      int64_t length = std::min(n - done, sizes[last] - at[last]);
      f(from, length, done);
      done += length;
      if (done == n) return;
      from -= at[last] * step[last];
      at[last] = 0;
      for (size_t d = last; d-- > 0;) {
        from += step[d];
        if (++at[d] < sizes[d]) break;
        from -= at[d] * step[d];
        at[d] = 0;
      }
    }
  }
};

}  // namespace fuselet::cpu
