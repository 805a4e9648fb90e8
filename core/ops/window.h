// The sliding window of convolutions and pooling.
#pragma once
#include <array>

#include "core/op.h"

namespace fuselet {

struct WindowSpec {
  std::array<int64_t, 2> kernel, stride, padding, dilation = {1, 1};
  // A last window that begins inside but ends beyond the padded elements counts too.
  bool ceil_mode = false;
  // Elements from a window's first to its last along an axis.
  int64_t reach(size_t axis) const { return dilation[axis] * (kernel[axis] - 1) + 1; }
  // Number of positions along axis 0 (height) or 1 (width).
  SymInt out_size(SymInt in, int axis, const char* op) const;
};

// One number stands for both axes; an empty stride means the kernel's size.
WindowSpec window_of(DimsView kernel, DimsView stride, DimsView padding, DimsView dilation, const char* op);

}  // namespace fuselet
