// cross_entropy_forward and cross_entropy_grad, row by row in the operations and the order of their decompositions.
//
// x: (N, C) logits. w_t: weight of a row's class, 0 for an ignored row. Ignored rows give loss and gradient 0 exactly.
#include <algorithm>
#include <string_view>

#include "backends/cpu/dense.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/rows.h"

namespace fuselet::cpu {
namespace {

constexpr int64_t kLossGrain = 8192;  // logits of a thread below which waking another one does not pay
constexpr int64_t kIgnored = -1;

// Class of each row, kIgnored for ignored ones. IndexError before anything is written.
Scratch read_targets(const Tensor& target, int64_t classes, int64_t ignore_index) {
  const int64_t n = target.numel();
  Scratch values(static_cast<size_t>(n) * sizeof(int64_t));
  gather_into(*target.impl(), values.data(), DType::Int64);
  for (int64_t i = 0; i < n; ++i) {
    int64_t& t = values.as<int64_t>()[i];
    if (t == ignore_index) {
      t = kIgnored;
    } else {
      FUSELET_CHECK_INDEX(t >= 0 && t < classes, "cross_entropy: target ", t, " of row ", i, " is out of range for ",
                          classes, " classes");
    }
  }
  return values;
}

template <class T>
struct Loss {
  int64_t rows, classes;
  Scratch targets;
  DenseIn<T> logits, weights;
  T smoothing, rest, spread;  // label_smoothing, 1 - label_smoothing, label_smoothing / C
  Scratch row_weights;

  Loss(const Tensor& input, const Tensor& target, const Call& call, int weight_arg, int64_t ignore_index,
       double label_smoothing)
      : rows(input.sizes()[0].word()),
        classes(input.sizes()[1].word()),
        targets(read_targets(target, classes, ignore_index)),
        logits(input),
        weights(optional_in<T>(call, weight_arg)),
        smoothing(static_cast<T>(label_smoothing)),
        rest(static_cast<T>(1 - label_smoothing)),
        spread(static_cast<T>(label_smoothing / static_cast<double>(classes))),
        row_weights(static_cast<size_t>(rows) * sizeof(T)) {
    for (int64_t i = 0; i < rows; ++i) {
      row_weights.as<T>()[i] = target_of(i) == kIgnored ? T(0) : weights.data() ? weights.data()[target_of(i)] : T(1);
    }
  }
  int64_t target_of(int64_t row) const { return targets.as<int64_t>()[row]; }
  T weight_of(int64_t row) const { return row_weights.as<T>()[row]; }
  T divisor() const { return row_sum(row_weights.as<T>(), rows); }
};

template <class T>
T row_loss(const Loss<T>& loss, int64_t row) {
  const int64_t target = loss.target_of(row), n = loss.classes;
  if (target == kIgnored) return 0;
  const T *x = loss.logits.data() + row * n, *w = loss.weights.data();
  const T top = row_max(x, n);
  const T log_sum = formula::log(reduce_row(
      n, T(0), [x, top]<class V>(long long i) { return formula::exp(load_lanes<V>(x + i) - top); }, Plus()));
  const T value = -((x[target] - top - log_sum) * loss.weight_of(row));
  if (loss.smoothing == 0) return value;
  const T sum = reduce_row(
      n, T(0),
      [=]<class V>(long long i) {
        const V each = load_lanes<V>(x + i) - top - log_sum;
        return w ? each * load_lanes<V>(w + i) : each;
      },
      Plus());
  return value * loss.rest + -(sum / static_cast<T>(n)) * loss.smoothing;
}

template <class T>
void forward(const Call& call) {
  const Loss<T> loss(call.tensor(0), call.tensor(1), call, 2, call.integer(4), call.number(5));
  const std::string_view reduction = call.text(3);
  Scratch losses(static_cast<size_t>(loss.rows) * sizeof(T));
  T* each = losses.as<T>();
  parallel_for(loss.rows, std::max<int64_t>(kLossGrain / std::max<int64_t>(loss.classes, 1), 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) each[row] = row_loss(loss, row);
               });
  DenseOut<T> out(call.outs[0]);
  if (reduction == "none") {
    std::copy_n(each, loss.rows, out.data());
  } else {
    const T sum = row_sum(each, loss.rows);
    *out.data() = reduction == "sum" ? sum : sum / loss.divisor();
  }
  out.finish();
}

template <class T>
void row_grad(const Loss<T>& loss, int64_t row, T scale, T weight_sum, T* y) {
  const int64_t target = loss.target_of(row), n = loss.classes;
  if (target == kIgnored) {
    std::fill_n(y, n, T(0));
    return;
  }
  const T *x = loss.logits.data() + row * n, *w = loss.weights.data();
  const T top = row_max(x, n);
  map_row<T>(y, {x}, n, [top](auto v) { return formula::exp(v - top); });
  const T share = T(1) / row_sum(y, n), row_weight = loss.weight_of(row), rest = loss.rest;
  if (loss.smoothing == 0) {
    const T picked = y[target] * share;
    map_row<T>(y, {y}, n, [=](auto v) { return row_weight * (v * share) * rest * scale; });
    y[target] = row_weight * (picked - T(1)) * rest * scale;
    return;
  }
  for (int64_t c = 0; c < n; ++c) {
    const T probability = y[c] * share, class_weight = w ? w[c] : T(1);
    const T picked = row_weight * (probability - (c == target ? T(1) : T(0))) * rest;
    y[c] = (picked + (probability * weight_sum - class_weight) * loss.spread) * scale;
  }
}

template <class T>
void backward(const Call& call) {
  const Loss<T> loss(call.tensor(1), call.tensor(2), call, 3, call.integer(5), call.number(6));
  const std::string_view reduction = call.text(4);
  DenseIn<T> grad(call.tensor(0));
  DenseOut<T> out(call.outs[0]);
  const T divisor = reduction == "mean" ? loss.divisor() : T(1);
  const T weight_sum = loss.weights.data() ? row_sum(loss.weights.data(), loss.classes) : static_cast<T>(loss.classes);
  parallel_for(loss.rows, std::max<int64_t>(kLossGrain / std::max<int64_t>(loss.classes, 1), 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const T scale = reduction == "none"  ? grad.data()[row]
                                   : reduction == "sum" ? *grad.data()
                                                        : *grad.data() / divisor;
                   row_grad(loss, row, scale, weight_sum, out.data() + row * loss.classes);
                 }
               });
  out.finish();
}

}  // namespace

void cross_entropy_forward(const Call& call) {
  with_float_type(call.tensor(0).dtype(), [&](auto zero) { forward<decltype(zero)>(call); });
}

void cross_entropy_grad(const Call& call) {
  with_float_type(call.tensor(1).dtype(), [&](auto zero) { backward<decltype(zero)>(call); });
}

}  // namespace fuselet::cpu
