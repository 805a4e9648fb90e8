// Writes through a strided view several elements of which share a place: the results do not depend on timing.
//
// One thread a place of memory walks the positions of the view that lie there, in row-major order. It looks only at
// coordinates that the dimensions behind can still bring to its place; that is quick for windows that slide, while a
// view whose first dimension is long and steps less than a later one costs the place that dimension's size.
#pragma once
#include "core/tensor.h"

namespace fuselet::cuda {

// What a place gets from the elements that share it.
enum class Shared : uint8_t {
  Sum,       // what is there and all of them; 16-bit floats are summed in float and rounded once
  LastWins,  // the last one
};

// whole: a line. The view has the sizes of `values`, which share no memory with whole, and begins at `from`; it has
// elements and stays inside the line. Strides are not negative. No element in values: nothing happens.
void write_overlapping(const Tensor& whole, const Tensor& values, DimsView strides, int64_t from, Shared shared);

}  // namespace fuselet::cuda
