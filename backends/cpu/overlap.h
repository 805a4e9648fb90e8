// Whether an output shares memory with an input in a way that matters.
#pragma once
#include "core/tensor_impl.h"

namespace fuselet::cpu {

// False for tensors of separate memory and for the very same elements at the same places: then an element can be
// written once it has been read. May be true for interleaved views that share no element.
inline bool overlaps_partly(const TensorImpl& out, const TensorImpl& in) {
  if (&out == &in || out.storage() != in.storage()) return false;
  if (out.data() == in.data() && out.dtype() == in.dtype() && same_sizes(out.sizes(), in.sizes()) &&
      same_sizes(out.strides(), in.strides())) {
    return false;
  }
  // Strides are not negative, so a view reaches up from its first element.
  auto end = [](const TensorImpl& t) {
    return static_cast<const char*>(t.data()) +
           span_of(t.sizes(), t.strides()) * static_cast<int64_t>(size_of(t.dtype()));
  };
  return out.data() < end(in) && in.data() < end(out);
}

}  // namespace fuselet::cpu
