// Results in the layout that the tensors handed out while recording were given.
#pragma once
#include "core/op.h"

namespace fuselet::replay {

// From the first element of its storage, with the strides of `meta`.
bool has_layout(const Tensor& t, const TensorMeta& meta);
Tensor copy_in_layout(const Tensor& t, const TensorMeta& meta);
// `result` itself if it has the layout and nobody else holds it or its memory; a copy otherwise.
Tensor in_layout(Tensor result, const TensorMeta& meta);

}  // namespace fuselet::replay
