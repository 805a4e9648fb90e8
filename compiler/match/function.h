// A compiled function: the tree of the paths that its code took, and the programs at their ends.
#pragma once
#include <mutex>

#include "compiler/match/ledger.h"
#include "compiler/match/program.h"
#include "compiler/match/settings.h"
#include "compiler/match/step.h"

namespace fuselet::match {

class Function {
 public:
  explicit Function(CompileSettings settings);
  ~Function();
  Function(const Function&) = delete;

  const CompileSettings& settings() const { return settings_; }
  Step& start() { return start_; }
  // The step behind `at` with this pattern: an existing one, or a new one.
  Step* add(Step& at, StepPattern pattern, const std::string& line);
  // The first program at `end` that serves, compiled by `build` if there is none; other threads that need one wait.
  template <class Serves, class Build>
  const Program& program_at(Step& end, const std::string& reason, const std::string& line, Serves&& serves,
                            Build&& build) {
    std::lock_guard lock(compiling_);
    for (const Program* p = end.programs.load(std::memory_order_acquire); p; p = p->next) {
      if (serves(*p)) return *p;
    }
    check_limit(reason);
    Stopwatch watch;
    std::shared_ptr<Program> made = build();
    note(reason, watch.milliseconds(), line);
    return publish(end, std::move(made));
  }
  // Error if no further program may be compiled.
  void check_limit(const std::string& reason) const;

  void count_call() { compiled_.fetch_add(1, std::memory_order_relaxed); }
  Ledger ledger() const;
  // Of the programs, in the order in which they were compiled.
  std::vector<report::CompileReport> reports() const;

 private:
  struct Stopwatch {
    Stopwatch();
    double milliseconds() const;
    int64_t start;
  };
  void note(const std::string& reason, double milliseconds, const std::string& line);
  const Program& publish(Step& end, std::shared_ptr<Program> made);

  CompileSettings settings_;
  Step start_;
  mutable std::mutex growing_, compiling_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<std::shared_ptr<const Program>> programs_;
  mutable std::mutex counting_;
  std::vector<Compilation> compilations_;
  std::atomic<int64_t> compiled_ = 0;
};

}  // namespace fuselet::match
