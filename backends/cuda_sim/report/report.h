// What the simulated device found: kept for tests, printed as it is found.
#pragma once
#include <string>
#include <vector>

#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda::sim {

// Under the lock. `error` becomes the device's sticky error.
void report(std::string text, Result error);
// Races, reads of what was never written, hazards between streams: an error only with FUSELET_SIM_STRICT.
void report_finding(std::string text);

const std::vector<std::string>& reports();
// Also the sticky error.
void clear_reports();

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace fuselet::cuda::sim
