#include "backends/cuda_sim/execute/launch.h"

#include <cstring>

#include "backends/cuda_sim/execute/access.h"
#include "backends/cuda_sim/execute/signals.h"
#include "backends/cuda_sim/settings.h"

namespace fuselet::cuda::sim {

namespace {

// CU_LAUNCH_PARAM_…
void* const kEnd = nullptr;
void* const kBufferPointer = reinterpret_cast<void*>(1);
void* const kBufferSize = reinterpret_cast<void*>(2);

bool read_extra(void** extra, const char*& buffer, size_t& bytes) {
  buffer = nullptr;
  bytes = 0;
  for (; *extra != kEnd; extra += 2) {
    if (*extra == kBufferPointer)
      buffer = static_cast<const char*>(extra[1]);
    else if (*extra == kBufferSize)
      bytes = *static_cast<const size_t*>(extra[1]);
    else
      return false;
  }
  return true;
}

}  // namespace

Result make_launch(const Function& function, Index3 grid, Index3 block, unsigned dynamic_shared, void** parameters,
                   void** extra, Launch& launch) {
  auto exceeds = [](Index3 i, uint64_t x, uint64_t y, uint64_t z) {
    return i.x == 0 || i.y == 0 || i.z == 0 || i.x > x || i.y > y || i.z > z;
  };
  if (exceeds(grid, 0x7fffffff, 65535, 65535) || exceeds(block, 1024, 1024, 64)) return kErrorInvalidValue;
  uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads > kMaxThreads) return kErrorInvalidValue;
  if (threads > static_cast<uint64_t>(function.max_threads)) return kErrorLaunchOutOfResources;
  if (dynamic_shared > function.max_dynamic_shared) return kErrorInvalidValue;

  launch = {&function, grid, block, dynamic_shared, "", {}};
  size_t bytes = 0;
  for (size_t i = 0; i < function.sizes.size(); ++i) {
    size_t alignment = function.alignments[i];
    bytes = (bytes + alignment - 1) / alignment * alignment;
    launch.offsets.push_back(bytes);
    bytes += function.sizes[i];
  }
  launch.parameters.resize(bytes);
  if (extra != nullptr) {
    const char* buffer;
    size_t given;
    if (parameters != nullptr || !read_extra(extra, buffer, given) || given < bytes || (bytes && buffer == nullptr))
      return kErrorInvalidValue;
    if (bytes) std::memcpy(launch.parameters.data(), buffer, bytes);
    return kSuccess;
  }
  for (size_t i = 0; i < function.sizes.size(); ++i) {
    if (parameters == nullptr || parameters[i] == nullptr) return kErrorInvalidValue;
    std::memcpy(launch.parameters.data() + launch.offsets[i], parameters[i], function.sizes[i]);
  }
  return kSuccess;
}

void run_launch(const Launch& launch) {
  const Module& module = *launch.function->module;
  Block& b = g_block;
  b.grid = launch.grid;
  b.dim = launch.block;
  b.function = launch.function;
  b.module = &module;
  b.module_begin = module.begin();
  b.module_bytes = module.bytes();
  b.shared_begin = module.shared_begin();
  b.shared_bytes = module.shared_bytes();
  b.dynamic_used = launch.dynamic_shared;
  b.num_dynamic_arrays = 0;
  while (b.num_dynamic_arrays < 4 && module.dynamic_array(b.num_dynamic_arrays) != 0) {
    b.dynamic_arrays[b.num_dynamic_arrays] = module.dynamic_array(b.num_dynamic_arrays);
    ++b.num_dynamic_arrays;
  }
  std::vector<void*> parameters;
  for (size_t offset : launch.offsets) parameters.push_back(const_cast<char*>(launch.parameters.data()) + offset);
  b.parameters = parameters.data();
  b.abandoned = false;
  b.findings = 0;
  b.first_of_launch = b.epoch + 1;

  CatchSignals signals;
  uint64_t blocks = uint64_t{b.grid.x} * b.grid.y * b.grid.z;
  bool reverse = settings().thread_order == ThreadOrder::Reverse;
  for (uint64_t i = 0; i < blocks; ++i) {
    uint64_t n = reverse ? blocks - 1 - i : i;
    b.index = {static_cast<unsigned>(n % b.grid.x), static_cast<unsigned>(n / b.grid.x % b.grid.y),
               static_cast<unsigned>(n / (uint64_t{b.grid.x} * b.grid.y))};
    begin_shared_memory();
    if (!run_block()) break;
  }
}

}  // namespace fuselet::cuda::sim
