// The kernel of all pointwise rows: finds the compute type, lays the operands over one space, and runs the row's loop.
#include "backends/cpu/block_run.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/overlap.h"
#include "backends/cpu/parallel.h"
#include "core/ops/promotion.h"

namespace fuselet::cpu {
namespace {

// The way of small calls and of large dense ones: all operands are tensors of the result's shape and dtype, dense, and of a
// type that kernels calculate in. Returns false, having done nothing, where that is not so.
bool run_dense(const Call& call, const PointwiseLoops& loops) {
  const TensorImpl* out = call.outs[0].impl();
  const DType dtype = out->dtype();
  if (!out->is_contiguous() || dtype != storage_of(compute_type_of(dtype))) return false;
  const BlockLoop loop = loops.by_type[static_cast<int>(compute_type_of(dtype))];
  if (!loop) return false;
  const int64_t n = out->numel().word();
  const void* in[kMaxOperands];
  for (int k = 0; k < loops.arity; ++k) {
    if (!call.is_tensor(k)) return false;
    const TensorImpl* x = call.tensor(k).impl();
    if (x->dtype() != dtype || x->numel().word() != n || !x->is_contiguous()) return false;
    if (call.in_place && overlaps_partly(*out, *x)) return false;
    in[k] = x->data();
  }
  void* to = out->data();
  if (n <= kPointwiseGrain) {
    loop(to, in, n);
    return true;
  }
  const int64_t bytes = static_cast<int64_t>(size_of(dtype));
  parallel_for(n, kPointwiseGrain, [&](int64_t begin, int64_t end) {
    const void* part[kMaxOperands];
    for (int k = 0; k < loops.arity; ++k) part[k] = static_cast<const std::byte*>(in[k]) + begin * bytes;
    loop(static_cast<std::byte*>(to) + begin * bytes, part, end - begin);
  });
  return true;
}

ComputeType compute_type_of_call(const Call& call) {
  DType promoted = promoted_dtype(call);
  return compute_type_of(call.op->promotion == Promotion::Bool ? promoted : result_dtype(call, promoted));
}

// A number of the call as an element that every block repeats.
struct Number {
  alignas(8) std::byte bytes[8];
};

DType dtype_of_number(Category c) { return c == Category::Float ? DType::Float64 : DType::Int64; }

void run_general(const Call& call, const PointwiseLoops& loops) {
  const TensorImpl* out = call.outs[0].impl();
  if (out->numel().word() == 0) return;
  const ComputeType compute = compute_type_of_call(call);
  const DType storage = storage_of(compute);
  const BlockLoop loop = loops.by_type[static_cast<int>(compute)];
  FUSELET_CHECK(loop, call.op->name, ": not defined for ", name_of(promoted_dtype(call)));

  BlockRun run{Space(out->sizes()), size_of(storage), loop,
               {static_cast<std::byte*>(out->data()), size_of(out->dtype()), store_block(compute, out->dtype()), out->dtype() == storage}, {}};
  run.space.add(out->sizes(), out->strides());
  Number numbers[kMaxOperands];
  Tensor copies[kMaxOperands];
  for (int k = 0; k < loops.arity; ++k) {
    BlockInput& input = run.inputs[k];
    if (call.is_tensor(k)) {
      const TensorImpl* x = call.tensor(k).impl();
      if (call.in_place && overlaps_partly(*out, *x)) {
        copies[k] = copy_of(call.tensor(k));
        x = copies[k].impl();
      }
      input = {static_cast<const std::byte*>(x->data()), size_of(x->dtype()), load_block(x->dtype(), compute), x->dtype() == storage};
      run.space.add(x->sizes(), x->strides());
    } else {
      const Scalar& s = call.scalar(k);
      const DType t = dtype_of_number(s.category());
      if (s.category() == Category::Float) {
        const double value = s.to_double();
        std::memcpy(numbers[k].bytes, &value, sizeof value);
      } else {
        const int64_t value = s.to_int();
        std::memcpy(numbers[k].bytes, &value, sizeof value);
      }
      input = {numbers[k].bytes, sizeof(Number), load_block(t, compute), t == storage};
      run.space.add({}, {});
    }
  }
  run.space.simplify();
  run.run();
}

}  // namespace

void pointwise(const Call& call) {
  // Conversions have no formula of their own: what is stored is the source, by the cast rule. A number runs through the loop.
  const int source = call.op->id == OpId::copy ? 1 : 0;
  if (call.op->promotion == Promotion::None && call.is_tensor(source)) return copy_into(call.outs[0], call.tensor(source));
  const PointwiseLoops& loops = loops_of(*call.op);
  if (!run_dense(call, loops)) run_general(call, loops);
}

}  // namespace fuselet::cpu
