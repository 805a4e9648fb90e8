#include "backends/cuda_sim/report/report.h"

#include <cstdarg>
#include <cstdio>

#include "backends/cuda_sim/settings.h"
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

namespace {

std::vector<std::string>& mutable_reports() {
  static auto* list = new std::vector<std::string>;
  return *list;
}

}  // namespace

void report(std::string text, Result error) {
  std::fprintf(stderr, "fuselet simulated device: %s\n", text.c_str());
  mutable_reports().push_back(std::move(text));
  if (error != kSuccess) fail_device(error);
}

void report_finding(std::string text) { report(std::move(text), settings().strict ? kErrorLaunchFailed : kSuccess); }

const std::vector<std::string>& reports() { return mutable_reports(); }

void clear_reports() {
  mutable_reports().clear();
  simulator().sticky = kSuccess;
}

std::string format(const char* pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  std::string text(std::vsnprintf(nullptr, 0, pattern, arguments), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(arguments);
  va_end(again);
  return text;
}

}  // namespace fuselet::cuda::sim
