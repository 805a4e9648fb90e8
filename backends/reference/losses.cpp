// Cross entropy of logits (N, C) and class indices (N), and its gradient, row by row.
#include <cmath>

#include "backends/reference/reference.h"

namespace fuselet::reference {
namespace {

struct CrossEntropy {
  const RefTensor &logits, &target;
  const RefTensor* weight;
  std::string reduction;
  int64_t ignore_index;
  double smoothing;

  int64_t rows() const { return logits.sizes[0]; }
  int64_t classes() const { return logits.sizes[1]; }
  int64_t target_of(int64_t row) const { return static_cast<int64_t>(target.at({row})); }
  bool counts(int64_t row) const { return target_of(row) != ignore_index; }
  double weight_of(int64_t c) const { return weight ? weight->at({c}) : 1.0; }
  double log_probability(int64_t row, int64_t c) const {
    double shift = -INFINITY, total = 0;
    for (int64_t k = 0; k < classes(); ++k) shift = std::fmax(shift, logits.at({row, k}));
    for (int64_t k = 0; k < classes(); ++k) total += std::exp(logits.at({row, k}) - shift);
    return logits.at({row, c}) - shift - std::log(total);
  }
  // How much of the row's loss is -log p(c).
  double share(int64_t row, int64_t c) const {
    double hard = c == target_of(row) ? 1 - smoothing : 0;
    return weight_of(c) * (hard + smoothing / static_cast<double>(classes()));
  }
  double loss(int64_t row) const {
    if (!counts(row)) return 0;
    double sum = 0;
    for (int64_t c = 0; c < classes(); ++c) {
      if (share(row, c) != 0) sum -= share(row, c) * log_probability(row, c);
    }
    return sum;
  }
  // The weights of the rows' classes; what a mean divides by.
  double divisor() const {
    double sum = 0;
    for (int64_t row = 0; row < rows(); ++row) sum += counts(row) ? weight_of(target_of(row)) : 0;
    return sum;
  }
};

CrossEntropy read(const RefCall& call, size_t first) {
  return {call.tensor(first),   call.tensor(first + 1),  call.has(first + 2) ? &call.tensor(first + 2) : nullptr,
          call.text(first + 3), call.integer(first + 4), call.number(first + 5)};
}

}  // namespace

void cross_entropy_forward(RefCall& call) {
  CrossEntropy e = read(call, 0);
  RefTensor losses = make({e.rows()}, e.logits.dtype);
  double sum = 0;
  for (int64_t row = 0; row < e.rows(); ++row) sum += losses.at({row}) = e.loss(row);
  if (e.reduction == "none") {
    call.outs = {losses};
  } else {
    call.outs = {make({}, e.logits.dtype, e.reduction == "sum" ? sum : sum / e.divisor())};
  }
}

void cross_entropy_grad(RefCall& call) {
  CrossEntropy e = read(call, 1);
  const RefTensor& grad = call.tensor(0);
  RefTensor out = make(e.logits.sizes, e.logits.dtype);
  double scale = e.reduction == "mean" ? 1 / e.divisor() : 1;
  for (int64_t row = 0; row < e.rows(); ++row) {
    if (!e.counts(row)) continue;
    double g = (grad.rank() == 0 ? grad.values[0] : grad.at({row})) * scale, shares = 0;
    for (int64_t c = 0; c < e.classes(); ++c) shares += e.share(row, c);
    // d(-log p(k))/dz_c = p(c) - [c == k], weighted by the shares of all k.
    for (int64_t c = 0; c < e.classes(); ++c) {
      out.at({row, c}) = g * (shares * std::exp(e.log_probability(row, c)) - e.share(row, c));
    }
  }
  call.outs = {out};
}

}  // namespace fuselet::reference
