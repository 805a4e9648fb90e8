// The random generator: a seed and a count of draws. A random operator takes exactly one draw number, in program order,
// whatever its size and whether its result is used; element i of the result is a function of (seed, draw, i) alone.
#pragma once
#include <cstdint>
#include <mutex>

namespace fuselet {

struct GeneratorState {
  uint64_t seed = 0;
  uint64_t draws = 0;
  friend bool operator==(const GeneratorState&, const GeneratorState&) = default;
};

class Generator {
 public:
  // The state before the draw that is handed out.
  GeneratorState next_draw(uint64_t count = 1);
  GeneratorState state() const;
  void set_state(GeneratorState state);

 private:
  mutable std::mutex mutex_;
  GeneratorState state_;
};

Generator& default_generator();
// Seeds the default generator and starts its draws at 0.
void manual_seed(uint64_t seed);

// The draw of the random operator that runs now: the default generator's next, or what a replay has set for this
// thread.
GeneratorState take_draw();
// True inside a ReplayDrawScope.
bool draw_is_given();
class ReplayDrawScope {
 public:
  explicit ReplayDrawScope(GeneratorState draw);
  ~ReplayDrawScope();
  ReplayDrawScope(const ReplayDrawScope&) = delete;
};

}  // namespace fuselet
