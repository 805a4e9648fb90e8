#include "backends/cuda/join.h"

#include <algorithm>

#include "backends/cuda/temporaries.h"

namespace fuselet::cuda {

void cat(const Call& call) {
  const Tensor& out = call.outs[0];
  const std::span<const Tensor> parts = call.tensors(0);
  const bool overlaps = std::any_of(parts.begin(), parts.end(), [&](const Tensor& t) { return may_overlap(out, t); });
  const Tensor joined = overlaps ? new_tensor(out.sizes(), out.dtype(), out.device()) : out;
  const size_t dim = static_cast<size_t>(wrap_dim(call.integer(1), out.dim(), "cat"));
  int64_t start = 0;
  for (const Tensor& part : parts) {
    copy_into(view_of(joined, Dims(part.sizes()), Dims(joined.strides()), start * joined.strides()[dim].word()), part);
    start += part.sizes()[dim].word();
  }
  copy_into(out, joined);
}

}  // namespace fuselet::cuda
