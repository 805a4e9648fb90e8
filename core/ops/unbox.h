// Typed views of boxed arguments, for the adaptors that the generator writes.
#pragma once
#include "core/op.h"

namespace fuselet {

inline Operand unbox_operand(const Call& call, int i) {
  return call.is_tensor(i) ? Operand(call.tensor(i)) : Operand(call.scalar(i));
}

inline const Tensor& unbox_optional_tensor(const Call& call, int i) {
  static const Tensor kNone;
  return call.has(i) ? call.tensor(i) : kNone;
}

}  // namespace fuselet
