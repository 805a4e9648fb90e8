#include "backends/cuda/codegen/accuracy.h"

namespace fuselet::cuda::codegen {

using kernel::Kind;
using kernel::Statement;

std::vector<bool> may_be_rough(const kernel::Nest& nest) {
  const size_t count = nest.body.size();
  // Uses that lose nothing by it, and whether there is another.
  std::vector<bool> used(count), precise(count);
  for (size_t i = count; i-- > 0;) {
    const Statement& s = nest.body[i];
    const bool rounds =
        (s.kind == Kind::Convert || s.kind == Kind::Store) && is_float(s.dtype) && size_of(s.dtype) == 2;
    const bool hands_on = (s.kind == Kind::Formula && s.dtype == DType::Float32 && s.compute == DType::Float32) ||
                          (s.kind == Kind::Reduce && s.dtype == DType::Float32);
    const bool harmless = rounds || (hands_on && used[i] && !precise[i]);
    for (int32_t a : s.args) {
      used[static_cast<size_t>(a)] = true;
      if (!harmless) precise[static_cast<size_t>(a)] = true;
    }
    for (const kernel::IndexedDim& d : s.indices) precise[static_cast<size_t>(d.statement)] = true;
  }
  std::vector<bool> rough(count);
  for (size_t i = 0; i < count; ++i) {
    const Statement& s = nest.body[i];
    rough[i] =
        s.kind == Kind::Formula && s.dtype == DType::Float32 && s.compute == DType::Float32 && used[i] && !precise[i];
  }
  return rough;
}

}  // namespace fuselet::cuda::codegen
