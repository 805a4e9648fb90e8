// max_pool2d_with_indices: the first largest element of each window; NaN counts as largest; padding is never chosen.
#include <algorithm>

#include "backends/cpu/dense.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "core/ops/window.h"

namespace fuselet::cpu {
namespace {

// Window positions of a thread below which waking another one does not pay.
constexpr int64_t kPoolGrain = 4096;

template <class T>
void pool(const Call& call, const WindowSpec& window) {
  const Tensor &self = call.tensor(0), &out = call.outs[0];
  const int64_t height = self.sizes()[2].word(), width = self.sizes()[3].word();
  const int64_t out_height = out.sizes()[2].word(), out_width = out.sizes()[3].word();
  const auto [sh, sw] = window.stride;
  const auto [ph, pw] = window.padding;
  const auto [dh, dw] = window.dilation;
  const int64_t reach_h = window.reach(0), reach_w = window.reach(1);
  // The first element of a window that is inside the plane.
  const auto inside = [](int64_t first, int64_t step) {
    return first < 0 ? first + (step - 1 - first) / step * step : first;
  };
  DenseIn<T> x(self);
  DenseOut<T> y(out);
  int64_t* places = static_cast<int64_t*>(call.outs[1].impl()->data());
  const int64_t positions = out_height * out_width;
  const int64_t planes = positions == 0 ? 0 : out.numel() / positions;
  parallel_for(planes, std::max<int64_t>(kPoolGrain / std::max<int64_t>(positions, 1), 1),
               [&, sh = sh, sw = sw, ph = ph, pw = pw, dh = dh, dw = dw](int64_t begin, int64_t end) {
                 for (int64_t plane = begin; plane < end; ++plane) {
                   const T* from = x.data() + plane * height * width;
                   int64_t at = plane * positions;
                   for (int64_t i = 0; i < out_height; ++i) {
                     const int64_t top = inside(i * sh - ph, dh), bottom = std::min(i * sh - ph + reach_h, height);
                     for (int64_t j = 0; j < out_width; ++j, ++at) {
                       const int64_t left = inside(j * sw - pw, dw), right = std::min(j * sw - pw + reach_w, width);
                       int64_t best = top * width + left;
                       for (int64_t r = top; r < bottom; r += dh) {
                         for (int64_t c = left; c < right; c += dw) {
                           const T value = from[r * width + c], largest = from[best];
                           if (value > largest || (value != value && largest == largest)) best = r * width + c;
                         }
                       }
                       y.data()[at] = from[best];
                       places[at] = best;
                     }
                   }
                 }
               });
  y.finish();
}

}  // namespace

void max_pool2d_with_indices(const Call& call) {
  const WindowSpec window = window_of(call.ints(1), call.ints(2), call.ints(3), call.ints(4), "max_pool2d");
  with_compute_type(call.tensor(0).dtype(), [&](auto zero) { pool<decltype(zero)>(call, window); });
}

}  // namespace fuselet::cpu
