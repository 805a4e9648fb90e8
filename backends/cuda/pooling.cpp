#include "backends/cuda/pooling.h"

#include <algorithm>
#include <limits>

#include "backends/cuda/temporaries.h"
#include "backends/cuda/text_kernel.h"
#include "backends/cuda/window_kernels.h"

namespace fuselet::cuda {

void max_pool2d_with_indices(const Call& call) {
  const Tensor &out = call.outs[0], &places = call.outs[1];
  if (out.numel() == 0) return;
  const Tensor x = dense(call.tensor(0), out.dtype());
  WindowArgs args;
  set_window(args, window_of(call.ints(1), call.ints(2), call.ints(3), call.ints(4), "max_pool2d"));
  args.from = address_of(x), args.to = address_of(out), args.places = address_of(places), args.count = out.numel();
  args.images = x.sizes()[0].word(), args.channels = x.sizes()[1].word();
  args.height = x.sizes()[2].word(), args.width = x.sizes()[3].word();
  args.out_height = out.sizes()[2].word(), args.out_width = out.sizes()[3].word();
  // Every index that a thread forms, a block past the end included.
  const bool wide =
      std::max(x.numel(), out.numel()) > std::numeric_limits<int32_t>::max() - int64_t{kTextKernelThreads};
  launch_text_kernel(max_pool_text(out.dtype(), wide), out.numel(), args, out.device());
}

}  // namespace fuselet::cuda
