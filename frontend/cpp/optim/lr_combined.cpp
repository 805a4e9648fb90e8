#include "frontend/cpp/optim/lr_combined.h"

#include <algorithm>

namespace fuselet::optim {

void CombinedLR::check_owner(const Optimizer& optimizer) const {
  FUSELET_CHECK(!schedules_.empty(), "a combined schedule needs schedules");
  for (const auto& schedule : schedules_) {
    FUSELET_CHECK(schedule->schedules(optimizer), "a combined schedule's parts belong to another optimizer");
  }
}

void SequentialLR::begin() {
  FUSELET_CHECK(milestones_.size() + 1 == schedules_.size() && std::is_sorted(milestones_.begin(), milestones_.end()),
                "SequentialLR: expected ascending milestones, one fewer than schedules, got ", milestones_.size(),
                " for ", schedules_.size());
  apply();
}

double SequentialLR::rate(double base, int64_t steps) const {
  auto next = std::upper_bound(milestones_.begin(), milestones_.end(), steps);
  const int64_t start = next == milestones_.begin() ? 0 : *(next - 1);
  return schedules_[static_cast<size_t>(next - milestones_.begin())]->rate_after(base, steps - start);
}

double ChainedScheduler::rate(double base, int64_t steps) const {
  if (base == 0) return 0;
  double combined = base;
  for (const auto& schedule : schedules_) combined *= schedule->rate_after(base, steps) / base;
  return combined;
}

}  // namespace fuselet::optim
