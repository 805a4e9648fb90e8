// Shape rules of reductions, joins and factories.
#include <algorithm>
#include <cmath>

#include "core/dispatch_state.h"
#include "core/ops/functions.h"
#include "core/ops/reduced_dims.h"

namespace fuselet {

DimMask reduced_dims(DimsView dims, int64_t rank, const char* op) {
  FUSELET_CHECK(rank <= 64, op, ": at most 64 dimensions");
  if (dims.empty()) return rank == 64 ? ~DimMask{0} : (DimMask{1} << rank) - 1;
  DimMask mask = 0;
  for (SymInt d : dims) {
    int64_t w = wrap_dim(d.concrete(), rank, op);
    FUSELET_CHECK(!(mask >> w & 1), op, ": dimension ", w, " stands twice in ", to_string(dims));
    mask |= DimMask{1} << w;
  }
  return mask;
}

double count_reduced(DimsView sizes, DimMask mask) {
  SymInt n = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (mask >> i & 1) n *= sizes[i];
  }
  return static_cast<double>(n.concrete());
}

Dims sizes_without(DimsView sizes, DimMask mask, bool keepdim) {
  Dims out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!(mask >> i & 1)) {
      out.push_back(sizes[i]);
    } else if (keepdim) {
      out.push_back(1);
    }
  }
  return out;
}

namespace shape {
namespace {

void reduce(const Call& call, DimsView dims, bool keepdim, DType dtype, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  out->sizes = sizes_without(self.sizes(), reduced_dims(dims, self.dim(), call.op->name), keepdim);
  out->strides = contiguous_strides(out->sizes);
  out->dtype = dtype;
}

void finish(TensorMeta* out, DType dtype) {
  out->strides = contiguous_strides(out->sizes);
  out->dtype = dtype;
}

}  // namespace

void sum(const Call& call, TensorMeta* out) {
  DType own = call.tensor(0).dtype();
  reduce(call, call.ints(1), call.flag(2), call.dtype_or(3, is_float(own) ? own : DType::Int64), out);
}

void mean(const Call& call, TensorMeta* out) {
  DType dtype = call.dtype_or(3, call.tensor(0).dtype());
  FUSELET_CHECK(is_float(dtype), "mean: expected a floating dtype, got ", name_of(dtype),
                "; pass dtype=float32 or cast first");
  reduce(call, call.ints(1), call.flag(2), dtype, out);
}

void extremum(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  reduce(call, call.ints(1), call.flag(2), self.dtype(), out);
  DimMask mask = reduced_dims(call.ints(1), self.dim(), call.op->name);
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    FUSELET_CHECK(!(mask >> i & 1) || self.sizes()[i] != 0, call.op->name, ": dimension ", i, " of shape ",
                  to_string(self.sizes()), " has no elements, so there is no extremum");
  }
}

void argmax(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  SymInt dim = call.has(1) ? call.sym(1) : SymInt(0);
  reduce(call, call.has(1) ? DimsView(&dim, 1) : DimsView(), call.flag(2), DType::Int64, out);
  bool empty = call.has(1) && self.dim() > 0
                   ? self.sizes()[static_cast<size_t>(wrap_dim(dim.concrete(), self.dim(), "argmax"))] == 0
                   : self.impl()->numel() == 0;
  FUSELET_CHECK(!empty, "argmax: shape ", to_string(self.sizes()), " has no elements to choose from");
}

void var(const Call& call, TensorMeta* out) {
  FUSELET_CHECK(is_float(call.tensor(0).dtype()), "var: expected a floating dtype, got ",
                name_of(call.tensor(0).dtype()));
  reduce(call, call.ints(1), call.flag(3), call.tensor(0).dtype(), out);
}

void scan(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  wrap_dim(call.integer(1), self.dim(), call.op->name);
  out->sizes = Dims(self.sizes());
  finish(out, self.dtype());
}

void scan_floats(const Call& call, TensorMeta* out) {
  FUSELET_CHECK(is_float(call.tensor(0).dtype()), call.op->name, ": expected a floating dtype, got ",
                name_of(call.tensor(0).dtype()));
  scan(call, out);
}

