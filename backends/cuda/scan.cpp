#include "backends/cuda/scan.h"

#include "backends/codegen/statement_text.h"
#include "backends/cuda/kernel_source.h"
#include "backends/cuda/temporaries.h"
#include "backends/cuda/text_kernel.h"

namespace fuselet::cuda {
namespace {

// Elements of a line that one thread goes through as fast as a block would wake up.
constexpr int64_t kShortLine = 32;
// Neighbouring lines, a thread each, that keep a device busy.
constexpr int64_t kManyLines = 4096;

// The element k of line l stands at l / inner * length * inner + l % inner + k * inner.
struct ScanArgs {
  unsigned long long values = 0, results = 0;
  int64_t lines = 0, length = 0, inner = 0, reverse = 0;
};

constexpr const char* kHead = R"text(
struct ScanArgs {
  const Element* values;
  Element* results;
  long lines, length, inner, reverse;
};
__device__ __forceinline__ Value combined(Value x, Value y) { return formula::COMBINE(x, y); }
__device__ __forceinline__ long place(const ScanArgs& a, long line, long k) {
  return (line / a.inner * a.length + (a.reverse ? a.length - 1 - k : k)) * a.inner + line % a.inner;
}
)text";

constexpr const char* kThreadALine = R"text(
extern "C" __global__ void kernel(const ScanArgs a) {
  const long line = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= a.lines) return;
  Value so_far = IDENTITY;
  for (long k = 0; k < a.length; ++k) {
    const long at = place(a, line, k);
    const Value value = (Value)held(a.values[at]);
    so_far = k == 0 ? value : combined(so_far, value);
    a.results[at] = stored<Element>(convert<Element>(so_far));
  }
}
)text";

constexpr const char* kBlockALine = R"text(
constexpr int kEach = 4;  // neighbours that a thread takes of a tile
extern "C" __global__ void kernel(const ScanArgs a) {
  const long line = blockIdx.x;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  __shared__ Value of_warps[THREADS / 32];
  Value before = IDENTITY;  // all of the tiles that have been
  for (long tile = 0; tile < a.length; tile += THREADS * kEach) {
    const long first = tile + thread * kEach;
    Value part[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      part[e] = first + e < a.length ? (Value)held(a.values[place(a, line, first + e)]) : IDENTITY;
      if (e > 0) part[e] = combined(part[e - 1], part[e]);
    }
    Value through = part[kEach - 1];  // this thread's and all before it in the warp
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Value other = __shfl_up_sync(0xffffffffu, through, distance);
      if (lane >= distance) through = combined(other, through);
    }
    Value ahead = __shfl_up_sync(0xffffffffu, through, 1);
    if (lane == 31) of_warps[warp] = through;
    __syncthreads();
    Value base = before;
    for (int w = 0; w < THREADS / 32; ++w) {
      if (w < warp) base = combined(base, of_warps[w]);
      before = combined(before, of_warps[w]);
    }
    if (lane > 0) base = combined(base, ahead);
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      if (first + e < a.length) a.results[place(a, line, first + e)] = stored<Element>(convert<Element>(combined(base, part[e])));
    }
    __syncthreads();
  }
}
)text";

struct Combination {
  const char* formula;
  const char* header;
  const char* identity;
};

void scan(const Call& call, Combination by) {
  const Tensor &self = call.tensor(0), &out = call.outs[0];
  if (out.numel() == 0) return;
  const Tensor x = dense(self, self.dtype());
  const bool direct = out.is_contiguous() && !may_overlap(out, x);
  const Tensor results = direct ? out : new_tensor(out.sizes(), out.dtype(), out.device());
  ScanArgs args;
  args.values = address_of(x), args.results = address_of(results);
  args.length = args.inner = 1, args.reverse = call.flag(2);
  if (self.dim() > 0) {
    const auto dim = static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), call.op->name));
    args.length = self.sizes()[dim].word();
    for (size_t d = dim + 1; d < self.sizes().size(); ++d) args.inner *= self.sizes()[d].word();
  }
  args.lines = self.numel() / args.length;
  const bool thread_a_line = args.length <= kShortLine || (args.inner > 1 && args.lines >= kManyLines);
  const std::string body =
      concat("#define THREADS ", kTextKernelThreads, "\n#define COMBINE ", by.formula, "\n#define IDENTITY ",
             by.identity, kHead, thread_a_line ? kThreadALine : kBlockALine);
  launch_text_kernel(
      kernel_source({kValuesPrelude, by.header},
                    {{"Element", fuselet::codegen::stored_type(out.dtype())}, {"Value", sum_type(out.dtype())}}, body),
      thread_a_line ? args.lines : args.lines * int64_t{kTextKernelThreads}, args, out.device());
  copy_into(out, results);
}

}  // namespace

void scan_sum(const Call& call) { scan(call, {"add", "core/formulas/arithmetic.h", "Value(0)"}); }
void scan_product(const Call& call) { scan(call, {"mul", "core/formulas/arithmetic.h", "Value(1)"}); }
void scan_logaddexp(const Call& call) {
  scan(call, {"logaddexp", "core/ops/derived_formulas.h", "Value(formula::from_bits<float>(0xff800000u))"});
}

}  // namespace fuselet::cuda
