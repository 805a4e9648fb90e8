// The arithmetic of views that shape rules, kernels and reference share.
#pragma once
#include <optional>

#include "core/op.h"

namespace fuselet {

struct SliceBounds {
  SymInt start, step, count;
};

// Bounds of a slice whose start, end and step are arguments first_arg, first_arg + 1, first_arg + 2.
SliceBounds slice_bounds(const Call& call, int first_arg, SymInt size);
// Maps an index of [-size, size) to [0, size); IndexError outside.
SymInt wrap_index(SymInt index, SymInt size, int64_t dim, const char* op);
// Sizes with -1 filled in; Error if they do not hold `numel` elements.
Dims resolve_sizes(DimsView requested, SymInt numel, const char* op);
// Strides under which (sizes, strides) shows the same elements in shape `to`; nothing if only a copy can.
std::optional<Dims> view_strides(DimsView sizes, DimsView strides, DimsView to);

}  // namespace fuselet
