// Reading and writing a tensor through index tensors, one for each of some of its dimensions: x[i, :, j].
//
// The index tensors broadcast together to a shape I; entry k of the result is x at their k-th elements. Where the
// indexed dimensions are neighbours, I stands in their place, else in front. Negative indices count from the end;
// IndexError outside. Several index tensors on a device are waited for, to be checked.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace fuselet {

// For each dimension of the tensor its index tensor, or an undefined one: every entry. Integers; at least one defined.
using IndexTensors = std::vector<Tensor>;

Tensor read_at(const Tensor& self, const IndexTensors& indices);

// Writes `values`, broadcast to what read_at would give and cast to self's dtype. Of equal indices the last one wins;
// with `accumulate` the values are added, in index order.
void write_at(const Tensor& self, const IndexTensors& indices, const Tensor& values, bool accumulate);

}  // namespace fuselet
