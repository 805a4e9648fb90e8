// What the library exports: the tables, and what tests of the simulator steer and read.
#include "backends/cuda_sim/driver/fill_tables.h"

#include "backends/cuda_sim/driver/test_access.h"
#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/order/operation.h"
#include "backends/cuda_sim/report/report.h"
#include "backends/cuda_sim/settings.h"

namespace fuselet::cuda::sim {

FUSELET_SIM_EXPORT int fuselet_cuda_sim_fill_tables(DriverApi* driver, NvrtcApi* nvrtc) {
  fill_device_calls(*driver);
  fill_memory_calls(*driver);
  fill_code_calls(*driver);
  fill_stream_calls(*driver);
  fill_graph_calls(*driver);
  fill_nvrtc(*nvrtc);
  return 0;
}

FUSELET_SIM_EXPORT int fuselet_cuda_sim_report_count() {
  Call call(Call::kNothing);
  return static_cast<int>(reports().size());
}

FUSELET_SIM_EXPORT const char* fuselet_cuda_sim_report_text(int i) {
  Call call(Call::kNothing);
  return i >= 0 && i < static_cast<int>(reports().size()) ? reports()[static_cast<size_t>(i)].c_str() : nullptr;
}

FUSELET_SIM_EXPORT void fuselet_cuda_sim_clear_reports() {
  Call call(Call::kNothing);
  // What the error kept from running is past.
  if (simulator().sticky != kSuccess) wait_for_all();
  clear_reports();
}

FUSELET_SIM_EXPORT void fuselet_cuda_sim_set_memory(size_t bytes) {
  Call call(Call::kNothing);
  set_memory_size(bytes);
}

FUSELET_SIM_EXPORT int fuselet_cuda_sim_set_order(const char* order) {
  Call call(Call::kNothing);
  return set_run_order(order) ? 0 : kErrorInvalidValue;
}

FUSELET_SIM_EXPORT int fuselet_cuda_sim_set_schedule(const char* order) {
  Call call(Call::kNothing);
  return set_thread_order(order) ? 0 : kErrorInvalidValue;
}

}  // namespace fuselet::cuda::sim
