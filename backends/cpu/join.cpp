// cat: each tensor goes to its own slice of the result.
#include "backends/cpu/copy.h"
#include "backends/cpu/kernels.h"

namespace fuselet::cpu {

void cat(const Call& call) {
  const Tensor& out = call.outs[0];
  const size_t dim = static_cast<size_t>(wrap_dim(call.integer(1), out.dim(), "cat"));
  SymInt start = 0;
  for (const Tensor& part : call.tensors(0)) {
    Tensor slice(make_intrusive<TensorImpl>(out.impl()->storage(), Dims(part.sizes()), Dims(out.strides()),
                                            out.impl()->offset() + start * out.strides()[dim], out.dtype()));
    copy_into(slice, part);
    start += part.sizes()[dim];
  }
}

}  // namespace fuselet::cpu
