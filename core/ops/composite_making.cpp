// Composite operators that make tensors or rearrange them.
#include "core/ops/composites.h"
#include "core/ops/functions.h"
#include "core/ops/view_geometry.h"

namespace fuselet::composite {

Tensor zeros(IntList size, const std::optional<DType>& dtype, const std::optional<Device>& device) {
  return full(size, 0, dtype ? *dtype : dispatch_state().default_dtype, device);
}

Tensor ones(IntList size, const std::optional<DType>& dtype, const std::optional<Device>& device) {
  return full(size, 1, dtype ? *dtype : dispatch_state().default_dtype, device);
}

Tensor full_like(const Tensor& self, const Scalar& fill_value, const std::optional<DType>& dtype) {
  return full(self.sizes(), fill_value, dtype.value_or(self.dtype()), self.device());
}

Tensor zeros_like(const Tensor& self, const std::optional<DType>& dtype) { return fuselet::full_like(self, 0, dtype); }
Tensor ones_like(const Tensor& self, const std::optional<DType>& dtype) { return fuselet::full_like(self, 1, dtype); }

Tensor rand_like(const Tensor& self, const std::optional<DType>& dtype) {
  return rand(self.sizes(), dtype.value_or(self.dtype()), self.device());
}

Tensor randn_like(const Tensor& self, const std::optional<DType>& dtype) {
  return randn(self.sizes(), dtype.value_or(self.dtype()), self.device());
}

Tensor reshape(const Tensor& self, IntList shape) {
  Dims sizes = resolve_sizes(shape.view(), self.impl()->numel(), "reshape");
  if (same_sizes(sizes, self.sizes())) return fuselet::alias(self);
  if (view_strides(self.sizes(), self.strides(), sizes)) return self.view(sizes);
  return self.clone(true).view(sizes);
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  if (self.dim() == 0) return self.reshape({1});
  int64_t first = wrap_dim(start_dim, self.dim(), "flatten"), last = wrap_dim(end_dim, self.dim(), "flatten");
  FUSELET_CHECK(first <= last, "flatten: start_dim ", start_dim, " comes after end_dim ", end_dim);
  Dims sizes(self.sizes().first(static_cast<size_t>(first)));
  sizes.push_back(numel_of(self.sizes().subspan(static_cast<size_t>(first), static_cast<size_t>(last - first + 1))));
  for (SymInt s : self.sizes().subspan(static_cast<size_t>(last) + 1)) sizes.push_back(s);
  return self.reshape(sizes);
}

Tensor t(const Tensor& self) {
  FUSELET_CHECK(self.dim() <= 2, "t: expected at most two dimensions, got shape ", to_string(self.sizes()));
  return self.dim() < 2 ? fuselet::alias(self) : self.transpose(0, 1);
}

Tensor contiguous(const Tensor& self) { return self.is_contiguous() ? self : self.clone(true); }
Tensor expand_as(const Tensor& self, const Tensor& other) { return self.expand(other.sizes()); }
Tensor broadcast_to(const Tensor& self, IntList size) { return self.expand(size); }

Tensor narrow(const Tensor& self, int64_t dim, SymInt start, SymInt length) {
  int64_t d = wrap_dim(dim, self.dim(), "narrow");
  SymInt size = self.sizes()[static_cast<size_t>(d)];
  const SymInt first = start < 0 ? start + size : start;
  FUSELET_CHECK_INDEX(first >= 0 && length >= 0 && first + length <= size, "narrow: entries ", to_string(start), " to ",
                      to_string(start + length), " are out of range for dimension ", d, " of size ", to_string(size));
  return self.slice(d, first, first + length);
}

Tensor sum_to_size(const Tensor& self, IntList size) {
  DimsView to = size.view(), from = self.sizes();
  if (same_sizes(to, from)) return self;
  FUSELET_CHECK(to.size() <= from.size(), "sum_to_size: shape ", to_string(from), " cannot be summed to ",
                to_string(to));
  size_t shift = from.size() - to.size();
  Dims dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (i < shift || (to[i - shift] == 1 && from[i] != 1)) {
      dims.push_back(static_cast<int64_t>(i));
    } else {
      FUSELET_CHECK(to[i - shift] == from[i], "sum_to_size: shape ", to_string(from), " cannot be summed to ",
                    to_string(to));
    }
  }
  Tensor out = dims.empty() ? self : self.sum(dims, true, self.dtype());
  return shift > 0 ? out.view(to) : out;
}

Tensor stack(TensorList tensors, int64_t dim) {
  std::vector<Tensor> parts;
  FUSELET_CHECK(!tensors.view().empty(), "stack: expected at least one tensor");
  for (const Tensor& t : tensors.view()) {
    FUSELET_CHECK(same_sizes(t.sizes(), tensors.view()[0].sizes()), "stack: shapes ",
                  to_string(tensors.view()[0].sizes()), " and ", to_string(t.sizes()), " differ");
    parts.push_back(t.unsqueeze(dim));
  }
  return cat(parts, wrap_dim(dim, parts[0].dim(), "stack"));
}

Tensor index(const Tensor& self, const Tensor& index) {
  FUSELET_CHECK(index.dtype() != DType::Bool,
                "indexing with a mask makes a result of unknown size; use where() or masked_fill()");
  FUSELET_CHECK_INDEX(self.dim() > 0, "index: a 0-d tensor cannot be indexed");
  Tensor flat = index.reshape({-1});
  Tensor rows = self.index_select(0, flat);
  Dims sizes(index.sizes());
  for (SymInt s : self.sizes().subspan(1)) sizes.push_back(s);
  return rows.view(sizes);
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Operand& value) {
  FUSELET_CHECK(mask.dtype() == DType::Bool, "masked_fill: the mask must be bool, got ", name_of(mask.dtype()));
  if (value.tensor()) return where(mask, value, self);
  // A number takes the dtype of self, so that filling never promotes.
  return where(mask, value, self).cast(self.dtype());
}

}  // namespace fuselet::composite
