#include "backends/cuda_sim/execute/fiber.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#if !defined(__x86_64__)
#error "the simulated device switches stacks in x86-64 assembly"
#endif

namespace fuselet::cuda::sim {

// The registers that a call must preserve, by the System V ABI. A jump, for `ret` would mispredict each time.
asm(R"(
.text
.globl fuselet_sim_switch
.hidden fuselet_sim_switch
.type fuselet_sim_switch, @function
fuselet_sim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rax
  jmp *%rax
.size fuselet_sim_switch, .-fuselet_sim_switch

.type fuselet_sim_fiber_start, @function
fuselet_sim_fiber_start:
  movq %r12, %rdi
  xorl %ebp, %ebp
  callq *%r13
  ud2
.size fuselet_sim_fiber_start, .-fuselet_sim_fiber_start
)");
extern "C" void fuselet_sim_fiber_start() asm("fuselet_sim_fiber_start");

namespace {

constexpr size_t kGuard = 4096;
constexpr size_t kSlot = kStackBytes + kGuard;

struct Pool {
  Fiber fibers[kMaxFibers];
  char* memory;
  Pool() {
    void* at = mmap(nullptr, kSlot * kMaxFibers, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    memory = static_cast<char*>(at);
  }
};
Pool& pool() {
  static Pool* instance = new Pool;
  return *instance;
}

}  // namespace

Fiber& fiber(int number) {
  Fiber& f = pool().fibers[number];
  if (f.stack == nullptr) {
    f.number = number;
    f.stack = pool().memory + number * kSlot + kGuard;
    mprotect(f.stack, kStackBytes, PROT_READ | PROT_WRITE);
  }
  return f;
}

void make_ready(Fiber& fiber, void (*entry)(Fiber*)) {
  // Tops at the same offset of each stack would compete for the same sets of the first cache.
  size_t colour = static_cast<size_t>(fiber.number % 61) * 192;
  void** top = reinterpret_cast<void**>(fiber.stack + kStackBytes - colour - 64);
  // What the switch pops: r15, r14, r13, r12, rbx, rbp, then the address. The stack is aligned as at a call after it.
  top -= 7;
  for (int i = 0; i < 7; ++i) top[i] = nullptr;
  top[2] = reinterpret_cast<void*>(entry);
  top[3] = &fiber;
  top[6] = reinterpret_cast<void*>(fuselet_sim_fiber_start);
  fiber.stack_pointer = top;
}

uintptr_t stacks_begin() { return reinterpret_cast<uintptr_t>(pool().memory); }
size_t stacks_bytes() { return kSlot * kMaxFibers; }

int guard_page_of(uintptr_t address) {
  uintptr_t offset = address - stacks_begin();
  return offset < stacks_bytes() && offset % kSlot < kGuard ? static_cast<int>(offset / kSlot) : -1;
}

}  // namespace fuselet::cuda::sim
