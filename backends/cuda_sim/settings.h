// The environment variables that the simulator reads, each once, at its first use.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuselet::cuda::sim {

// Of the pending operations that could run, which does (FUSELET_SIM_ORDER).
enum class RunOrder { Eager, Oldest, Newest, Random };
// In which order blocks, and runnable threads of a block, run (FUSELET_SIM_SCHEDULE).
enum class ThreadOrder { Forward, Reverse, Random };

struct Settings {
  // FUSELET_SIM_CHECK: kernels are compiled with every load and store checked; 0: several times faster, and only what
  // barriers, collectives and page protection show is found.
  bool checked = true;
  // FUSELET_SIM_STRICT: races and uninitialised reads fail the device as faults do.
  bool strict = true;
  // FUSELET_SIM_MEMORY, in bytes.
  size_t memory = size_t{1} << 30;
  // FUSELET_SIM_STEPS: basic blocks that one thread of a kernel may run (checked kernels only). 2^26 take about 2 s.
  uint64_t steps = uint64_t{1} << 26;
  // Oldest first: work is late, as on a device, and in the order of the program, so a failure is easy to follow. What
  // another order would reveal, the hazard check reports in any order.
  RunOrder run_order = RunOrder::Oldest;
  uint64_t run_seed = 1;
  ThreadOrder thread_order = ThreadOrder::Forward;
  uint64_t thread_seed = 1;
};
Settings& settings();

// eager, oldest, newest, random or random:SEED; false if it is none of them.
bool set_run_order(const char* text);
// forward, reverse, random or random:SEED.
bool set_thread_order(const char* text);

// xorshift64*, for the random orders.
uint64_t next_random(uint64_t& state);

}  // namespace fuselet::cuda::sim
