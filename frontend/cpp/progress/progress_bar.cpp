#include "frontend/cpp/progress/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fuselet {
namespace {

constexpr double kSecondsBetweenRedraws = 0.1;
constexpr double kLossMemory = 0.95;
constexpr int kBarCells = 24;

std::string format_number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

// "0:07", "12:30", "1:02:03".
std::string format_time(double seconds) {
  if (!std::isfinite(seconds) || seconds > 359999) return "?";
  int64_t s = std::llround(std::max(0.0, seconds));
  char text[32];
  if (s >= 3600) {
    std::snprintf(text, sizeof(text), "%d:%02d:%02d", static_cast<int>(s / 3600), static_cast<int>(s / 60 % 60),
                  static_cast<int>(s % 60));
  } else {
    std::snprintf(text, sizeof(text), "%d:%02d", static_cast<int>(s / 60), static_cast<int>(s % 60));
  }
  return text;
}

}  // namespace

ProgressBar::ProgressBar(int64_t total, ProgressOptions options) : total_(total), options_(std::move(options)) {
  terminal_ = options_.terminal.value_or(::isatty(::fileno(options_.file)) != 0);
  const char* no_color = std::getenv("NO_COLOR");
  coloured_ = terminal_ && (!no_color || !*no_color);
  start_ = now();
  last_drawn_ = terminal_ ? start_ - kSecondsBetweenRedraws : start_;
}

ProgressBar::~ProgressBar() { finish(); }

double ProgressBar::now() const {
  if (options_.clock) return options_.clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void ProgressBar::update(int64_t by, std::optional<double> loss) {
  if (finished_) return;
  done_ += by;
  if (loss) loss_ = loss_ ? kLossMemory * *loss_ + (1 - kLossMemory) * *loss : *loss;
  if (now() - last_drawn_ >= (terminal_ ? kSecondsBetweenRedraws : options_.seconds_between_lines)) draw();
}

std::string ProgressBar::line() const {
  double elapsed = now() - start_;
  double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
  std::string text = options_.label.empty() ? "" : options_.label + ": ";
  text += std::to_string(done_) + "/" + std::to_string(total_);
  if (rate > 0) text += ", " + format_number(rate < 10 ? "%.2f " : "%.0f ", rate) + options_.unit + "/s";
  if (loss_) text += ", loss " + format_number("%.4f", *loss_);
  if (finished_ || done_ >= total_) return text + ", took " + format_time(elapsed);
  if (rate > 0) text += ", " + format_time(static_cast<double>(total_ - done_) / rate) + " left";
  return text;
}

void ProgressBar::draw() {
  if (options_.quiet) return;
  last_drawn_ = now();
  if (!terminal_) {
    std::fprintf(options_.file, "%s\n", line().c_str());
  } else {
    double part = total_ > 0 ? std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0.0, 1.0) : 1;
    int full = static_cast<int>(part * kBarCells);
    std::string bar =
        std::string(static_cast<size_t>(full), '#') + std::string(static_cast<size_t>(kBarCells - full), '.');
    if (coloured_) bar = "\x1b[32m" + bar + "\x1b[0m";
    // \x1b[K clears what a longer line before has left.
    std::fprintf(options_.file, "\r[%s] %s\x1b[K", bar.c_str(), line().c_str());
  }
  std::fflush(options_.file);
}

void ProgressBar::finish() {
  if (finished_) return;
  finished_ = true;
  draw();
  if (terminal_ && !options_.quiet) {
    std::fputc('\n', options_.file);
    std::fflush(options_.file);
  }
}

}  // namespace fuselet
