// VJPs of matrix products and convolutions.
#include "autograd/vjp.h"
#include "core/ops/functions.h"

namespace fuselet::vjp {

// 1-d operands are rows (self) or columns (other) of size 1 during the product.
void matmul(VjpContext& c) {
  size_t ra = c.meta(0).sizes.size(), rb = c.meta(1).sizes.size();
  Tensor g = c.grad();
  if (ra == 1) g = g.unsqueeze(rb == 1 ? 0 : -2);
  if (rb == 1) g = g.unsqueeze(-1);
  if (c.needs(0)) {
    Tensor b = c.tensor(1);
    if (rb == 1) b = b.unsqueeze(-1);
    Tensor ga = fuselet::matmul(g, b.transpose(-2, -1));
    c.set(0, ra == 1 ? ga.squeeze(-2) : ga);
  }
  if (c.needs(1)) {
    Tensor a = c.tensor(0);
    if (ra == 1) a = a.unsqueeze(0);
    Tensor gb = fuselet::matmul(a.transpose(-2, -1), g);
    c.set(1, rb == 1 ? gb.squeeze(-1) : gb);
  }
}

void addmm(VjpContext& c) {
  if (c.needs(0)) c.set(0, c.grad());
  if (c.needs(1)) c.set(1, fuselet::matmul(c.grad(), c.tensor(2).t()));
  if (c.needs(2)) c.set(2, fuselet::matmul(c.tensor(1).t(), c.grad()));
}

void linear(VjpContext& c) {
  if (c.needs(0)) c.set(0, fuselet::matmul(c.grad(), c.tensor(1)));
  if (!c.needs(1) && !c.needs(2)) return;
  const TensorMeta &x = c.meta(0), &w = c.meta(1);
  Dims grad_rows = {numel_of(DimsView(x.sizes).first(x.sizes.size() - 1)), w.sizes[0]};
  Tensor g = c.grad().reshape(grad_rows);
  if (c.needs(1)) c.set(1, fuselet::matmul(g.t(), c.tensor(0).reshape({grad_rows[0], w.sizes[1]})));
  if (c.needs(2)) c.set(2, g.sum(0));
}

void conv2d(VjpContext& c) {
  if (c.needs(0))
    c.set(0, fuselet::conv2d_input_grad(c.grad(), c.tensor(1), c.meta(0).sizes, c.ints(3), c.ints(4), c.ints(5),
                                        c.integer(6)));
  if (c.needs(1))
    c.set(1, fuselet::conv2d_weight_grad(c.grad(), c.tensor(0), c.meta(1).sizes, c.ints(3), c.ints(4), c.ints(5),
                                         c.integer(6)));
  if (c.needs(2)) c.set(2, c.grad().sum({0, 2, 3}));
}

// conv2d is bilinear in input and weight, so its gradients differentiate into each other.
void conv2d_input_grad(VjpContext& c) {
  if (c.needs(0)) c.set(0, fuselet::conv2d(c.grad(), c.tensor(1), {}, c.ints(3), c.ints(4), c.ints(5), c.integer(6)));
  if (c.needs(1))
    c.set(1, fuselet::conv2d_weight_grad(c.tensor(0), c.grad(), c.meta(1).sizes, c.ints(3), c.ints(4), c.ints(5),
                                         c.integer(6)));
}

void conv2d_weight_grad(VjpContext& c) {
  if (c.needs(0)) c.set(0, fuselet::conv2d(c.tensor(1), c.grad(), {}, c.ints(3), c.ints(4), c.ints(5), c.integer(6)));
  if (c.needs(1))
    c.set(1, fuselet::conv2d_input_grad(c.tensor(0), c.grad(), c.meta(1).sizes, c.ints(3), c.ints(4), c.ints(5),
                                        c.integer(6)));
}

}  // namespace fuselet::vjp
