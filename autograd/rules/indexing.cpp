// VJPs of gathers, scatters and joins.
#include "autograd/vjp.h"
#include "core/ops/functions.h"

namespace fuselet::vjp {
namespace {

Tensor zeros_of(const TensorMeta& m) { return zeros(m.sizes, m.dtype, m.device); }

}  // namespace

void gather(VjpContext& c) { c.set(0, fuselet::scatter_add(zeros_of(c.meta(0)), c.integer(1), c.tensor(2), c.grad())); }

void scatter_add(VjpContext& c) {
  if (c.needs(0)) c.set(0, c.grad());
  if (c.needs(3)) {
    // Only the corner of src that index covers has been read.
    Tensor g = c.grad().gather(c.integer(1), c.tensor(2));
    Tensor full_grad = zeros_of(c.meta(3));
    Tensor corner = full_grad;
    for (int64_t d = 0; d < g.dim(); ++d) corner = corner.narrow(d, 0, g.sizes()[static_cast<size_t>(d)]);
    if (same_sizes(g.sizes(), full_grad.sizes())) {
      c.set(3, g);
    } else {
      corner.copy_(g);
      c.set(3, full_grad);
    }
  }
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
