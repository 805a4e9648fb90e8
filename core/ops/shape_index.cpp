// Shape rules of gathers and scatters.
#include "core/ops/fold.h"
#include "core/ops/functions.h"
#include "core/ops/shape_rule.h"
#include "core/ops/view_geometry.h"

namespace fuselet::shape {
namespace {

void check_index(const Call& call, const Tensor& index) {
  FUSELET_CHECK(category_of(index.dtype()) == Category::Int, call.op->name, ": indices must be integers, got ",
                name_of(index.dtype()));
}

// index must fit into `whole` in every dimension but `dim`.
void check_index_fits(const Call& call, const Tensor& index, const Tensor& whole, size_t dim) {
  FUSELET_CHECK(index.dim() == whole.dim(), call.op->name, ": index of shape ", to_string(index.sizes()),
                " must have as many dimensions as ", to_string(whole.sizes()));
  for (size_t i = 0; i < index.sizes().size(); ++i) {
    FUSELET_CHECK(i == dim || index.sizes()[i] <= whole.sizes()[i], call.op->name, ": index of shape ",
                  to_string(index.sizes()), " is larger than ", to_string(whole.sizes()), " in dimension ", i);
  }
}

}  // namespace

void gather(const Call& call, TensorMeta* out) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2);
  check_index(call, index);
  check_index_fits(call, index, self, static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), "gather")));
  set_dense(out, Dims(index.sizes()), self.dtype());
}

void scatter_add(const Call& call, TensorMeta* out) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2), &src = call.tensor(3);
  check_index(call, index);
  check_same_dtype(call, self, src);
  size_t dim = static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), "scatter_add"));
  check_index_fits(call, index, self, dim);
  check_index_fits(call, index, src, SIZE_MAX);
  set_dense(out, Dims(self.sizes()), self.dtype());
}

void scatter_fold(const Call& call, TensorMeta* out) {
  fold_of(call.text(4), call.op->name);
  scatter_add(call, out);
}

void argsort(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  wrap_dim(call.integer(1), self.dim(), "argsort");
  set_dense(out, Dims(self.sizes()), DType::Int64);
}

void index_select(const Call& call, TensorMeta* out) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2);
  check_index(call, index);
  FUSELET_CHECK(index.dim() <= 1, "index_select: index must have one dimension, got shape ", to_string(index.sizes()));
  Dims sizes(self.sizes());
  if (self.dim() > 0)
    sizes[static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), "index_select"))] = index.impl()->numel();
  set_dense(out, std::move(sizes), self.dtype());
}

void index_add(const Call& call, TensorMeta* out) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2), &source = call.tensor(3);
  check_index(call, index);
  check_same_dtype(call, self, source);
  FUSELET_CHECK(index.dim() <= 1, "index_add: index must have one dimension, got shape ", to_string(index.sizes()));
  Dims expected(self.sizes());
  if (self.dim() > 0)
    expected[static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), "index_add"))] = index.impl()->numel();
  FUSELET_CHECK(same_sizes(expected, source.sizes()), "index_add: source must have shape ", to_string(expected),
                ", got ", to_string(source.sizes()));
  set_dense(out, Dims(self.sizes()), self.dtype());
}

void embedding(const Call& call, TensorMeta* out) {
  const Tensor &weight = call.tensor(0), &indices = call.tensor(1);
  check_index(call, indices);
  FUSELET_CHECK(weight.dim() == 2, "embedding: weight must have shape (V, D), got ", to_string(weight.sizes()));
  if (call.has(2)) wrap_index(call.sym(2), weight.sizes()[0], 0, "embedding: padding_idx");
  Dims sizes(indices.sizes());
  sizes.push_back(weight.sizes()[1]);
  set_dense(out, std::move(sizes), weight.dtype());
}

void embedding_grad(const Call& call, TensorMeta* out) {
  const Tensor& grad = call.tensor(0);
  FUSELET_CHECK(grad.dim() > 0, "embedding_grad: expected a gradient of shape (…, D)");
  set_dense(out, {call.sym(2), grad.sizes().back()}, grad.dtype());
}

void first(const Call& call, TensorMeta* out) {
  const Tensor &self = call.tensor(0), &src = call.tensor(1);
  check_same_dtype(call, self, src);
  Dims expected(self.sizes());
  size_t dim = static_cast<size_t>(wrap_dim(call.integer(2), self.dim(), call.op->name));
  FUSELET_CHECK(self.dim() > 0, call.op->name, ": a 0-d tensor has no dimension");
  if (call.num_args == 4) {
    wrap_index(call.sym(3), self.sizes()[dim], static_cast<int64_t>(dim), call.op->name);
    expected.erase(dim);
  } else {
    expected[dim] = slice_bounds(call, 3, self.sizes()[dim]).count;
  }
  FUSELET_CHECK(same_sizes(expected, src.sizes()), call.op->name, ": src must have shape ", to_string(expected),
                ", got ", to_string(src.sizes()));
  set_dense(out, Dims(self.sizes()), self.dtype());
}

void as_strided_scatter(const Call& call, TensorMeta* out) {
  const Tensor &self = call.tensor(0), &src = call.tensor(1);
  check_same_dtype(call, self, src);
  FUSELET_CHECK(same_sizes(call.ints(2), src.sizes()), "as_strided_scatter: src must have shape ",
                to_string(call.ints(2)), ", got ", to_string(src.sizes()));
  out->sizes = Dims(self.sizes());
  out->strides = strides_like(self.sizes(), self.sizes(), self.strides());
  out->dtype = self.dtype();
}

void as_strided_grad(const Call& call, TensorMeta* out) {
  out->sizes = Dims(call.ints(1));
  out->strides = strides_like(call.ints(1), call.ints(1), call.ints(2));
  out->dtype = call.tensor(0).dtype();
}

}  // namespace fuselet::shape
