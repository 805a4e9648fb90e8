// argmax: the first largest element; NaN counts as largest.
#include "backends/cpu/kernels.h"
#include "backends/cpu/reduce.h"

namespace fuselet::cpu {
namespace {

template <class T>
bool beats(T a, T b) {
  return a > b || (a != a && b == b);
}

template <class T>
void along_rows(const Reduction& r, int64_t* results) {
  parallel_for(r.outputs, std::max<int64_t>(kReductionGrain / r.n, 1), [&](int64_t begin, int64_t end) {
    alignas(64) T block[kChunk];
    for (int64_t output = begin; output < end; ++output) {
      const int64_t base = r.kept.offset(1, r.kept.unravel(output));
      int64_t best = -1;
      T largest{};
      for (int64_t first = 0; first < r.n; first += kChunk) {
        const int64_t length = std::min<int64_t>(kChunk, r.n - first);
        const int64_t stride = r.reduced.strides[1].back();
        r.reduced.for_each_run(1, r.reduced.unravel(first), length, [&](int64_t offset, int64_t n, int64_t done) {
          r.load(r.data + (base + offset) * r.element, stride, block + done, n);
        });
        T top = block[0];
        for (int64_t i = 1; i < length; ++i) top = beats(block[i], top) ? block[i] : top;
        if (best >= 0 && !beats(top, largest)) continue;
        int64_t i = 0;
        while (!(block[i] == top || (top != top && block[i] != block[i]))) ++i;
        best = first + i;
        largest = top;
      }
      results[output] = best;
    }
  });
}

// Row by row over a strip of neighbouring outputs, so that memory is read in order.
template <class T>
void along_columns(const Reduction& r, int64_t* results) {
  constexpr int64_t kStrip = 256;
  const int64_t strips = (r.outputs + kStrip - 1) / kStrip;
  parallel_for(strips, std::max<int64_t>(kReductionGrain / (r.n * kStrip), 1), [&](int64_t begin, int64_t end) {
    alignas(64) T block[kStrip], largest[kStrip];
    for (int64_t strip = begin; strip < end; ++strip) {
      const int64_t output = strip * kStrip, width = std::min(kStrip, r.outputs - output);
      const Index at = r.kept.unravel(output);
      const int64_t stride = r.kept.strides[1].back();
      Index row = r.reduced.unravel(0);
      for (int64_t i = 0; i < r.n; ++i, r.reduced.advance(row, 1)) {
        const int64_t shift = r.reduced.offset(1, row);
        r.kept.for_each_run(1, at, width, [&](int64_t offset, int64_t n, int64_t done) {
          r.load(r.data + (offset + shift) * r.element, stride, block + done, n);
        });
        for (int64_t k = 0; k < width; ++k) {
          if (i > 0 && !beats(block[k], largest[k])) continue;
          largest[k] = block[k];
          results[output + k] = i;
        }
      }
    }
  });
}

}  // namespace

void argmax(const Call& call) {
  const TensorImpl& self = *call.tensor(0).impl();
  int64_t* results = static_cast<int64_t*>(call.outs[0].impl()->data());
  SymInt dim = call.has(1) ? call.sym(1) : SymInt(0);
  const DimMask mask =
      reduced_dims(call.has(1) ? DimsView(&dim, 1) : DimsView(), static_cast<int64_t>(self.sizes().size()), "argmax");
  with_compute_type(self.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Reduction r(self, mask, kComputeType<T>);
    if (r.along_rows) {
      along_rows<T>(r, results);
    } else {
      along_columns<T>(r, results);
    }
  });
}

}  // namespace fuselet::cpu
