// VJPs of gathers, scatters and joins.
#include "autograd/vjp.h"
#include "core/ops/functions.h"

namespace fuselet::vjp {
namespace {

// The part of `t` that an index of those sizes covers.
Tensor corner_of(const Tensor& t, DimsView sizes) {
  Tensor corner = t;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (t.sizes()[d] != sizes[d]) corner = corner.narrow(static_cast<int64_t>(d), 0, sizes[d]);
  }
  return corner;
}

// The gradient of src where only the corner that `g` covers has been read.
Tensor in_corner(const Tensor& g, const TensorMeta& src) {
  if (same_sizes(g.sizes(), src.sizes)) return g;
  Tensor whole = zeros_of(src);
  corner_of(whole, g.sizes()).copy_(g);
  return whole;
}

// 0, 1, … below n.
Tensor counted(SymInt n, Device device) { return arange(n.concrete(), {}, 1, DType::Int64, device); }

}  // namespace

void gather(VjpContext& c) { c.set(0, fuselet::scatter_add(zeros_of(c.meta(0)), c.integer(1), c.tensor(2), c.grad())); }

void scatter_add(VjpContext& c) {
  if (c.needs(0)) c.set(0, c.grad());
  if (c.needs(3)) c.set(3, in_corner(c.grad().gather(c.integer(1), c.tensor(2)), c.meta(3)));
}

void scatter(VjpContext& c) {
  const int64_t dim = c.integer(1);
  const Tensor index = c.tensor(2);
  if (c.needs(0)) {
    c.set(0, fuselet::scatter(c.grad(), dim, index, zeros(index.sizes(), c.grad().dtype(), c.grad().device())));
  }
  if (!c.needs(3)) return;
  if (index.dim() == 0) return c.set(3, c.grad());
  // Each index's place along `dim`, and the one that stands where it wrote in the end.
  Dims along(index.sizes().size(), 1);
  const size_t d = static_cast<size_t>(wrap_dim(dim, index.dim(), "scatter"));
  along[d] = index.sizes()[d];
  Tensor place = counted(along[d], c.grad().device()).view(along).expand(index.sizes());
  Tensor last = fuselet::scatter(zeros(c.meta(0).sizes, DType::Int64, c.grad().device()), dim, index, place);
  Tensor won = last.gather(dim, index) == place;
  c.set(3, in_corner(where(won, c.grad().gather(dim, index), 0), c.meta(3)));
}

void index_copy(VjpContext& c) {
  const int64_t dim = c.integer(1);
  const Tensor index = c.tensor(2);
  if (c.needs(0)) c.set(0, fuselet::index_copy(c.grad(), dim, index, zeros_of(c.meta(3))));
  if (!c.needs(3)) return;
  const Dims& sizes = c.meta(0).sizes;
  if (sizes.empty()) return c.set(3, c.grad());
  const size_t d = static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size()), "index_copy"));
  Tensor place = counted(index.impl()->numel(), index.device());
  Tensor last = fuselet::index_copy(zeros({sizes[d]}, DType::Int64, index.device()), 0, index.reshape({-1}), place);
  Tensor won = last.index_select(0, index) == place;
  Dims along(sizes.size(), 1);
  along[d] = index.impl()->numel();
  c.set(3, where(won.view(along), c.grad().index_select(dim, index), 0));
}

namespace {

// What the product of a place grows by for an element x of it: `others` is the product of those that are not 0, of
// `zeros` elements that are.
Tensor slope_of_product(const Tensor& x, const Tensor& others, const Tensor& zeros) {
  Tensor is_zero = x == 0;
  return where(is_zero, where(zeros == 1, others, 0), where(zeros == 0, others / where(is_zero, 1, x), 0));
}

}  // namespace

void scatter_fold(VjpContext& c) {
  const int64_t dim = c.integer(1);
  const Tensor self = c.tensor(0), index = c.tensor(2), src = corner_of(c.tensor(3), index.sizes());
  if (c.text(4) == "prod") {
    Tensor self_zero = self == 0, src_zero = src == 0;
    Tensor zeros = fuselet::scatter_add(self_zero.cast(self.dtype()), dim, index, src_zero.cast(self.dtype()));
    Tensor others = fuselet::scatter_fold(where(self_zero, 1, self), dim, index, where(src_zero, 1, src), "prod");
    if (c.needs(0)) c.set(0, c.grad() * slope_of_product(self, others, zeros));
    if (c.needs(3)) {
      Tensor slope = slope_of_product(src, others.gather(dim, index), zeros.gather(dim, index));
      c.set(3, in_corner(c.grad().gather(dim, index) * slope, c.meta(3)));
    }
    return;
  }
  // Ties share the gradient evenly.
  Tensor self_hit = (self == c.result()).cast(self.dtype());
  Tensor src_hit = (src == c.result().gather(dim, index)).cast(self.dtype());
  Tensor share = c.grad() / fuselet::scatter_add(self_hit, dim, index, src_hit);
  if (c.needs(0)) c.set(0, share * self_hit);
  if (c.needs(3)) c.set(3, in_corner(share.gather(dim, index) * src_hit, c.meta(3)));
}

void index_select(VjpContext& c) {
  c.set(0, fuselet::index_add(zeros_of(c.meta(0)), c.integer(1), c.tensor(2), c.grad()));
}

void index_add(VjpContext& c) {
  if (c.needs(0)) c.set(0, c.grad());
  if (c.needs(3)) c.set(3, c.grad().index_select(c.integer(1), c.tensor(2)));
}

void embedding(VjpContext& c) {
  std::optional<int64_t> padding = c.has(2) ? std::optional<int64_t>(c.integer(2)) : std::nullopt;
  c.set(0, fuselet::embedding_grad(c.grad(), c.tensor(1), c.meta(0).sizes[0], padding));
}

// The rows of padding_idx have given nothing, so nothing flows back into them.
void embedding_grad(VjpContext& c) {
  Tensor indices = c.tensor(1), rows = fuselet::embedding(c.grad(), indices);
  if (c.has(3)) {
    SymInt padding = c.sym(3) < 0 ? c.sym(3) + c.sym(2) : c.sym(3);
    rows = where((indices == padding.concrete()).unsqueeze(-1), 0, rows);
  }
  c.set(0, rows);
}

void cat(VjpContext& c) {
  SymInt start = 0;
  for (int k = 0; k < c.list_size(0); ++k) {
    const Dims& sizes = c.meta(0, k).sizes;
    SymInt length = sizes[static_cast<size_t>(wrap_dim(c.integer(1), static_cast<int64_t>(sizes.size()), "cat"))];
    if (c.needs(0, k)) c.set(0, k, c.grad().narrow(c.integer(1), start, length));
    start += length;
  }
}

// Each output came from one element of its plane.
void max_pool2d_with_indices(VjpContext& c) {
  const TensorMeta& m = c.meta(0);
  Tensor indices = c.result(1);
  Dims plane = {m.sizes[0], m.sizes[1], m.sizes[2] * m.sizes[3]};
  Dims windows = {m.sizes[0], m.sizes[1], indices.sizes()[2] * indices.sizes()[3]};
  Tensor g = fuselet::scatter_add(zeros(plane, m.dtype, m.device), 2, indices.view(windows), c.grad().reshape(windows));
  c.set(0, g.view(m.sizes));
}

}  // namespace fuselet::vjp
