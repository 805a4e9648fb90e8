#include "core/generator.h"

#include <optional>

namespace fuselet {
namespace {

thread_local std::optional<GeneratorState> t_replay_draw;

}  // namespace

GeneratorState Generator::next_draw(uint64_t count) {
  std::lock_guard lock(mutex_);
  GeneratorState before = state_;
  state_.draws += count;
  return before;
}

GeneratorState Generator::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

void Generator::set_state(GeneratorState state) {
  std::lock_guard lock(mutex_);
  state_ = state;
}

Generator& default_generator() {
  static Generator generator;
  return generator;
}

void manual_seed(uint64_t seed) { default_generator().set_state({seed, 0}); }

GeneratorState take_draw() { return t_replay_draw ? *t_replay_draw : default_generator().next_draw(); }

ReplayDrawScope::ReplayDrawScope(GeneratorState draw) { t_replay_draw = draw; }
ReplayDrawScope::~ReplayDrawScope() { t_replay_draw.reset(); }

}  // namespace fuselet
