#include "backends/cuda/scatter/scatter_add.h"

#include <algorithm>

#include "backends/codegen/statement_text.h"
#include "backends/cuda/kernel_source.h"
#include "backends/cuda/scatter/sorted_indices.h"
#include "backends/cuda/temporaries.h"
#include "backends/cuda/text_kernel.h"
#include "core/ops/fold.h"

namespace fuselet::cuda {
namespace {

// Letters: O and I are the sizes before and behind the scattered dimension, of L indices and D destinations.

struct TakeArgs {
  unsigned long long keys = 0, source = 0, out = 0;
  int64_t count = 0, inner = 0, length = 0, padded = 0, size = 0, shift = 0;
  int64_t line_of_outer = 0, line_of_inner = 0;  // keys to skip for the next o, the next i
};

// take(what is there, the element): what is there then.
constexpr const char* kAdd = "formula::add(there, element)";
constexpr const char* kReplace = "element";

// A thread each (o, place among the sorted keys, i): the first key of a destination takes in the run.
constexpr const char* kTakeRuns = R"text(
__device__ __forceinline__ Sum take(Sum there, Sum element) { return TAKE; }
struct TakeArgs {
  const unsigned long* keys;
  const Element* source;
  Element* out;
  long count, inner, length, padded, size, shift, line_of_outer, line_of_inner;
};
constexpr int kAhead = 8;  // loads in flight of a long run
extern "C" __global__ void kernel(const TakeArgs a) {
  const Index at = (Index)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (Index)a.count) return;
  const Index inner = (Index)a.inner, length = (Index)a.length, size = (Index)a.size;
  const Index i = at % inner, place = at / inner % length, o = at / inner / length;
  const unsigned long* keys = a.keys + o * (Index)a.line_of_outer + i * (Index)a.line_of_inner;
  const unsigned long destination = keys[place] >> a.shift;
  if (destination >= (unsigned long)size) return;  // out of range
  if (place > 0 && keys[place - 1] >> a.shift == destination) return;
  Element* to = a.out + (o * size + (Index)destination) * inner + i;
  const Element* from = a.source + o * length * inner + i;
  const unsigned long positions = (1ul << a.shift) - 1;
  Sum sum = (Sum)held(*to);
  for (Index first = place; first < length; first += kAhead) {
    Sum values[kAhead];
    int found = 0;
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const unsigned long key = first + k < length ? keys[first + k] : ~0ul;
      const bool in_run = key >> a.shift == destination;
      values[k] = in_run ? (Sum)held(from[(Index)(key & positions) * inner]) : Sum(0);
      found += in_run;
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (k < found) sum = take(sum, values[k]);
    }
    if (found < kAhead) break;
  }
  *to = stored<Element>(convert<Element>(sum));
}
)text";

struct Extents {
  int64_t outer = 1, inner = 1;
};
Extents around(DimsView sizes, size_t dim) {
  Extents e;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d != dim) (d < dim ? e.outer : e.inner) *= sizes[d].word();
  }
  return e;
}

// out: (O, D, I) and source: (O, L, I), row-major; a line of keys for each (o, i), or one for all.
void take_runs(const Tensor& out, const Tensor& source, const SortedIndices& sorted, Extents e, bool own_lines,
               const char* take) {
  TakeArgs args;
  args.keys = address_of(sorted.keys), args.source = address_of(source), args.out = address_of(out);
  args.count = e.outer * sorted.length * e.inner, args.inner = e.inner;
  args.length = sorted.length, args.padded = sorted.padded, args.size = sorted.size, args.shift = sorted.shift;
  if (own_lines) args.line_of_outer = e.inner * sorted.padded, args.line_of_inner = sorted.padded;
  const int64_t reach = std::max({args.count, out.numel(), sorted.keys.numel()});
  const DType dtype = out.dtype();
  launch_text_kernel(
      kernel_source(
          {kValuesPrelude},
          {{"Element", fuselet::codegen::stored_type(dtype)}, {"Sum", sum_type(dtype)}, {"Index", index_type(reach)}},
          concat("#define TAKE ", take, kTakeRuns)),
      args.count, args, out.device());
}

