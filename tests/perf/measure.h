// Timing and the output of the benchmarks: one JSON object a line.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace fuselet::perf {

double seconds_of(const std::function<void()>& f);
double median(std::vector<double> v);
// Median over rounds of `calls` calls each, after warm ones.
double microseconds_per_call(const std::function<void()>& f, int calls);
// Two functions in alternating blocks, so that a change of the machine's clock meets both: their medians per call.
struct Pair {
  double first, second;
};
Pair microseconds_of_both(const std::function<void()>& first, const std::function<void()>& second, int calls);

void print_line(const char* name, const char* variant, const char* unit, double value, const std::string& more = "");

struct Bench {
  const char* name;
  void (*run)();
};
// Of bench_compiled.cpp: compiled functions beside eager mode and the memory's ceiling.
extern const std::vector<Bench> kCompiledBenches;

}  // namespace fuselet::perf
