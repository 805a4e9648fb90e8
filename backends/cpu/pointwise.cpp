// The kernel of all pointwise rows: finds the compute type, lays the operands over one space, and runs the row's loop.
#include "backends/cpu/block_run.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/overlap.h"
#include "backends/cpu/parallel.h"
#include "core/convert.h"
#include "core/ops/promotion.h"

namespace fuselet::cpu {
namespace {

// A number as every element of a block.
void fill_block(const Scalar& number, ComputeType type, void* block, int64_t n) {
  with_compute_type(storage_of(type), [&](auto zero) {
    using T = decltype(zero);
    const T value = number.category() == Category::Float ? convert<T>(number.to_double()) : convert<T>(number.to_int());
    std::fill_n(static_cast<T*>(block), n, value);
  });
}

// The way of small calls and of large dense ones: tensors of the result's shape and dtype, dense and of a type that
// kernels calculate in, and numbers that do not change that dtype. Returns false, having done nothing, where that is
// not so.
bool run_dense(const Call& call, const PointwiseLoops& loops) {
  const TensorImpl* out = call.outs[0].impl();
  const DType dtype = out->dtype();
  const ComputeType type = compute_type_of(dtype);
  if (!out->is_contiguous() || dtype != storage_of(type)) return false;
  const BlockLoop loop = loops.by_type[static_cast<int>(type)];
  if (!loop) return false;
  const int64_t n = out->numel().word();
  const void* in[kMaxOperands];
  int numbers = 0;
  for (int k = 0; k < loops.arity; ++k) {
    in[k] = nullptr;
    if (!call.is_tensor(k)) {
      if (call.scalar(k).category() > category_of(dtype)) return false;
      ++numbers;
      continue;
    }
    const TensorImpl* x = call.tensor(k).impl();
    if (x->dtype() != dtype || x->numel().word() != n || !x->is_contiguous()) return false;
    if (call.in_place && overlaps_partly(*out, *x)) return false;
    in[k] = x->data();
  }
  // A call of numbers alone, or one that must turn integers into floats, promotes in ways of its own.
  if (numbers == loops.arity || (call.op->promotion == Promotion::Float && type == ComputeType::i64)) return false;

  const int64_t bytes = static_cast<int64_t>(size_of(dtype));
  auto run = [&](int64_t begin, int64_t end) {
    alignas(64) std::byte blocks[kMaxOperands][kBlock * sizeof(double)];
    const void* part[kMaxOperands];
    const int64_t step = numbers ? std::min(kBlock, end - begin) : end - begin;
    for (int k = 0; k < loops.arity; ++k) {
      part[k] = in[k] ? static_cast<const std::byte*>(in[k]) + begin * bytes : blocks[k];
      if (!in[k]) fill_block(call.scalar(k), type, blocks[k], step);
    }
    std::byte* to = static_cast<std::byte*>(out->data()) + begin * bytes;
    for (int64_t at = begin; at < end; at += step, to += step * bytes) {
      loop(to, part, std::min(step, end - at));
      for (int k = 0; k < loops.arity; ++k) {
        if (in[k]) part[k] = static_cast<const std::byte*>(part[k]) + step * bytes;
      }
    }
  };
  if (n <= kPointwiseGrain) {
    if (n > 0) run(0, n);
  } else {
    parallel_for(n, kPointwiseGrain, run);
  }
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

// True iff every tensor is dense in the order of the result, or a single element.
bool is_flat(const Call& call, const PointwiseLoops& loops) {
  const TensorImpl* out = call.outs[0].impl();
  if (!out->is_contiguous()) return false;
  for (int k = 0; k < loops.arity; ++k) {
    if (!call.is_tensor(k)) continue;
    const TensorImpl* x = call.tensor(k).impl();
    if (x->numel().word() != 1 && (x->numel().word() != out->numel().word() || !x->is_contiguous())) return false;
  }
  return true;
}

void run_general(const Call& call, const PointwiseLoops& loops) {
  const TensorImpl* out = call.outs[0].impl();
  if (out->numel().word() == 0) return;
  const ComputeType compute = compute_type_of_call(call);
  const DType storage = storage_of(compute);
  const BlockLoop loop = loops.by_type[static_cast<int>(compute)];
  FUSELET_CHECK(loop, call.op->name, ": not defined for ", name_of(promoted_dtype(call)));

  const SymInt count = out->numel(), step = 1;
  const bool flat = is_flat(call, loops);
  BlockRun run{Space(flat ? DimsView(&count, 1) : out->sizes()),
               size_of(storage),
               loop,
               {static_cast<std::byte*>(out->data()), size_of(out->dtype()), store_block(compute, out->dtype()),
                out->dtype() == storage},
               {}};
  // One dimension, or the operand's own.
  auto add_to_space = [&](const TensorImpl& t) {
    if (!flat) return run.space.add(t.sizes(), t.strides());
    const SymInt n = t.numel();
    run.space.add(DimsView(&n, 1), DimsView(&step, 1));
  };
  add_to_space(*out);
  Number numbers[kMaxOperands];
  Tensor copies[kMaxOperands];
  for (int k = 0; k < loops.arity; ++k) {
    BlockInput& input = run.inputs[k];
    if (call.is_tensor(k)) {
      const TensorImpl* x = call.tensor(k).impl();
      if (call.in_place && overlaps_partly(*out, *x)) {
        copies[k] = copy_of(call.tensor(k));
        x = copies[k].impl();
      } else if (!flat && out->is_contiguous() && same_sizes(x->sizes(), out->sizes())) {
        copies[k] = along_the_grain(call.tensor(k));
        x = copies[k].impl();
      }
      input = {static_cast<const std::byte*>(x->data()), size_of(x->dtype()), load_block(x->dtype(), compute),
               x->dtype() == storage};
      add_to_space(*x);
    } else {
      fill_block(call.scalar(k), compute, numbers[k].bytes, 1);
      input = {numbers[k].bytes, sizeof(Number), load_block(storage, compute), true};
      run.space.add({}, {});
    }
  }
  if (!flat) run.space.simplify();
  run.run();
}

}  // namespace

void pointwise(const Call& call) {
  // Conversions have no formula of their own: what is stored is the source, by the cast rule. A number runs through the
  // loop.
  const int source = call.op->id == OpId::copy ? 1 : 0;
  if (call.op->promotion == Promotion::None && call.is_tensor(source))
    return copy_into(call.outs[0], call.tensor(source));
  const PointwiseLoops& loops = loops_of(*call.op);
  if (!run_dense(call, loops)) run_general(call, loops);
}

}  // namespace fuselet::cpu
