// slice_scatter, as_strided_scatter, as_strided_grad on CUDA: a tensor with a view of it replaced, or added to.
//
// Views whose elements lie apart are written by copies. Where several elements of a strided view share a place, one
// thread a place (overlapping_view.h) lets the last of them win, or adds them in row-major order.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

void slice_scatter(const Call& call);
// The offset counts from the start of self's storage, as that of as_strided does. Error where the view reaches beyond
// self.
void as_strided_scatter(const Call& call);
// The offset counts from self's first element.
void as_strided_grad(const Call& call);

}  // namespace fuselet::cuda
