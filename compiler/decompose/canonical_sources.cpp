#include "compiler/decompose/canonical_sources.h"

#include "core/ops/functions.h"
#include "core/ops/reduced_dims.h"

namespace fuselet {
namespace {

Tensor as_dtype(const Tensor& t, DType to) { return t.dtype() == to ? t : t.cast(to); }

// What the call would give, by its shape rule.
TensorMeta meta_of(const Call& call) {
  TensorMeta meta;
  call.op->shape(call, &meta);
  meta.device = device_of(call);
  return meta;
}

bool make_full(Call& call) {
  TensorMeta m = meta_of(call);
  const Scalar& value = call.scalar(1);
  bool whole = is_float(m.dtype) && value.category() != Category::Float;
  if (call.has(2) && call.has(3) && !whole) return false;
  call.outs[0] = full(m.sizes, whole ? Scalar(value.to_double()) : value, m.dtype, m.device);
  return true;
}

// Integers exactly; floats in double and rounded once.
bool make_arange(Call& call) {
  TensorMeta m = meta_of(call);
  ArangeBounds b = arange_bounds(call);
  bool counts = b.integral && !call.has(1) && call.scalar(2).to_int() == 1 && m.dtype == DType::Int64;
  if (counts && call.has(3) && call.has(4)) return false;
  Tensor i = arange(m.sizes[0].concrete(), {}, 1, DType::Int64, m.device);
  if (b.integral) {
    int64_t start = call.has(1) ? call.scalar(0).to_int() : 0, step = call.scalar(2).to_int();
    if (step != 1) i = i * step;
    if (start != 0) i = i + start;
  } else {
    i = i.cast(DType::Float64) * b.step + b.start;
  }
  call.outs[0] = as_dtype(i, m.dtype);
  return true;
}

bool make_rand(Call& call) {
  if (call.has(1) && call.has(2)) return false;
  TensorMeta m = meta_of(call);
  call.outs[0] = rand(m.sizes, m.dtype, m.device);
  return true;
}

bool make_randn(Call& call) {
  TensorMeta m = meta_of(call);
  DType drawn = m.dtype == DType::Float64 ? DType::Float64 : DType::Float32;
  if (call.has(1) && call.has(2) && m.dtype == drawn) return false;
  call.outs[0] = as_dtype(randn(m.sizes, drawn, m.device), m.dtype);
  return true;
}

bool make_randint(Call& call) {
  TensorMeta m = meta_of(call);
  if (call.has(3) && call.has(4) && m.dtype == DType::Int64) return false;
  call.outs[0] = as_dtype(randint(call.integer(0), call.integer(1), m.sizes, DType::Int64, m.device), m.dtype);
  return true;
}

bool make_bernoulli(Call& call) {
  if (call.has(2)) return false;
  TensorMeta m = meta_of(call);
  call.outs[0] = bernoulli(m.sizes, call.number(1), m.device);
  return true;
}

}  // namespace

bool make_source_canonical(Call& call) {
  switch (call.op->id) {
    case OpId::full:
      return make_full(call);
    case OpId::arange:
      return make_arange(call);
    case OpId::rand:
      return make_rand(call);
    case OpId::randn:
      return make_randn(call);
    case OpId::randint:
      return make_randint(call);
    case OpId::bernoulli:
      return make_bernoulli(call);
    default:
      return false;
  }
}

}  // namespace fuselet
