#include "backends/cuda_sim/settings.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fuselet::cuda::sim {

namespace {

bool set_random(std::string_view text, uint64_t& seed) {
  if (text == "random") return true;
  if (!text.starts_with("random:")) return false;
  seed = std::strtoull(text.data() + 7, nullptr, 10) * 2 + 1;  // never 0
  return true;
}

bool apply_run_order(Settings& s, std::string_view text) {
  if (text == "eager")
    s.run_order = RunOrder::Eager;
  else if (text == "oldest")
    s.run_order = RunOrder::Oldest;
  else if (text == "newest")
    s.run_order = RunOrder::Newest;
  else if (set_random(text, s.run_seed))
    s.run_order = RunOrder::Random;
  else
    return false;
  return true;
}

bool apply_thread_order(Settings& s, std::string_view text) {
  if (text == "forward")
    s.thread_order = ThreadOrder::Forward;
  else if (text == "reverse")
    s.thread_order = ThreadOrder::Reverse;
  else if (set_random(text, s.thread_seed))
    s.thread_order = ThreadOrder::Random;
  else
    return false;
  return true;
}

void complain(const char* name, const char* value) {
  std::fprintf(stderr, "fuselet simulated device: %s=%s is not understood; ignored\n", name, value);
}

Settings read_environment() {
  Settings s;
  const char* text;
  if ((text = std::getenv("FUSELET_SIM_CHECK"))) s.checked = std::string_view(text) != "0";
  if ((text = std::getenv("FUSELET_SIM_STRICT"))) s.strict = std::string_view(text) != "0";
  if ((text = std::getenv("FUSELET_SIM_MEMORY"))) s.memory = std::strtoull(text, nullptr, 10);
  if ((text = std::getenv("FUSELET_SIM_STEPS"))) s.steps = std::strtoull(text, nullptr, 10);
  if ((text = std::getenv("FUSELET_SIM_ORDER")) && !apply_run_order(s, text)) complain("FUSELET_SIM_ORDER", text);
  if ((text = std::getenv("FUSELET_SIM_SCHEDULE")) && !apply_thread_order(s, text))
    complain("FUSELET_SIM_SCHEDULE", text);
  return s;
}

}  // namespace

Settings& settings() {
  static Settings instance = read_environment();
  return instance;
}

bool set_run_order(const char* text) { return apply_run_order(settings(), text); }
bool set_thread_order(const char* text) { return apply_thread_order(settings(), text); }

uint64_t next_random(uint64_t& state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1dull;
}

}  // namespace fuselet::cuda::sim
