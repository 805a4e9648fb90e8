// Stacks that threads of a kernel run on, and the switch between them.
//
// A fiber calls its entry again and again, once for each thread that it is given. One that is in the middle of a thread
// when a launch is abandoned is reset: nothing on a kernel's stack needs destruction.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuselet::cuda::sim {

struct Fiber {
  void* stack_pointer = nullptr;
  char* stack = nullptr;  // the lowest address that may be used
  int number = 0;
};

inline constexpr size_t kStackBytes = 64 * 1024;
inline constexpr int kMaxFibers = 1024;

// entry(fiber) must never return.
void make_ready(Fiber& fiber, void (*entry)(Fiber*));
// The fiber with this number, its stack mapped.
Fiber& fiber(int number);

// Saves the running context in *save and goes on in `target`.
extern "C" void fuselet_sim_switch(void** save, void* target);

// All stacks lie in one range, each above a page that faults.
uintptr_t stacks_begin();
size_t stacks_bytes();
// The number of the fiber whose guard page holds the address; -1 if none does.
int guard_page_of(uintptr_t address);

}  // namespace fuselet::cuda::sim
