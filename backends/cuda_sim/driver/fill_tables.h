// Each family of driver calls fills its part of the tables.
#pragma once
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

void fill_nvrtc(NvrtcApi& api);
void fill_device_calls(DriverApi& api);
void fill_memory_calls(DriverApi& api);
void fill_code_calls(DriverApi& api);
void fill_stream_calls(DriverApi& api);
void fill_graph_calls(DriverApi& api);

}  // namespace fuselet::cuda::sim
