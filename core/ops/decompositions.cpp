// What fused operators are in terms of simpler ones. 16-bit inputs are cast up first and the result is cast down once.
#include "core/ops/decompositions.h"

#include "core/casts.h"
#include "core/ops/functions.h"
#include "core/ops/reduced_dims.h"
#include "core/random_values.h"

namespace fuselet::decompose {
namespace {

DType compute_dtype(DType t) { return size_of(t) == 2 ? DType::Float32 : t; }
Tensor up(const Tensor& t) { return t.dtype() == compute_dtype(t.dtype()) ? t : t.cast(compute_dtype(t.dtype())); }
Tensor down(const Tensor& t, DType to) { return t.dtype() == to ? t : t.cast(to); }

double count_of(const Tensor& self, IntList dim, const char* op) {
  return count_reduced(self.sizes(), reduced_dims(dim.view(), self.dim(), op));
}

// x / keep where the mask is true, else 0 * x: one product, which rounds as one with the mask and one with 1 / keep do.
Tensor dropped(const Tensor& x, const Tensor& mask, unsigned threshold) {
  Tensor wide = up(x);
  return down(wide * where(mask, full({}, philox::keep_scale(threshold), wide.dtype(), x.device()), 0), x.dtype());
}

}  // namespace

Tensor mean(const Tensor& self, IntList dim, bool keepdim, const std::optional<DType>& dtype) {
  DType to = dtype.value_or(self.dtype());
  Tensor x = down(self, compute_dtype(to));
  return down(x.sum(dim, keepdim) / count_of(self, dim, "mean"), to);
}

Tensor var(const Tensor& self, IntList dim, int64_t correction, bool keepdim) {
  Tensor x = up(self);
  Tensor centred = x - x.mean(dim, true);
  double divisor = std::max(count_of(self, dim, "var") - static_cast<double>(correction), 0.0);
  return down(centred.square().sum(dim, keepdim) / divisor, self.dtype());
}

std::array<Tensor, 2> dropout_forward(const Tensor& self, double p) {
  unsigned threshold = philox::keep_threshold(p);
  Tensor mask = bernoulli(self.sizes(), threshold / 65536.0, self.device());
  return {dropped(self, mask, threshold), mask};
}

Tensor dropout_grad(const Tensor& grad_output, const Tensor& mask, double p) {
  return dropped(grad_output, mask, philox::keep_threshold(p));
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2) {
  return down(matmul(up(mat1), up(mat2)) + up(self), mat1.dtype());
}

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (!bias.defined()) return matmul(input, weight.t());
  return down(matmul(up(input), up(weight).t()) + up(bias), input.dtype());
}

Tensor softmax(const Tensor& self, int64_t dim, const std::optional<DType>& dtype) {
  DType to = dtype.value_or(self.dtype());
  Tensor x = down(self, compute_dtype(to));
  if (self.impl()->numel() == 0) return down(x.exp(), to);
  Tensor e = exp(x - x.amax(dim, true));
  return down(e * (1 / e.sum(dim, true)), to);  // one division a row
}

Tensor softmax_grad(const Tensor& grad_output, const Tensor& output, int64_t dim) {
  Tensor g = up(grad_output), y = up(output);
  return down(y * (g - (g * y).sum(dim, true)), output.dtype());
}

Tensor log_softmax(const Tensor& self, int64_t dim, const std::optional<DType>& dtype) {
  DType to = dtype.value_or(self.dtype());
  Tensor x = down(self, compute_dtype(to));
  if (self.impl()->numel() == 0) return down(x.exp(), to);
  Tensor shifted = x - x.amax(dim, true);
  return down(shifted - log(exp(shifted).sum(dim, true)), to);
}

Tensor log_softmax_grad(const Tensor& grad_output, const Tensor& output, int64_t dim) {
  Tensor g = up(grad_output), y = up(output);
  return down(g - exp(y) * g.sum(dim, true), output.dtype());
}

namespace {

Dims trailing_dims(const Tensor& x, DimsView normalized) {
  Dims dims;
  for (size_t d = x.sizes().size() - normalized.size(); d < x.sizes().size(); ++d)
    dims.push_back(static_cast<int64_t>(d));
  return dims;
}

// Over all dimensions before the normalized ones; a single row is summed too, so that it comes to +0 where it is -0.
Tensor sum_of_rows(const Tensor& x, IntList normalized) {
  bool single = x.sizes().size() == normalized.view().size();
  return (single ? x.unsqueeze(0) : x).sum_to_size(normalized);
}

}  // namespace

