#include "tests/perf/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "backends/cpu/parallel.h"

namespace fuselet::perf {

double seconds_of(const std::function<void()>& f) {
  auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

namespace {

double one_round(const std::function<void()>& f, int calls) {
  return seconds_of([&] {
           for (int i = 0; i < calls; ++i) f();
         }) /
         calls * 1e6;
}

}  // namespace

double microseconds_per_call(const std::function<void()>& f, int calls) {
  std::vector<double> rounds;
  for (int r = 0; r < 15; ++r) {
    double us = one_round(f, calls);
    if (r >= 3) rounds.push_back(us);
  }
  return median(rounds);
}

Pair microseconds_of_both(const std::function<void()>& first, const std::function<void()>& second, int calls) {
  std::vector<double> a, b;
  for (int r = 0; r < 15; ++r) {
    double x = one_round(first, calls), y = one_round(second, calls);
    if (r < 3) continue;
    a.push_back(x);
    b.push_back(y);
  }
  return {median(a), median(b)};
}

void print_line(const char* name, const char* variant, const char* unit, double value, const std::string& more) {
  std::printf("{\"case\": \"%s\", \"variant\": \"%s\", \"unit\": \"%s\", \"value\": %.4f, \"threads\": %d%s}\n", name,
              variant, unit, value, cpu::get_num_threads(), more.c_str());
  std::fflush(stdout);
}

}  // namespace fuselet::perf
