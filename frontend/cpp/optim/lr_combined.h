// Schedules made of schedules, which they hold; all belong to one optimizer and have its base rates. Where they stand
// is a count of steps, as for every schedule.
#pragma once
#include <memory>

#include "frontend/cpp/optim/lr_scheduler.h"

namespace fuselet::optim {

// What both kinds share: the schedules given by value.
class CombinedLR : public LRScheduler {
 protected:
  template <class... Schedules>
  explicit CombinedLR(Optimizer& optimizer, Schedules... schedules) : LRScheduler(optimizer) {
    (schedules_.push_back(std::make_shared<Schedules>(std::move(schedules))), ...);
    check_owner(optimizer);
  }

  std::vector<std::shared_ptr<LRScheduler>> schedules_;

 private:
  void check_owner(const Optimizer& optimizer) const;
};

// One schedule after another, each from its step 0: SequentialLR(sgd, {5}, LinearLR(sgd), CosineAnnealingLR(sgd, 20)).
// Milestones are the steps at which the next one begins. Error unless there is one milestone fewer than schedules.
class SequentialLR : public CombinedLR {
 public:
  template <class... Schedules>
  SequentialLR(Optimizer& optimizer, std::vector<int64_t> milestones, Schedules... schedules)
      : CombinedLR(optimizer, std::move(schedules)...), milestones_(std::move(milestones)) {
    begin();
  }

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  void begin();

  std::vector<int64_t> milestones_;
};

// All schedules at once: base times the product of the factors by which each would have changed it.
class ChainedScheduler : public CombinedLR {
 public:
  template <class... Schedules>
  explicit ChainedScheduler(Optimizer& optimizer, Schedules... schedules)
      : CombinedLR(optimizer, std::move(schedules)...) {
    apply();
  }

 protected:
  double rate(double base, int64_t steps) const override;
};

}  // namespace fuselet::optim
