#include "backends/cuda/eager/reduce_dims.h"

#include "backends/cuda/eager/run_operator.h"
#include "core/ops/functions.h"
#include "core/ops/reduced_dims.h"

namespace fuselet::cuda {

void reduce_separate_dims(const Call& call) {
  if (call.outs[0].numel() == 0) return;
  const Tensor& x = call.tensor(0);
  const int64_t rank = x.dim();
  if (x.numel() == 0) {  // a sum over nothing; the others refuse it
    Tensor(call.outs[0]).copy_(0);
    return;
  }
  const uint64_t mask = reduced_dims(call.ints(1), rank, call.op->name);
  // x: kept dims, then reduced ones, as two dims of a copy in row-major order.
  std::vector<int64_t> order;
  int64_t kept = 1, reduced = 1;
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t d = 0; d < rank; ++d) {
      const bool is_reduced = mask >> d & 1;
      if (is_reduced != (pass == 1)) continue;
      order.push_back(d);
      (is_reduced ? reduced : kept) *= x.sizes()[static_cast<size_t>(d)].concrete();
    }
  }
  NoGradGuard no_grad;
  const Tensor together = permute(x, order).contiguous();
  const Tensor matrix = view(together, std::vector<int64_t>{kept, reduced});
  const Tensor out = view(call.outs[0], std::vector<int64_t>{kept});
  std::vector<Arg> args(call.args, call.args + call.num_args);
  const SymInt last[] = {1};
  const bool keepdim = false;
  args[0] = Arg(matrix);
  args[1] = Arg(DimsView(last, 1));
  args[2] = Arg(keepdim);
  Tensor outs[] = {out};
  run_into_outputs({call.op, args.data(), call.num_args, outs, 1, false, call.line});
}

}  // namespace fuselet::cuda
