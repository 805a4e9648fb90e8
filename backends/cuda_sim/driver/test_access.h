// Functions of libfuselet_cuda_sim.so for tests, to be found with dlsym.
#pragma once
#include <cstddef>

extern "C" {
// What was found since the last clear; a text stays until then.
int fuselet_cuda_sim_report_count();
const char* fuselet_cuda_sim_report_text(int i);
// Also ends the sticky error, which on a device nothing does but the end of the process.
void fuselet_cuda_sim_clear_reports();
// As FUSELET_SIM_MEMORY, FUSELET_SIM_ORDER and FUSELET_SIM_SCHEDULE, from now on; nonzero if it is not understood. The
// memory can grow to twice what the environment said when the device was initialised.
void fuselet_cuda_sim_set_memory(size_t bytes);
int fuselet_cuda_sim_set_order(const char* order);
int fuselet_cuda_sim_set_schedule(const char* order);
}
