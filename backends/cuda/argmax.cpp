#include "backends/cuda/argmax.h"

#include <algorithm>

#include "backends/codegen/statement_text.h"
#include "backends/cuda/kernel_source.h"
#include "backends/cuda/temporaries.h"
#include "backends/cuda/text_kernel.h"
#include "core/ops/reduced_dims.h"

namespace fuselet::cuda {
namespace {

// Elements of a row that a warp still takes: eight loads a lane.
constexpr int64_t kWarpRow = 256;
// Elements of a chunk: enough for a block to be busy longer than a launch takes.
constexpr int64_t kChunk = 16384;
// Blocks that fill every device; with as many rows, none is split.
constexpr int64_t kManyBlocks = 1024;

// `length` elements a row, in chunks of `chunk`. The winners of chunks, row by row, are candidates of the next launch:
// `length` of them a row.
struct ArgmaxArgs {
  unsigned long long values = 0, candidates = 0, results = 0;
  int64_t rows = 0, row = 0;  // row: elements from one row to the next
  int64_t length = 0, chunk = 0, chunks = 0;
};

constexpr const char* kArgmax = R"text(
struct ArgmaxArgs {
  const Element* values;
  const long* candidates;  // null: every element is one
  long* results;
  long rows, row, length, chunk, chunks;
};
struct Best {
  Value value;
  long index;  // -1: none yet
};
__device__ __forceinline__ Best better(Best x, Best y) {
  if (x.index < 0 || y.index < 0) return x.index < 0 ? y : x;
  const bool x_wins = x.value > y.value || (x.value != x.value && y.value == y.value);
  const bool y_wins = y.value > x.value || (y.value != y.value && x.value == x.value);
  return x_wins || (!y_wins && x.index < y.index) ? x : y;
}
extern "C" __global__ void kernel(const ArgmaxArgs a) {
  const long team = ((long)blockIdx.x * blockDim.x + threadIdx.x) / THREADS;
  const int thread = threadIdx.x % THREADS;
  if (team >= a.rows * a.chunks) return;
  const long row = team / a.chunks, first = team % a.chunks * a.chunk;
  const long end = first + a.chunk < a.length ? first + a.chunk : a.length;
  const Element* values = a.values + row * a.row;
  Best best = {Value(0), -1};
  for (long i = first + thread; i < end; i += THREADS) {
    const long index = a.candidates ? a.candidates[row * a.length + i] : i;
    best = better(best, {(Value)held(values[index]), index});
  }
#pragma unroll
  for (int lane = 1; lane < 32; lane *= 2) {
    const Value value = __shfl_xor_sync(0xffffffffu, best.value, lane);
    best = better(best, {value, __shfl_xor_sync(0xffffffffu, best.index, lane)});
  }
#if THREADS > 32
  __shared__ Value slot_values[THREADS / 32];
  __shared__ long slot_indices[THREADS / 32];
  if (thread % 32 == 0) slot_values[thread / 32] = best.value, slot_indices[thread / 32] = best.index;
  __syncthreads();
  for (int warp = 0; warp < THREADS / 32; ++warp) best = better(best, {slot_values[warp], slot_indices[warp]});
#endif
  if (thread == 0) a.results[team] = best.index;
}
)text";

void launch(const ArgmaxArgs& args, DType dtype, Device device) {
  const int64_t threads = std::min(args.chunk, args.length) <= kWarpRow ? 32 : int64_t{kTextKernelThreads};
  launch_text_kernel(
      kernel_source({kValuesPrelude}, {{"Element", fuselet::codegen::stored_type(dtype)}, {"Value", sum_type(dtype)}},
                    concat("#define THREADS ", threads, kArgmax)),
      args.rows * args.chunks * threads, args, device);
}

// x as rows whose elements are neighbours: the reduced dimension, or all, behind the others.
Tensor rows_of(const Tensor& x, DimMask mask) {
  Dims sizes, strides;
  for (const bool reduced : {false, true}) {
    for (size_t d = 0; d < x.sizes().size(); ++d) {
      if ((mask >> d & 1) != reduced) continue;
      sizes.push_back(x.sizes()[d]), strides.push_back(x.strides()[d]);
    }
  }
  return dense(view_of(x, std::move(sizes), std::move(strides)), x.dtype());
}

}  // namespace

void argmax(const Call& call) {
  const Tensor &x = call.tensor(0), &out = call.outs[0];
  if (out.numel() == 0) return;
  const SymInt dim = call.has(1) ? call.sym(1) : SymInt(0);
  const DimMask mask = reduced_dims(call.has(1) ? DimsView(&dim, 1) : DimsView(), x.dim(), "argmax");
  const Tensor rows = rows_of(x, mask);
  const bool direct = out.is_contiguous() && !may_overlap(out, rows);
  const Tensor results = direct ? out : new_tensor(out.sizes(), DType::Int64, out.device());
  ArgmaxArgs args;
  args.rows = out.numel(), args.row = args.length = rows.numel() / args.rows;
  args.values = address_of(rows), args.results = address_of(results);
  args.chunk = args.length, args.chunks = 1;
  if (args.rows >= kManyBlocks || args.length <= kChunk) {
    launch(args, x.dtype(), out.device());
  } else {
    const int64_t most = std::max<int64_t>(kManyBlocks / args.rows, 1);  // chunks of a row
    args.chunk = std::max(kChunk, (args.length + most - 1) / most);
    args.chunks = (args.length + args.chunk - 1) / args.chunk;
    const Tensor winners = new_tensor(Dims{args.rows, args.chunks}, DType::Int64, out.device());
    args.results = address_of(winners);
    launch(args, x.dtype(), out.device());
    args.candidates = address_of(winners), args.results = address_of(results);
    args.length = args.chunk = args.chunks, args.chunks = 1;
    launch(args, x.dtype(), out.device());
  }
  copy_into(out, results);
}

}  // namespace fuselet::cuda