// Row-major elements of `t` that writing `out` does not change.
Tensor dense_apart(const Tensor& t, DType dtype, const Tensor& out) {
  Tensor values = dense(t, dtype);
  if (!may_overlap(values, out)) return values;
  values = new_tensor(t.sizes(), dtype, t.device());
  copy_into(values, t);
  return values;
}

Tensor first_part(const Tensor& t, DimsView sizes) { return view_of(t, Dims(sizes), Dims(t.strides())); }

// A row-major tensor with the elements of self, to be added to; out itself where it can be.
Tensor sums_of(const Tensor& out, const Tensor& self) {
  Tensor sums = out.is_contiguous() ? out : new_tensor(out.sizes(), out.dtype(), out.device());
  copy_into(sums, self);
  return sums;
}

size_t wrapped_dim(const Call& call, const Tensor& self) {
  return static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), call.op->name));
}
// A 0-d tensor counts as one of a single element.
int64_t extent(DimsView sizes, size_t dim) { return sizes.empty() ? 1 : sizes[dim].word(); }

// self, dim, index and source as scatter_add has them.
void scatter_by(const Call& call, const char* take) {
  const Tensor& out = call.outs[0];
  const Device device = out.device();
  const Tensor self = on_device(call.tensor(0), device), index = on_device(call.tensor(2), device);
  const size_t dim = wrapped_dim(call, self);
  const DimsView sizes = index.sizes();
  const Extents e = around(sizes, dim);
  const int64_t length = extent(sizes, dim);
  // (O, I, L): lines of indices.
  const Tensor rows = dense(index, DType::Int64);
  const Tensor lines =
      dense(view_of(rows, Dims{e.outer, e.inner, length}, Dims{length * e.inner, 1, e.inner}), DType::Int64);
  const SortedIndices sorted = sort_indices(lines, length, extent(self.sizes(), dim), call.op->name);
  const Tensor source = dense_apart(first_part(on_device(call.tensor(3), device), sizes), out.dtype(), out);
  const Tensor sums = sums_of(out, self);
  // The index may leave out the ends of other dimensions.
  Dims reached(sizes);
  if (!sizes.empty()) reached[dim] = self.sizes()[dim];
  const Tensor part = first_part(sums, reached);
  const Tensor part_sums = dense(part, out.dtype());
  take_runs(part_sums, source, sorted, e, true, take);
  copy_into(part, part_sums);
  copy_into(out, sums);
}

// self, dim, index and source as index_add has them.
void index_by(const Call& call, const char* take) {
  const Tensor& out = call.outs[0];
  const Device device = out.device();
  const Tensor self = on_device(call.tensor(0), device), index = on_device(call.tensor(2), device);
  const size_t dim = wrapped_dim(call, self);
  const int64_t length = self.dim() == 0 ? std::min<int64_t>(index.numel(), 1) : index.numel();
  const SortedIndices sorted =
      sort_indices(dense(index, DType::Int64), length, extent(self.sizes(), dim), call.op->name);
  const Tensor source = dense_apart(on_device(call.tensor(3), device), out.dtype(), out);
  const Tensor sums = sums_of(out, self);
  take_runs(sums, source, sorted, around(self.sizes(), dim), false, take);
  copy_into(out, sums);
}

}  // namespace

void scatter_add(const Call& call) { scatter_by(call, kAdd); }
void scatter(const Call& call) { scatter_by(call, kReplace); }
void index_add(const Call& call) { index_by(call, kAdd); }
void index_copy(const Call& call) { index_by(call, kReplace); }

void scatter_fold(const Call& call) {
  switch (fold_of(call.text(4), call.op->name)) {
    case Fold::Prod:
      return scatter_by(call, "formula::mul(there, element)");
    case Fold::Amax:
      return scatter_by(call, "formula::maximum(there, element)");
    case Fold::Amin:
      return scatter_by(call, "formula::minimum(there, element)");
  }
}

}  // namespace fuselet::cuda
