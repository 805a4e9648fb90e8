// The sliding window of convolutions and pooling.
#pragma once
#include <array>

#include "core/op.h"

namespace fuselet {

struct WindowSpec {
  std::array<int64_t, 2> kernel, stride, padding;
  // Number of positions along axis 0 (height) or 1 (width).
  SymInt out_size(SymInt in, int axis, const char* op) const;
};

// One number stands for both axes; an empty stride means the kernel's size.
WindowSpec window_of(DimsView kernel, DimsView stride, DimsView padding, const char* op);

}  // namespace fuselet