std::array<Tensor, 3> layer_norm_forward(const Tensor& input, IntList normalized_shape, const Tensor& weight,
                                         const Tensor& bias, double eps) {
  Tensor x = up(input);
  Dims dims = trailing_dims(x, normalized_shape.view());
  Tensor mean = x.mean(dims, true);
  Tensor centred = x - mean;
  Tensor rstd = (centred.square().mean(dims, true) + eps).rsqrt();
  Tensor y = centred * rstd;
  if (weight.defined()) y = y * up(weight);
  if (bias.defined()) y = y + up(bias);
  return {down(y, input.dtype()), mean, rstd};
}

std::array<Tensor, 3> layer_norm_grad(const Tensor& grad_output, const Tensor& input, const Tensor& mean,
                                      const Tensor& rstd, const Tensor& weight, IntList normalized_shape) {
  Tensor g = up(grad_output), x = up(input);
  Dims dims = trailing_dims(x, normalized_shape.view());
  Tensor y = (x - mean) * rstd;
  Tensor gw = weight.defined() ? g * up(weight) : g;
  Tensor dx = (gw - gw.mean(dims, true) - y * (gw * y).mean(dims, true)) * rstd;
  DType to = weight.defined() ? weight.dtype() : input.dtype();
  return {down(dx, input.dtype()), down(sum_of_rows(g * y, normalized_shape), to),
          down(sum_of_rows(g, normalized_shape), to)};
}

namespace {

struct CrossEntropyParts {
  Tensor valid;       // (N, 1) bool: the row counts
  Tensor picked;      // (N, 1) class index; 0 where the row does not count, C where the target is negative
  Tensor row_weight;  // (N, 1) weight of the row's class, 0 where it does not count
  Tensor divisor;     // 0-d, for reduction mean
};

CrossEntropyParts parts_of(const Tensor& x, const Tensor& target, const Tensor& weight, int64_t ignore_index) {
  CrossEntropyParts p;
  Tensor t = down(target, DType::Int64).unsqueeze(1);
  p.valid = t != ignore_index;
  p.picked = where(p.valid, where(t < 0, x.size(1), t), 0);
  p.row_weight = weight.defined() ? where(p.valid, up(weight).index_select(0, p.picked.squeeze(1)).unsqueeze(1), 0)
                                  : p.valid.cast(x.dtype());
  p.divisor = p.row_weight.sum();
  return p;
}

}  // namespace

Tensor cross_entropy_forward(const Tensor& input, const Tensor& target, const Tensor& weight, const char* reduction,
                             int64_t ignore_index, double label_smoothing) {
  Tensor x = up(input);
  Tensor logp = x.log_softmax(1);
  CrossEntropyParts p = parts_of(x, target, weight, ignore_index);
  Tensor loss = -(logp.gather(1, p.picked) * p.row_weight);
  if (label_smoothing > 0) {
    Tensor each = weight.defined() ? logp * up(weight) : logp;
    Tensor smooth = where(p.valid, -each.mean(1, true), 0);
    loss = loss * (1 - label_smoothing) + smooth * label_smoothing;
  }
  loss = where(p.valid, loss, 0);
  std::string_view how = reduction;
  if (how == "none") return down(loss.squeeze(1), input.dtype());
  return down(how == "sum" ? loss.sum() : loss.sum() / p.divisor, input.dtype());
}

Tensor cross_entropy_grad(const Tensor& grad_output, const Tensor& input, const Tensor& target, const Tensor& weight,
                          const char* reduction, int64_t ignore_index, double label_smoothing) {
  Tensor x = up(input), g = up(grad_output);
  Tensor probability = x.softmax(1);
  CrossEntropyParts p = parts_of(x, target, weight, ignore_index);
  std::string_view how = reduction;
  Tensor row_grad = how == "none" ? g.unsqueeze(1) : how == "sum" ? g : g / p.divisor;
  double classes = static_cast<double>(input.size(1));
  Tensor one_hot = arange(input.size(1), {}, 1, DType::Int64, x.device()) == p.picked;
  // d/dz of the picked class' term: w_t (softmax - one_hot); of the smooth term: mean over c of w_c (softmax -
  // one_hot_c)
  Tensor d = p.row_weight * (probability - one_hot) * (1 - label_smoothing);
  if (label_smoothing > 0) {
    Tensor w = weight.defined() ? up(weight) : Tensor();
    Tensor smooth = w.defined() ? probability * w.sum() - w : probability * classes - 1;
    d = d + smooth * (label_smoothing / classes);
  }
  return down(where(p.valid, d * row_grad, 0), input.dtype());
}

}  // namespace fuselet::decompose
