#include "frontend/cpp/optim/rmsprop.h"

#include "core/ops/functions.h"
#include "frontend/cpp/optim/tensor_steps.h"

namespace fuselet::optim {
namespace {

enum Slot : size_t { kSquareAverage, kMomentumBuffer, kGradientAverage, kNumSlots };

}  // namespace

RMSprop::RMSprop(std::vector<Tensor> parameters, RMSpropOptions options)
    : RMSprop(std::vector<Group<RMSpropOptions>>{{std::move(parameters), options}}) {}

RMSprop::RMSprop(std::vector<Group<RMSpropOptions>> groups) : Optimizer("RMSprop") {
  for (Group<RMSpropOptions>& group : groups) {
    const RMSpropOptions& o = group.options;
    FUSELET_CHECK(o.alpha >= 0 && o.alpha <= 1 && o.eps >= 0 && o.weight_decay >= 0 && o.momentum >= 0,
                  "RMSprop: alpha must lie in [0, 1], eps, weight_decay and momentum must not be negative, got ",
                  o.alpha, ", ", o.eps, ", ", o.weight_decay, " and ", o.momentum);
    options_.push_back(o);
    add_group(std::move(group.parameters), o.lr, kNumSlots);
  }
}

const char* RMSprop::slot_name(size_t slot) const {
  constexpr const char* kNames[] = {"square_avg", "momentum_buffer", "grad_avg"};
  return kNames[slot];
}

void RMSprop::update(size_t index, const Lockstep& set) {
  const RMSpropOptions& o = options_[index];
  for (size_t i = 0; i < set.parameters.size(); ++i) {
    Tensor p = set.parameters[i];
    Tensor g = direction(set.grads[i], p, o.weight_decay, o.maximize);
    Tensor v = take_in(set.slots[kSquareAverage][i], g * g, o.alpha);
    if (o.centered) {
      Tensor a = take_in(set.slots[kGradientAverage][i], g, o.alpha);
      v = v - a * a;
    }
    Tensor d = g / (sqrt(v) + o.eps);
    if (o.momentum != 0) {
      Tensor buffer = set.slots[kMomentumBuffer][i];
      d = wide(buffer) * o.momentum + d;
      buffer.copy_(d);
    }
    p.copy_(wide(p) - mul(d, Scalar(lr_cell(index))));
  }
}

}  // namespace fuselet::optim
