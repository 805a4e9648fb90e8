#include "core/nonzero.h"

#include <cstring>

#include "core/copy_across.h"
#include "core/dispatch_state.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

// The next coordinates in row-major order.
void advance(InlineVector<int64_t, 6>& at, DimsView sizes) {
  for (size_t d = at.size(); d-- > 0;) {
    if (++at[d] < sizes[d].word()) return;
    at[d] = 0;
  }
}

}  // namespace

Tensor nonzero(const Tensor& t, const char* op) {
  if (dispatch_state().compiled_call || dispatch_state().recording) {
    throw NotImplementedError(
        concat(op, ": the size of its result depends on the elements, which a compiled function ",
               "cannot have; use where(), masked_fill() or x[mask] = number, or call it outside"));
  }
  NoGradGuard no_grad;
  const Tensor flags = on_host(t.dtype() == DType::Bool ? t : t != 0).contiguous();
  const bool* flag = flags.data<bool>();
  const int64_t total = flags.numel(), rank = t.dim();
  int64_t count = 0;
  for (int64_t i = 0; i < total; ++i) count += flag[i];
  const Tensor found = empty({count, rank}, DType::Int64, Device{});
  int64_t* row = found.data<int64_t>();
  InlineVector<int64_t, 6> at(static_cast<size_t>(rank), 0);
  for (int64_t i = 0; i < total; ++i, advance(at, t.sizes())) {
    if (!flag[i]) continue;
    for (int64_t d = 0; d < rank; ++d) *row++ = at[static_cast<size_t>(d)];
  }
  return found.to(t.device());
}

}  // namespace fuselet
