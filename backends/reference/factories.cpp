// Tensors made from numbers.
#include <cmath>

#include "backends/reference/reference.h"
#include "core/dispatch_state.h"

namespace fuselet::reference {

void full(RefCall& call) {
  const Scalar& value = call.scalar(1);
  DType natural = value.category() == Category::Float ? dispatch_state().default_dtype
                  : value.category() == Category::Int ? DType::Int64
                                                      : DType::Bool;
  call.outs = {make(call.ints(0), call.dtype_or(2, natural), value.to_double())};
}

// What the memory holds is anybody's guess, so only sizes and dtype are meant.
void empty(RefCall& call) { call.outs = {make(call.ints(0), call.dtype_or(1, dispatch_state().default_dtype))}; }

void arange(RefCall& call) {
  const Scalar zero(0);
  const Scalar& start = call.has(1) ? call.scalar(0) : zero;
  const Scalar& end = call.has(1) ? call.scalar(1) : call.scalar(0);
  const Scalar& step = call.scalar(2);
  bool fractional = false;
  for (const Scalar* s : {&start, &end, &step}) fractional = fractional || s->category() == Category::Float;
  double first = start.to_double(), by = step.to_double();
  int64_t count = static_cast<int64_t>(std::fmax(std::ceil((end.to_double() - first) / by), 0));
  RefTensor out = make({count}, call.dtype_or(3, fractional ? dispatch_state().default_dtype : DType::Int64));
  for (int64_t i = 0; i < count; ++i) out.values[static_cast<size_t>(i)] = first + static_cast<double>(i) * by;
  call.outs = {out};
}

}  // namespace fuselet::reference
