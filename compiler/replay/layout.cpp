#include "compiler/replay/layout.h"

#include "core/ops/functions.h"

namespace fuselet::replay {

bool has_layout(const Tensor& t, const TensorMeta& meta) {
  return t.impl()->offset() == 0 && same_sizes(t.strides(), meta.strides);
}

Tensor copy_in_layout(const Tensor& t, const TensorMeta& meta) {
  NoGradGuard no_grad;
  Dims flat = {span_of(meta.sizes, meta.strides)};
  Tensor out = empty(flat, meta.dtype, meta.device).as_strided(meta.sizes, meta.strides);
  Tensor from = t, to = out;
  for (size_t d = 0; d < meta.sizes.size(); ++d) {
    if (meta.strides[d] != 0 || meta.sizes[d] == 0) continue;
    // All entries of an expanded dimension are one.
    from = from.narrow(static_cast<int64_t>(d), 0, 1);
    to = to.narrow(static_cast<int64_t>(d), 0, 1);
  }
  to.copy_(from);
  return out;
}

Tensor in_layout(Tensor result, const TensorMeta& base) {
  bool sole = result.impl()->use_count() == 1 && result.impl()->storage()->use_count() == 1;
  return sole && has_layout(result, base) ? result : copy_in_layout(result, base);
}

}  // namespace fuselet::replay