void full(const Call& call, TensorMeta* out) {
  out->sizes = Dims(call.ints(0));
  check_sizes(out->sizes, "full");
  Category c = call.scalar(1).category();
  DType natural = c == Category::Float ? dispatch_state().default_dtype
                  : c == Category::Int ? DType::Int64
                                       : DType::Bool;
  finish(out, call.dtype_or(2, natural));
}

void empty(const Call& call, TensorMeta* out) {
  out->sizes = Dims(call.ints(0));
  check_sizes(out->sizes, "empty");
  finish(out, call.dtype_or(1, dispatch_state().default_dtype));
}

void random(const Call& call, TensorMeta* out) {
  out->sizes = Dims(call.ints(0));
  check_sizes(out->sizes, call.op->name);
  DType dtype = call.dtype_or(1, dispatch_state().default_dtype);
  FUSELET_CHECK(is_float(dtype), call.op->name, ": expected a floating dtype, got ", name_of(dtype));
  finish(out, dtype);
}

void bernoulli(const Call& call, TensorMeta* out) {
  double p = call.number(1);
  FUSELET_CHECK(p >= 0 && p <= 1, "bernoulli: the probability must lie in [0, 1], got ", p);
  out->sizes = Dims(call.ints(0));
  check_sizes(out->sizes, "bernoulli");
  finish(out, DType::Bool);
}

void randint(const Call& call, TensorMeta* out) {
  FUSELET_CHECK(call.integer(0) < call.integer(1), "randint: low ", call.integer(0), " must be below high ",
                call.integer(1));
  out->sizes = Dims(call.ints(2));
  check_sizes(out->sizes, "randint");
  finish(out, call.dtype_or(3, DType::Int64));
}

void arange(const Call& call, TensorMeta* out) {
  ArangeBounds b = arange_bounds(call);
  FUSELET_CHECK(b.step != 0, "arange: the step must not be 0");
  double count = std::ceil((b.end - b.start) / b.step);
  FUSELET_CHECK(std::isfinite(count) && count < 0x1p62, "arange: bounds ", b.start, " and ", b.end,
                " give no number of elements that memory could hold");
  out->sizes = {static_cast<int64_t>(std::max(count, 0.0))};
  finish(out, call.dtype_or(3, b.integral ? DType::Int64 : dispatch_state().default_dtype));
}

void cat(const Call& call, TensorMeta* out) {
  std::span<const Tensor> parts = call.tensors(0);
  FUSELET_CHECK(!parts.empty(), "cat: expected at least one tensor");
  const Tensor& first = parts[0];
  FUSELET_CHECK(first.dim() > 0, "cat: 0-d tensors cannot be joined; use stack()");
  size_t dim = static_cast<size_t>(wrap_dim(call.integer(1), first.dim(), "cat"));
  out->sizes = Dims(first.sizes());
  out->dtype = first.dtype();
  for (const Tensor& t : parts.subspan(1)) {
    FUSELET_CHECK(t.dim() == first.dim(), "cat: shapes ", to_string(first.sizes()), " and ", to_string(t.sizes()),
                  " differ in rank");
    for (size_t i = 0; i < t.sizes().size(); ++i) {
      FUSELET_CHECK(i == dim || t.sizes()[i] == first.sizes()[i], "cat: shapes ", to_string(first.sizes()), " and ",
                    to_string(t.sizes()), " differ outside dimension ", dim);
    }
    out->sizes[dim] += t.sizes()[dim];
    out->dtype = promote(out->dtype, t.dtype());
  }
  out->strides = contiguous_strides(out->sizes);
}

}  // namespace shape

ArangeBounds arange_bounds(const Call& call) {
  ArangeBounds b;
  b.start = call.has(1) ? call.scalar(0).to_double() : 0.0;
  b.end = call.has(1) ? call.scalar(1).to_double() : call.scalar(0).to_double();
  b.step = call.scalar(2).to_double();
  b.integral = call.scalar(0).category() != Category::Float && call.scalar(2).category() != Category::Float &&
               (!call.has(1) || call.scalar(1).category() != Category::Float);
  return b;
}

}  // namespace fuselet
