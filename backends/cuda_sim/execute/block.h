// The running thread block: its threads, what each waits for, and the launch that it belongs to.
//
// Blocks run one after another, and the threads of a block one after another until one must wait. All of it lies in
// globals: one kernel runs at a time, under the simulator's lock.
#pragma once
#include <cstdint>
#include <string>

#include "backends/cuda_sim/execute/fiber.h"
#include "backends/cuda_sim/execute/race_cell.h"

namespace fuselet::cuda::sim {

class Module;
struct Function;

inline constexpr int kWarpSize = 32;
inline constexpr int kMaxThreads = 1024;

struct Index3 {
  unsigned x, y, z;
};

enum class ThreadState : uint8_t { NotStarted, Ready, AtBarrier, InCollective, Exited };

// What a lane of a warp does together with others.
enum class Collective : uint8_t { SyncWarp, Shuffle, Reduce, Call };

struct Thread {
  Index3 index;
  uint16_t linear = 0;
  ThreadState state = ThreadState::NotStarted;
  Fiber* fiber = nullptr;

  // Where and for what it waits.
  int line = 0;
  const void* pc = nullptr;
  Collective collective = Collective::SyncWarp;
  int kind = 0;
  unsigned mask = 0;
  uint64_t value = 0;  // given, then received
  int argument = 0, width = 0;
  void (*function)(void**) = nullptr;
  void* own = nullptr;

  // Which accesses of the lanes of its warp it knows to have happened in this epoch; see clocks_of.
  uint32_t clock_epoch = 0;
  uint16_t clocks[kWarpSize] = {};

  uint64_t steps = 0;

  int lane() const { return linear % kWarpSize; }
};

struct Block {
  Thread threads[kMaxThreads];
  Thread* current = nullptr;
  int num_threads = 0;
  int exited = 0, at_barrier = 0;
  int barrier_votes = 0, barrier_line = 0;
  Index3 index{}, dim{}, grid{};

  // Epochs: slots of cells before first_of_launch are of earlier launches, before first_of_block of other blocks.
  uint32_t epoch = 0, first_of_launch = 0, first_of_block = 0;

  // Of the launch.
  const Function* function = nullptr;
  const Module* module = nullptr;
  uintptr_t module_begin = 0;
  size_t module_bytes = 0;
  uintptr_t shared_begin = 0;  // the module's thread-local storage
  size_t shared_bytes = 0;
  // Its extern arrays, of which a launch asks for the first dynamic_used bytes.
  uintptr_t dynamic_arrays[4] = {};
  int num_dynamic_arrays = 0;
  size_t dynamic_used = 0;
  void* const* parameters = nullptr;
  void* main_stack_pointer = nullptr;
  bool abandoned = false;
  int findings = 0;
};
extern Block g_block;

// Runs all threads of the block at g_block.index. False if it was abandoned.
bool run_block();

// Called on a fiber.
void wait_for_others();  // the state has been set; returns when another thread has made it Ready
void make_thread_ready(Thread& thread);
// Leaves the kernel for good.
[[noreturn]] void abandon_launch();

// Recomputes what waits in this thread's warp, or at the barrier, after it exited.
void complete_collectives_of_warp(int warp);
void complete_barrier_if_all_arrived();

// The reports of a launch. Faults end it, findings do not; a place is reported once a launch.
[[noreturn]] void fault(int error, const std::string& text, const void* pc);
void finding(const std::string& text, const void* pc);
// " at softmax.cu:19 in kernel softmax, block (0,0,0), thread (37,0,0)".
std::string place_of(const void* pc, const Thread* thread);
std::string line_of(const void* pc);

}  // namespace fuselet::cuda::sim
