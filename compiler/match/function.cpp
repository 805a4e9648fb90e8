#include "compiler/match/function.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace fuselet {

void check_settings(const CompileSettings& s) {
  constexpr std::array<std::string_view, 4> kModes = {"default", "reduce-overhead", "max-autotune-no-cudagraphs",
                                                      "max-autotune"};
  FUSELET_CHECK(std::find(kModes.begin(), kModes.end(), s.mode) != kModes.end(),
                "compile: mode must be 'default', 'reduce-overhead', 'max-autotune-no-cudagraphs' or 'max-autotune', "
                "got '",
                s.mode, "'");
  FUSELET_CHECK(s.recompile_limit > 0, "compile: recompile_limit must be positive, got ", s.recompile_limit);
  FUSELET_CHECK(!s.memory_budget || *s.memory_budget >= 0, "compile: memory_budget must be a number of bytes, got ",
                s.memory_budget ? *s.memory_budget : 0);
  check_stages(s.stages);
}

namespace match {
namespace {

int64_t nanoseconds_now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

Function::Stopwatch::Stopwatch() : start(nanoseconds_now()) {}
double Function::Stopwatch::milliseconds() const { return static_cast<double>(nanoseconds_now() - start) * 1e-6; }

Function::Function(CompileSettings settings) : settings_(std::move(settings)) { check_settings(settings_); }
Function::~Function() = default;

Step* Function::add(Step& at, StepPattern pattern, const std::string& line) {
  std::lock_guard lock(growing_);
  for (Step* s = at.children.load(std::memory_order_relaxed); s; s = s->sibling) {
    if (static_cast<const StepPattern&>(*s) == pattern) return s;
  }
  auto step = std::make_unique<Step>();
  static_cast<StepPattern&>(*step) = std::move(pattern);
  step->parent = &at;
  step->number = at.number + 1;
  step->line = line;
  step->sibling = at.children.load(std::memory_order_relaxed);
  at.children.store(step.get(), std::memory_order_release);
  steps_.push_back(std::move(step));
  return steps_.back().get();
}

const Program& Function::publish(Step& end, std::shared_ptr<Program> made) {
  made->next = end.programs.load(std::memory_order_relaxed);
  programs_.push_back(made);
  end.programs.store(made.get(), std::memory_order_release);
  return *made;
}

void Function::note(const std::string& reason, double milliseconds, const std::string& line) {
  std::lock_guard lock(counting_);
  compilations_.push_back({reason, line, milliseconds});
}

void Function::check_limit(const std::string& reason) const {
  std::lock_guard lock(counting_);
  if (compilations_.size() < static_cast<size_t>(settings_.recompile_limit)) return;
  std::string list;
  for (size_t i = 0; i < compilations_.size(); ++i) {
    const Compilation& c = compilations_[i];
    list += concat("\n  ", i + 1, ". ", c.reason, c.line.empty() ? "" : concat(" at ", c.line));
  }
  fail("compile: '", settings_.name, "' would be compiled for the ", compilations_.size() + 1,
       "th time, but recompile_limit is ", settings_.recompile_limit, "; now: ", reason, "; before:", list);
}

Ledger Function::ledger() const {
  Ledger out;
  out.compiled = compiled_.load(std::memory_order_relaxed);
  std::lock_guard lock(counting_);
  out.compilations = compilations_;
  return out;
}

std::vector<report::CompileReport> Function::reports() const {
  std::lock_guard lock(compiling_);
  std::vector<report::CompileReport> out;
  for (const auto& p : programs_) out.push_back(p->report());
  return out;
}

}  // namespace match
}  // namespace fuselet
