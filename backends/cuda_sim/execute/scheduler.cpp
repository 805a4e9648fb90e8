// Which thread of the block runs next.
//
// Runnable threads queue up. A thread that ends leaves its fiber to the next that has not started, so a kernel in which
// nobody waits runs on one fiber without a switch.
#include <cstring>
#include <map>

#include "backends/cuda_sim/execute/block.h"
#include "backends/cuda_sim/module/module.h"
#include "backends/cuda_sim/report/report.h"
#include "backends/cuda_sim/settings.h"
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

Block g_block;

namespace {

// Ring of the runnable threads; each is in it at most once.
Thread* ring[kMaxThreads];
int ring_first, ring_count;
// Fibers without a thread, and how many of the pool this launch has used.
Fiber* idle[kMaxFibers];
int num_idle, num_used;
Thread* starting;  // what a fiber taken from idle is to run

Thread* take_runnable() {
  if (ring_count == 0) return nullptr;
  if (settings().thread_order == ThreadOrder::Random) {
    int pick = static_cast<int>(next_random(settings().thread_seed) % static_cast<uint64_t>(ring_count));
    std::swap(ring[ring_first], ring[(ring_first + pick) % kMaxThreads]);
  }
  Thread* thread = ring[ring_first];
  ring_first = (ring_first + 1) % kMaxThreads;
  --ring_count;
  return thread;
}

void run_threads(Fiber* self);

// Where `thread` goes on; a thread that has not started gets a fiber.
Fiber* fiber_for(Thread* thread) {
  if (thread->state == ThreadState::Ready && thread->fiber != nullptr) return thread->fiber;
  Fiber* chosen;
  if (num_idle > 0) {
    chosen = idle[--num_idle];
  } else {
    chosen = &fiber(num_used++);
    make_ready(*chosen, run_threads);
  }
  starting = thread;
  return chosen;
}

// Saves into *save and runs `thread`, or the main stack if there is none.
void go_on_with(Thread* thread, void** save) {
  if (thread == nullptr) return fuselet_sim_switch(save, g_block.main_stack_pointer);
  Fiber* target = fiber_for(thread);
  g_block.current = thread;
  fuselet_sim_switch(save, target->stack_pointer);
}

void run_threads(Fiber* self) {
  for (;;) {
    Thread* thread = starting;
    while (thread != nullptr) {
      thread->fiber = self;
      g_block.current = thread;
      g_block.function->run(g_block.parameters);
      thread->state = ThreadState::Exited;
      ++g_block.exited;
      complete_collectives_of_warp(thread->linear / kWarpSize);
      complete_barrier_if_all_arrived();
      Thread* next = take_runnable();
      if (next != nullptr && next->state == ThreadState::NotStarted) {
        thread = next;
        continue;
      }
      idle[num_idle++] = self;
      thread = nullptr;
      go_on_with(next, &self->stack_pointer);
    }
  }
}

std::string where_all_wait() {
  std::map<std::string, std::pair<int, int>> places;  // place: how many, the first
  for (int t = 0; t < g_block.num_threads; ++t) {
    const Thread& thread = g_block.threads[t];
    if (thread.state == ThreadState::Exited) continue;
    std::string place =
        (thread.state == ThreadState::AtBarrier ? "at a barrier, " : "in a warp operation, ") + line_of(thread.pc);
    auto [found, is_new] = places.try_emplace(place, 0, t);
    ++found->second.first;
  }
  std::string text;
  for (const auto& [place, who] : places)
    text += format("%s%d thread%s wait%s %s (first: %d)", text.empty() ? "" : "; ", who.first,
                   who.first == 1 ? "" : "s", who.first == 1 ? "s" : "", place.c_str(), who.second);
  return text;
}

void reset_fibers() {
  for (int f = 0; f < num_used; ++f) make_ready(fiber(f), run_threads);
  num_used = num_idle = 0;
}

}  // namespace

void make_thread_ready(Thread& thread) {
  thread.state = ThreadState::Ready;
  ring[(ring_first + ring_count++) % kMaxThreads] = &thread;
}

void wait_for_others() {
  Thread* self = g_block.current;
  Thread* next = take_runnable();
  if (next == self) {
    g_block.current = self;
    return;
  }
  go_on_with(next, &self->fiber->stack_pointer);
  g_block.current = self;
}

void abandon_launch() {
  g_block.abandoned = true;
  void* lost;
  fuselet_sim_switch(&lost, g_block.main_stack_pointer);
  __builtin_unreachable();
}

bool run_block() {
  Block& block = g_block;
  block.num_threads = static_cast<int>(block.dim.x * block.dim.y * block.dim.z);
  block.exited = block.at_barrier = block.barrier_votes = 0;
  block.first_of_block = ++block.epoch;
  ring_first = ring_count = 0;
  bool reverse = settings().thread_order == ThreadOrder::Reverse;
  for (int i = 0; i < block.num_threads; ++i) {
    int linear = reverse ? block.num_threads - 1 - i : i;
    unsigned u = static_cast<unsigned>(linear);
    Thread& thread = block.threads[linear];
    thread.index = {u % block.dim.x, u / block.dim.x % block.dim.y, u / (block.dim.x * block.dim.y)};
    thread.linear = static_cast<uint16_t>(linear);
    thread.state = ThreadState::NotStarted;
    thread.fiber = nullptr;
    thread.steps = 0;
    ring[ring_count++] = &thread;
  }
  go_on_with(take_runnable(), &block.main_stack_pointer);
  if (!block.abandoned && block.exited < block.num_threads) {
    report("deadlock in kernel " + block.function->name +
               format(", block (%u,%u,%u): ", block.index.x, block.index.y, block.index.z) + where_all_wait(),
           kErrorLaunchFailed);
    block.abandoned = true;
  }
  block.current = nullptr;
  if (block.abandoned) reset_fibers();
  return !block.abandoned;
}

}  // namespace fuselet::cuda::sim
