#include "core/generator.h"

#include <optional>

#include "core/dispatch_state.h"
#include "core/recording.h"

namespace fuselet {
namespace {

thread_local std::optional<GeneratorState> t_replay_draw;

// Draws that a compiled function running on this thread has passed come first.
uint64_t pending_draws(const Generator& g) {
  const CompiledCall* call = dispatch_state().compiled_call;
  return call && &g == &default_generator() ? call->pending_draws() : 0;
}

void refuse_between_draws(const Generator& g) {
  if (pending_draws(g) > 0) dispatch_state().compiled_call->refuse("a use of the default generator between its draws");
}

}  // namespace

GeneratorState Generator::next_draw(uint64_t count) {
  refuse_between_draws(*this);
  std::lock_guard lock(mutex_);
  GeneratorState before = state_;
  state_.draws += count;
  return before;
}

GeneratorState Generator::state() const {
  std::lock_guard lock(mutex_);
  return {state_.seed, state_.draws + pending_draws(*this)};
}

void Generator::set_state(GeneratorState state) {
  refuse_between_draws(*this);
  std::lock_guard lock(mutex_);
  state_ = state;
}

Generator& default_generator() {
  static Generator generator;
  return generator;
}

void manual_seed(uint64_t seed) { default_generator().set_state({seed, 0}); }

GeneratorState take_draw() { return t_replay_draw ? *t_replay_draw : default_generator().next_draw(); }

bool draw_is_given() { return t_replay_draw.has_value(); }

ReplayDrawScope::ReplayDrawScope(GeneratorState draw) { t_replay_draw = draw; }
ReplayDrawScope::~ReplayDrawScope() { t_replay_draw.reset(); }

}  // namespace fuselet
