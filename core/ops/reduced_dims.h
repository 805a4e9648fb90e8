// Which dimensions a reduction folds, and the bounds of arange: shared by shape rules, kernels, VJPs and reference.
#pragma once
#include <cstdint>

#include "core/op.h"

namespace fuselet {

// Bit d set: dimension d is reduced.
using DimMask = uint64_t;

// An empty list means all dimensions. IndexError out of range, Error for one named twice.
DimMask reduced_dims(DimsView dims, int64_t rank, const char* op);
// How many elements fold into one result.
double count_reduced(DimsView sizes, DimMask mask);
Dims sizes_without(DimsView sizes, DimMask mask, bool keepdim);

struct ArangeBounds {
  double start, end, step;
  bool integral;
};
ArangeBounds arange_bounds(const Call& call);

}  // namespace fuselet
