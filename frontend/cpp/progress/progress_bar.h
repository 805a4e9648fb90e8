// A progress bar for training loops: done of total, rate, loss, time left.
//
//   ProgressBar bar(loader.num_batches(), {.label = "epoch 1"});
//   for (…) bar.update(1, loss);
//
// On a terminal one line is redrawn, at most ten times a second; elsewhere a plain line appears every few seconds, and
// one at the end. Colour only on a terminal and without NO_COLOR in the environment. `quiet` writes nothing.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

namespace fuselet {

struct ProgressOptions {
  std::string label = {};
  std::string unit = "batch";
  bool quiet = false;
  std::FILE* file = stderr;
  std::optional<bool> terminal = std::nullopt;  // absent: asks the file
  double seconds_between_lines = 5;             // of plain lines
  std::function<double()> clock = {};           // seconds; absent: a steady clock
};

class ProgressBar {
 public:
  explicit ProgressBar(int64_t total, ProgressOptions options = {});
  // Closes the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;

  // `by` more units are done. The loss shown is a running mean over about the last twenty updates.
  void update(int64_t by = 1, std::optional<double> loss = std::nullopt);
  // Writes the last state; later calls do nothing.
  void finish();
  // What a plain line would say now.
  std::string line() const;

 private:
  double now() const;
  void draw();

  int64_t total_, done_ = 0;
  ProgressOptions options_;
  bool terminal_, coloured_, finished_ = false;
  double start_, last_drawn_;
  std::optional<double> loss_;
};

}  // namespace fuselet
