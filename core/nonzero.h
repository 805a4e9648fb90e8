// Where the elements of a tensor are that are not 0: a result whose size depends on the elements.
#pragma once
#include "core/tensor.h"

namespace fuselet {

// int64 (count, rank): the coordinates of every element that is not 0, in row-major order, on the device of `t`; a 0-d
// tensor gives (0 or 1, 0). Of a tensor on a device this waits for it: the host counts. Not differentiable.
// NotImplementedError, naming `op`, inside a recording or a compiled function, where no size may depend on elements.
Tensor nonzero(const Tensor& t, const char* op = "nonzero");

}  // namespace fuselet
