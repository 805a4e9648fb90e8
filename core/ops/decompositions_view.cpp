// Views, copies and index operators in terms of few: view, permute, expand, slice, as_strided; gather, index_add,
// slice_scatter.
#include "core/ops/decompositions.h"
#include "core/ops/functions.h"
#include "core/ops/view_geometry.h"

namespace fuselet::decompose {

Tensor alias(const Tensor& self) { return self; }

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  if (self.dim() == 0) return self;
  Dims order;
  for (int64_t d = 0; d < self.dim(); ++d) order.push_back(d);
  std::swap(order[static_cast<size_t>(wrap_dim(dim0, self.dim(), "transpose"))],
            order[static_cast<size_t>(wrap_dim(dim1, self.dim(), "transpose"))]);
  return self.permute(order);
}

Tensor squeeze(const Tensor& self, const std::optional<int64_t>& dim) {
  int64_t only = dim ? wrap_dim(*dim, self.dim(), "squeeze") : -1;
  Dims sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    SymInt n = self.sizes()[static_cast<size_t>(d)];
    if ((only >= 0 && d != only) || n != 1) sizes.push_back(n);
  }
  return self.view(sizes);
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  Dims sizes(self.sizes());
  sizes.insert(static_cast<size_t>(wrap_dim(dim, self.dim() + 1, "unsqueeze")), 1);
  return self.view(sizes);
}

Tensor select(const Tensor& self, int64_t dim, SymInt index) {
  int64_t d = wrap_dim(dim, self.dim(), "select");
  SymInt at = wrap_index(index, self.sizes()[static_cast<size_t>(d)], d, "select");
  Dims sizes(self.sizes());
  sizes.erase(static_cast<size_t>(d));
  return self.slice(d, at, at + 1).view(sizes);
}

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, SymInt index) {
  int64_t d = wrap_dim(dim, self.dim(), "select_scatter");
  SymInt at = wrap_index(index, self.sizes()[static_cast<size_t>(d)], d, "select_scatter");
  return slice_scatter(self, src.unsqueeze(d), d, at, at + 1);
}

// A number passes through the type that kernels calculate in.
Tensor copy(const Tensor& self, const Operand& source) {
  if (source.tensor()) return source.tensor()->cast(self.dtype()).expand(self.sizes()).clone();
  DType compute = self.dtype() == DType::Float64 ? DType::Float64
                  : is_float(self.dtype())       ? DType::Float32
                                                 : DType::Int64;
  return full(self.sizes(), source.scalar(), compute, self.device()).cast(self.dtype());
}

// Between devices a graph is cut, so that the transfer stands in none.
Tensor transfer(const Tensor& self, Device device, bool) {
  if (self.device() != device)
    throw NotImplementedError(
        "compile: moving a tensor to another device inside a compiled function is not supported yet");
  return self.clone();
}

Tensor empty(IntList size, const std::optional<DType>& dtype, const std::optional<Device>& device) {
  return zeros(size, dtype, device);
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  if (self.dim() == 0) return self.gather(0, index.view({}));
  size_t d = static_cast<size_t>(wrap_dim(dim, self.dim(), "index_select"));
  Dims along(self.sizes().size(), 1), sizes(self.sizes());
  along[d] = sizes[d] = index.impl()->numel();
  return self.gather(static_cast<int64_t>(d), index.view(along).expand(sizes));
}

Tensor embedding(const Tensor& weight, const Tensor& indices, const std::optional<int64_t>&) {
  Dims sizes(indices.sizes());
  sizes.push_back(weight.sizes()[1]);
  return weight.index_select(0, indices.reshape({indices.impl()->numel()})).view(sizes);
}

// What the padding row would get is 0, which changes no sum that starts at 0.
Tensor embedding_grad(const Tensor& grad_output, const Tensor& indices, SymInt num_weights,
                      const std::optional<int64_t>& padding_idx) {
  Tensor rows = indices.cast(DType::Int64).reshape({indices.impl()->numel()});
  Tensor g = grad_output.reshape({indices.impl()->numel(), grad_output.sizes().back()});
  if (padding_idx) {
    int64_t count = num_weights.concrete(), padding = *padding_idx < 0 ? *padding_idx + count : *padding_idx;
    Tensor is_padding = where(rows < 0, rows + count, rows) == padding;
    g = where(is_padding.unsqueeze(1), 0, g);
  }
  return zeros({num_weights, grad_output.sizes().back()}, g.dtype(), g.device()).index_add(0, rows, g);
}

}  // namespace fuselet::decompose
