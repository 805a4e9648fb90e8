// Composite operators: scans and products of any dtype, reductions in terms of others, gated activations.
#include <limits>

#include "core/dispatch_state.h"
#include "core/half.h"
#include "core/ops/composites.h"
#include "core/ops/functions.h"

namespace fuselet::composite {
namespace {

DType sum_dtype(const Tensor& self, const std::optional<DType>& dtype) {
  return dtype.value_or(is_float(self.dtype()) ? self.dtype() : DType::Int64);
}

Tensor as_dtype(const Tensor& t, DType to) { return t.dtype() == to ? t : t.cast(to); }

// The largest where x is smallest, without overflow; NaN stays NaN.
Tensor in_reverse(const Tensor& x) {
  if (is_float(x.dtype())) return -x;
  if (x.dtype() == DType::Bool) return logical_not(x);
  return (x.dtype() == DType::UInt8 ? 255 : -1) - x;
}

double largest_of(DType t) {
  switch (t) {
    case DType::Float64:
      return std::numeric_limits<double>::max();
    case DType::Float16:
      return 65504;
    case DType::BFloat16:
      return 0x1.fep127;
    default:
      return static_cast<double>(std::numeric_limits<float>::max());
  }
}

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, const std::optional<DType>& dtype) {
  return scan_sum(as_dtype(self, sum_dtype(self, dtype)), dim);
}

Tensor cumprod(const Tensor& self, int64_t dim, const std::optional<DType>& dtype) {
  return scan_product(as_dtype(self, sum_dtype(self, dtype)), dim);
}

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  return scan_logaddexp(as_dtype(self, is_float(self.dtype()) ? self.dtype() : dispatch_state().default_dtype), dim);
}

Tensor prod(const Tensor& self, const std::optional<int64_t>& dim, bool keepdim, const std::optional<DType>& dtype) {
  const DType to = sum_dtype(self, dtype);
  // Of 16-bit numbers in float32, rounded once.
  Tensor x = as_dtype(as_dtype(self, to), size_of(to) == 2 ? DType::Float32 : to);
  Dims kept(self.sizes());
  int64_t d = dim ? wrap_dim(*dim, self.dim(), "prod") : 0;
  if (self.dim() > 0) {
    for (size_t i = 0; i < kept.size(); ++i) {
      if (!dim || static_cast<int64_t>(i) == d) kept[i] = 1;
    }
  }
  if (!dim || self.dim() == 0) x = x.reshape({-1}), d = 0;
  const SymInt count = x.sizes()[static_cast<size_t>(d)];
  // Of no elements 1, as a sum of none and 1, so that a gradient finds its way. A copy, so that the scan's memory goes.
  Tensor product = count == 0 ? x.sum(d, true, x.dtype()) + 1 : scan_product(x, d).narrow(d, count - 1, 1).clone(true);
  product = product.reshape(kept);
  if (!keepdim) {
    Dims out;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (dim && static_cast<int64_t>(i) != d) out.push_back(kept[i]);
    }
    product = product.reshape(out);
  }
  return as_dtype(product, to);
}

Tensor all(const Tensor& self, IntList dim, bool keepdim) { return (self == 0).sum(dim, keepdim) == 0; }
Tensor any(const Tensor& self, IntList dim, bool keepdim) { return (self != 0).sum(dim, keepdim) != 0; }
Tensor count_nonzero(const Tensor& self, IntList dim) { return (self != 0).sum(dim); }

Tensor argmin(const Tensor& self, const std::optional<int64_t>& dim, bool keepdim) {
  return argmax(in_reverse(self), dim, keepdim);
}

Tensor nansum(const Tensor& self, IntList dim, bool keepdim, const std::optional<DType>& dtype) {
  return (is_float(self.dtype()) ? where(isnan(self), 0, self) : self).sum(dim, keepdim, dtype);
}

Tensor nanmean(const Tensor& self, IntList dim, bool keepdim, const std::optional<DType>& dtype) {
  const DType to = dtype.value_or(self.dtype());
  FUSELET_CHECK(is_float(to), "nanmean: expected a floating dtype, got ", name_of(to));
  const Tensor x = as_dtype(as_dtype(self, to), size_of(to) == 2 ? DType::Float32 : to);
  const Tensor count = logical_not(isnan(x)).sum(dim, keepdim);
  return as_dtype(where(isnan(x), 0, x).sum(dim, keepdim) / count, to);
}

Tensor nan_to_num(const Tensor& self, const Scalar& nan, const std::optional<Scalar>& posinf,
                  const std::optional<Scalar>& neginf) {
  if (!is_float(self.dtype())) return self.clone();
  const double largest = largest_of(self.dtype());
  return replace_nonfinite(self, nan, posinf.value_or(Scalar(largest)), neginf.value_or(Scalar(-largest)));
}

Tensor bitwise_not(const Tensor& self) {
  return self.dtype() == DType::Bool ? logical_not(self) : bitwise_xor(self, -1);
}

Tensor glu(const Tensor& self, int64_t dim) {
  FUSELET_CHECK(self.dim() > 0, "glu: a 0-d tensor has no halves");
  const int64_t d = wrap_dim(dim, self.dim(), "glu");
  const SymInt size = self.sizes()[static_cast<size_t>(d)], half = size / 2;
  FUSELET_CHECK(half * 2 == size, "glu: dimension ", d, " of shape ", to_string(self.sizes()), " is odd");
  return self.narrow(d, 0, half) * sigmoid(self.narrow(d, half, half));
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  const SymInt count = weight.impl()->numel();
  if (count == 1) return prelu_channels(self, weight.reshape({}));
  FUSELET_CHECK(weight.dim() == 1 && self.dim() > 1 && self.sizes()[1] == count,
                "prelu: expected one weight, or one for each entry of dimension 1 of shape ", to_string(self.sizes()),
                ", got ", to_string(weight.sizes()));
  Dims sizes = {count};
  for (int64_t i = 2; i < self.dim(); ++i) sizes.push_back(1);
  return prelu_channels(self, weight.view(sizes));
}

}  // namespace fuselet::composite
