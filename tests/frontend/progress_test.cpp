// The progress bar's text, on a terminal and elsewhere.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "frontend/cpp/progress/progress_bar.h"

using fuselet::ProgressBar;

namespace {

struct Captured {
  std::FILE* file = std::tmpfile();
  double time = 100;
  ~Captured() { std::fclose(file); }
  std::string text() const {
    std::fflush(file);
    std::string all(static_cast<size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    size_t n = std::fread(all.data(), 1, all.size(), file);
    return all.substr(0, n);
  }
};

}  // namespace

TEST_CASE("plain lines come now and then, and one at the end") {
  Captured out;
  {
    ProgressBar bar(
        100, {.label = "epoch 1", .file = out.file, .terminal = false, .seconds_between_lines = 10, .clock = [&] {
                return out.time;
              }});
    for (int i = 0; i < 100; ++i) {
      out.time += 0.25;
      bar.update(1, 0.5);
    }
  }
  CHECK(out.text() ==
        "epoch 1: 40/100, 4.00 batch/s, loss 0.5000, 0:15 left\n"
        "epoch 1: 80/100, 4.00 batch/s, loss 0.5000, 0:05 left\n"
        "epoch 1: 100/100, 4.00 batch/s, loss 0.5000, took 0:25\n");
}

TEST_CASE("a terminal gets one line redrawn, coloured unless NO_COLOR is set") {
  for (bool colour : {true, false}) {
    if (colour) {
      unsetenv("NO_COLOR");
    } else {
      setenv("NO_COLOR", "1", 1);
    }
    Captured out;
    {
      ProgressBar bar(2, {.file = out.file, .terminal = true, .clock = [&] { return out.time; }});
      out.time += 1;
      bar.update();
      out.time += 1;
      bar.update();
    }
    std::string text = out.text();
    CHECK((text.find("\x1b[32m") != std::string::npos) == colour);
    CHECK(text.find("\r[") == 0);
    CHECK(text.find('\n') == text.size() - 1);
    CHECK(text.find("2/2, 1.00 batch/s, took 0:02") != std::string::npos);
  }
  unsetenv("NO_COLOR");
}

TEST_CASE("quiet writes nothing") {
  Captured out;
  {
    ProgressBar bar(3, {.quiet = true, .file = out.file, .terminal = true});
    bar.update(3);
  }
  CHECK(out.text().empty());
}
