#include "backends/cuda/scatter/overlapping_view.h"

#include <algorithm>
#include <vector>

#include "backends/codegen/statement_text.h"
#include "backends/cuda/kernel_source.h"
#include "backends/cuda/temporaries.h"
#include "backends/cuda/text_kernel.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

constexpr const char* kWritePlaces = R"text(
struct ViewArgs {
  Element* to;
  const Element* values;
  long count;
  long sizes[RANK], strides[RANK], reach[RANK + 1];  // reach[d]: largest offset by the dimensions from d on
};
// Takes in the positions that bring dimensions kDim, … to `offset`; the earlier ones have the number `position`.
template <int kDim>
__device__ __forceinline__ void take_in(const ViewArgs& a, Index offset, Index position, Sum& result) {
  if constexpr (kDim == RANK) {
    if (offset != 0) return;
    const Sum value = (Sum)held(a.values[position]);
    result = LAST_WINS ? value : formula::add(result, value);
  } else {
    const Index stride = (Index)a.strides[kDim], beyond = offset - (Index)a.reach[kDim + 1];
    Index first = 0, last = (Index)a.sizes[kDim] - 1;
    if (stride > 0) {
      if (offset / stride < last) last = offset / stride;
      if (beyond > 0) first = (beyond + stride - 1) / stride;
    }
    for (Index i = first; i <= last; ++i)
      take_in<kDim + 1>(a, offset - i * stride, position * (Index)a.sizes[kDim] + i, result);
  }
}
extern "C" __global__ void kernel(const ViewArgs a) {
  const Index at = (Index)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (Index)a.count) return;
  Sum result = (Sum)held(a.to[at]);
  take_in<0>(a, at, 0, result);
  a.to[at] = stored<Element>(convert<Element>(result));
}
)text";

struct View {
  std::vector<int64_t> sizes, strides;
};

// Without dimensions of one element, and with neighbours as one that walk memory as one.
View simplified(DimsView sizes, DimsView strides) {
  View v;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t size = sizes[d].word(), stride = strides[d].word();
    if (size == 1) continue;
    if (!v.sizes.empty() && v.strides.back() == size * stride) {
      v.sizes.back() *= size, v.strides.back() = stride;
    } else {
      v.sizes.push_back(size), v.strides.push_back(stride);
    }
  }
  return v;
}

}  // namespace

void write_overlapping(const Tensor& whole, const Tensor& values, DimsView strides, int64_t from, Shared shared) {
  if (values.numel() == 0) return;
  const Tensor source = dense(values, whole.dtype());
  const View view = simplified(values.sizes(), strides);
  std::vector<int64_t> reach(view.sizes.size() + 1, 0);
  for (size_t d = view.sizes.size(); d-- > 0;) reach[d] = reach[d + 1] + (view.sizes[d] - 1) * view.strides[d];
  const int64_t count = reach[0] + 1;  // places from the view's first element to its last
  std::vector<int64_t> args = {
      static_cast<int64_t>(address_of(whole) + static_cast<uint64_t>(from) * size_of(whole.dtype())),
      static_cast<int64_t>(address_of(source)), count};
  auto append = [&](const std::vector<int64_t>& words) { args.insert(args.end(), words.begin(), words.end()); };
  append(view.sizes), append(view.strides), append(reach);
  const std::string defines =
      concat("#define RANK ", view.sizes.size(), "\n#define LAST_WINS ", shared == Shared::LastWins ? "true" : "false");
  launch_text_kernel(kernel_source({kValuesPrelude},
                                   {{"Element", fuselet::codegen::stored_type(whole.dtype())},
                                    {"Sum", sum_type(whole.dtype())},
                                    {"Index", index_type(std::max(count, values.numel()))}},
                                   defines + kWritePlaces),
                     count, static_cast<const void*>(args.data()), whole.device());
}

}  // namespace fuselet::cuda
