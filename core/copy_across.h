// Copies of elements between devices, and what host code reads of a tensor wherever it is.
//
// A backend registers the one function that moves elements from and to its devices; there is one such backend. Copies
// within a device are operators.
#pragma once
#include "core/tensor.h"

namespace fuselet {

// Writes the elements of `from`, broadcast to the shape and cast to the dtype of `to`, which is on another device. With
// non_blocking, a copy from or to pinned memory may still run on the device's current stream afterwards.
using CopyAcross = void (*)(const Tensor& to, const Tensor& from, bool non_blocking);
void register_copy_across(CopyAcross copy);
void copy_across(const Tensor& to, const Tensor& from, bool non_blocking);

// The tensor itself if it is in host memory, else a copy there: nothing is recorded, and nothing still runs.
Tensor on_host(const Tensor& t);

}  // namespace fuselet
