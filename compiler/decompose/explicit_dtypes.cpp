#include "compiler/decompose/explicit_dtypes.h"

#include "compiler/trace/edited_call.h"
#include "core/ops/functions.h"
#include "core/ops/promotion.h"
#include "core/ops/reduced_dims.h"

namespace fuselet {
namespace {

DType compute_dtype(DType t) {
  return t == DType::Float64 ? DType::Float64 : is_float(t) ? DType::Float32 : DType::Int64;
}
Tensor as_dtype(const Tensor& t, DType to) { return t.dtype() == to ? t : t.cast(to); }

bool is_operand(const Op& op, int i) {
  ArgType type = op.args[static_cast<size_t>(i)].type;
  return type == ArgType::Tensor || type == ArgType::Operand || type == ArgType::Scalar;
}

// A call of numbers alone meets in the type of the widest kind of them; where that is not the type to calculate in, one
// of them becomes a tensor.
void give_numbers_the_type(EditedCall& edit, const Call& call, DType compute) {
  int first = -1;
  Category widest = Category::Bool;
  for (int i = call.op->promote_from; i < call.num_args; ++i) {
    if (call.is_tensor(i)) return;
    if (call.args[i].tag != Arg::Tag::Scalar) continue;
    if (first < 0) first = i;
    widest = std::max(widest, call.scalar(i).category());
    if (compute == DType::Int64 && call.scalar(i).category() == Category::Bool)
      edit.set(i, Scalar(call.scalar(i).to_int()));
  }
  DType natural = widest == Category::Float ? dispatch_state().default_dtype : DType::Int64;
  if (first >= 0 && natural != compute)
    edit.set(first, full({}, call.scalar(first), compute, dispatch_state().default_device));
}

bool pointwise(Call& call) {
  const Op& op = *call.op;
  if (op.promotion == Promotion::None) return false;
  DType promoted = promoted_dtype(call), result = result_dtype(call, promoted);
  bool gives_bool = op.promotion == Promotion::Bool;
  bool of_bools = gives_bool && promoted == DType::Bool;
  DType compute = of_bools ? DType::Bool : compute_dtype(gives_bool ? promoted : result);
  EditedCall edit(call);
  for (int i = 0; i < call.num_args; ++i) {
    if (!is_operand(op, i)) continue;
    if (i >= op.promote_from) {
      edit.cast(i, compute);
      bool turns = call.args[i].tag == Arg::Tag::Scalar && call.scalar(i).category() == Category::Bool && !of_bools;
      if (turns && compute == DType::Int64) edit.set(i, Scalar(call.scalar(i).to_int()));
    } else if (call.tensor(i).dtype() != DType::Bool) {
      edit.set(i, ne(as_dtype(call.tensor(i), compute), 0));
    }
  }
  if (!of_bools) give_numbers_the_type(edit, call, compute);
  if (!edit.changed()) return false;
  Tensor out = edit.run();
  call.outs[0] = gives_bool ? out : as_dtype(out, result);
  return true;
}

Dims dims_of(DimMask mask, int64_t rank) {
  Dims dims;
  for (int64_t d = 0; d < rank; ++d) {
    if (mask >> d & 1) dims.push_back(d);
  }
  return dims;
}

// What is summed is the elements as the result's dtype holds them.
bool sum_reduction(Call& call) {
  const Tensor& self = call.tensor(0);
  DType to = call.dtype_or(3, is_float(self.dtype()) ? self.dtype() : DType::Int64), compute = compute_dtype(to);
  Dims dims = dims_of(reduced_dims(call.ints(1), self.dim(), "sum"), self.dim());
  if (self.dtype() == compute && to == compute && !call.has(3) && same_sizes(dims, call.ints(1))) return false;
  Tensor x = is_float(to) ? self : as_dtype(self, to);
  call.outs[0] = as_dtype(as_dtype(x, compute).sum(dims, call.flag(2)), to);
  return true;
}

bool reduction(Call& call) {
  if (call.op->id == OpId::sum) return sum_reduction(call);
  const Tensor& self = call.tensor(0);
  DType compute = compute_dtype(self.dtype());
  if (call.op->id == OpId::argmax) {
    if (self.dtype() == compute) return false;
    EditedCall edit(call);
    edit.cast(0, compute);
    call.outs[0] = edit.run();
    return true;
  }
  Dims dims = dims_of(reduced_dims(call.ints(1), self.dim(), call.op->name), self.dim());
  if (self.dtype() == compute && same_sizes(dims, call.ints(1))) return false;
  Tensor x = as_dtype(self, compute);
  Tensor out = call.op->id == OpId::amax ? x.amax(dims, call.flag(2)) : x.amin(dims, call.flag(2));
  call.outs[0] = as_dtype(out, self.dtype());
  return true;
}

bool scan(Call& call) {
  const DType own = call.tensor(0).dtype();
  EditedCall edit(call);
  edit.cast(0, compute_dtype(own));
  if (!edit.changed()) return false;
  call.outs[0] = as_dtype(edit.run(), own);
  return true;
}

bool contraction(Call& call) {
  DType own = call.tensor(0).dtype(), compute = compute_dtype(own);
  EditedCall edit(call);
  for (int i = 0; i < call.num_args; ++i) edit.cast(i, compute);
  bool biased = call.op->id == OpId::conv2d && call.has(2);
  if (biased) edit.remove(2);
  if (!edit.changed()) return false;
  Tensor out = edit.run();
  // bias: (O,); out: (N, O, H, W)
  if (biased) out = out + as_dtype(call.tensor(2), compute).view({call.tensor(2).sizes()[0], 1, 1});
  call.outs[0] = as_dtype(out, own);
  return true;
}

// Casts the summed arguments to the type of sums and the index to int64.
bool scatter(Call& call, std::initializer_list<int> summed, int index) {
  DType own = call.tensor(0).dtype();
  EditedCall edit(call);
  for (int i : summed) edit.cast(i, compute_dtype(own));
  if (index >= 0) edit.cast(index, DType::Int64);
  if (!edit.changed()) return false;
  call.outs[0] = as_dtype(edit.run(), own);
  return true;
}

bool cat_parts(Call& call) {
  DType to = call.tensors(0)[0].dtype();
  for (const Tensor& t : call.tensors(0)) to = promote(to, t.dtype());
  std::vector<Tensor> parts;
  bool changed = false;
  for (const Tensor& t : call.tensors(0)) {
    changed |= t.dtype() != to;
    parts.push_back(as_dtype(t, to));
  }
  if (changed) call.outs[0] = cat(parts, call.integer(1));
  return changed;
}

}  // namespace

bool make_dtypes_explicit(Call& call) {
  switch (call.op->id) {
    case OpId::cast:
      if (call.tensor(0).dtype() != call.args[1].dtype) return false;
      call.outs[0] = call.tensor(0).clone();
      return true;
    case OpId::gather:
      return scatter(call, {}, 2);
    case OpId::scatter:
    case OpId::index_copy:
      return scatter(call, {}, 2);
    case OpId::scatter_add:
    case OpId::index_add:
    case OpId::scatter_fold:
      return scatter(call, {0, 3}, 2);
    case OpId::as_strided_grad:
      return scatter(call, {0}, -1);
    case OpId::cat:
      return cat_parts(call);
    default:
      break;
  }
  switch (call.op->kind) {
    case OpKind::Pointwise:
      return pointwise(call);
    case OpKind::Reduction:
      return reduction(call);
    case OpKind::Scan:
      return scan(call);
    case OpKind::Contraction:
      return contraction(call);
    default:
      return false;
  }
}

}  // namespace fuselet
