// Barriers and warp operations.
//
// A lane leaves what it gives in its Thread and waits; the last lane that its mask names, exited ones aside, works out
// everybody's result. A barrier is passed when all threads that have not exited wait at it, as since Volta.
#include "backends/cuda_sim/execute/block.h"
#include "backends/cuda_sim/execute/races.h"
#include "backends/cuda_sim/report/report.h"
#include "backends/cuda_sim/settings.h"
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

namespace {

Thread* lanes_of(int warp) { return g_block.threads + warp * kWarpSize; }

unsigned alive_mask(int warp) {
  unsigned alive = 0;
  for (int lane = 0; lane < kWarpSize && warp * kWarpSize + lane < g_block.num_threads; ++lane)
    if (lanes_of(warp)[lane].state != ThreadState::Exited) alive |= 1u << lane;
  return alive;
}

bool same_operation(const Thread& a, const Thread& b) {
  return a.line == b.line && a.collective == b.collective && a.kind == b.kind && a.mask == b.mask;
}

// What an undefined value is: NaN, or -1.
constexpr uint64_t kUndefined = ~uint64_t{0};

// The lane that `thread` reads; -1 for its own value.
int source_lane(const Thread& thread) {
  int lane = thread.lane(), width = thread.width;
  int first = lane & ~(width - 1), last = first | (width - 1);
  switch (thread.kind) {
    case 0:
      return first | (thread.argument & (width - 1));
    case 1:
      return lane - thread.argument < first ? -1 : lane - thread.argument;
    case 2:
      return lane + thread.argument > last ? -1 : lane + thread.argument;
    default:
      return (lane ^ thread.argument) > last ? -1 : lane ^ thread.argument;
  }
}

void shuffle(Thread* lanes, unsigned members) {
  uint64_t given[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) given[lane] = lanes[lane].value;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(members >> lane & 1)) continue;
    int source = source_lane(lanes[lane]);
    if (source < 0) continue;
    bool is_member = source < kWarpSize && (members >> source & 1);
    lanes[lane].value = is_member ? given[source] : kUndefined;
    if (!is_member)
      finding(format("shuffle: lane %d reads lane %d, which takes no part,", lane, source), lanes[lane].pc);
  }
}

uint64_t combine(int kind, uint64_t a, uint64_t b) {
  auto u = static_cast<uint32_t>(a), v = static_cast<uint32_t>(b);
  auto s = static_cast<int32_t>(u), t = static_cast<int32_t>(v);
  switch (kind) {
    case 4:
      return u + v;
    case 5:
      return u < v ? u : v;
    case 6:
      return u > v ? u : v;
    case 7:
      return u & v;
    case 8:
      return u | v;
    case 9:
      return u ^ v;
    case 10:
      return static_cast<uint32_t>(s < t ? s : t);
    default:
      return static_cast<uint32_t>(s > t ? s : t);
  }
}

void reduce(Thread* lanes, unsigned members, int kind) {
  uint64_t given[kWarpSize];
  uint64_t total = 0, ballot = 0;
  bool is_first = true;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(members >> lane & 1)) continue;
    given[lane] = lanes[lane].value;
    if (given[lane]) ballot |= uint64_t{1} << lane;
    total = is_first ? given[lane] : combine(kind, total, given[lane]);
    is_first = false;
  }
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(members >> lane & 1)) continue;
    uint64_t same = 0;
    for (int other = 0; kind == 3 && other < kWarpSize; ++other)
      if ((members >> other & 1) && given[other] == given[lane]) same |= uint64_t{1} << other;
    lanes[lane].value = kind == 0   ? ballot
                        : kind == 1 ? ballot != 0
                        : kind == 2 ? ballot == members
                        : kind == 3 ? same
                                    : total;
  }
}

void call(Thread* lanes, unsigned members, void (*function)(void**)) {
  void* regs[kWarpSize] = {};
  for (int lane = 0; lane < kWarpSize; ++lane)
    if (members >> lane & 1) regs[lane] = lanes[lane].own;
  function(regs);
}

// If all that the thread's mask names have come, their results; the others become ready. False if one is missing.
bool complete(Thread& thread) {
  int warp = thread.linear / kWarpSize;
  Thread* lanes = lanes_of(warp);
  unsigned members = thread.mask & alive_mask(warp);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(members >> lane & 1) || &lanes[lane] == &thread) continue;
    if (lanes[lane].state != ThreadState::InCollective || !same_operation(lanes[lane], thread)) return false;
  }
  switch (thread.collective) {
    case Collective::SyncWarp:
      join_clocks(warp, members);
      break;
    case Collective::Shuffle:
      shuffle(lanes, members);
      break;
    case Collective::Reduce:
      reduce(lanes, members, thread.kind);
      break;
    case Collective::Call:
      call(lanes, members, thread.function);
      break;
  }
  bool reverse = settings().thread_order == ThreadOrder::Reverse;
  for (int i = 0; i < kWarpSize; ++i) {
    int lane = reverse ? kWarpSize - 1 - i : i;
    if ((members >> lane & 1) && lanes[lane].state == ThreadState::InCollective) make_thread_ready(lanes[lane]);
  }
  return true;
}

Thread& meet(Collective collective, int line, int kind, unsigned mask, const void* pc) {
  Thread& self = *g_block.current;
  self.line = line;
  self.pc = pc;
  self.collective = collective;
  self.kind = kind;
  self.mask = mask;
  if (!(mask >> self.lane() & 1))
    fault(kErrorLaunchFailed, format("warp operation: its mask 0x%08x lacks the lane itself, %d,", mask, self.lane()),
          pc);
  return self;
}

void wait_in_collective(Thread& self) {
  if (complete(self)) return;
  self.state = ThreadState::InCollective;
  wait_for_others();
}

void release_barrier() {
  ++g_block.epoch;
  int votes = g_block.barrier_votes, present = g_block.at_barrier;
  g_block.at_barrier = g_block.barrier_votes = 0;
  bool reverse = settings().thread_order == ThreadOrder::Reverse;
  for (int i = 0; i < g_block.num_threads; ++i) {
    Thread& thread = g_block.threads[reverse ? g_block.num_threads - 1 - i : i];
    if (thread.state != ThreadState::AtBarrier) continue;
    thread.value = static_cast<uint64_t>(thread.kind == 2 ? votes == present : thread.kind == 3 ? votes != 0 : votes);
    make_thread_ready(thread);
  }
}

}  // namespace

void complete_collectives_of_warp(int warp) {
  for (int lane = 0; lane < kWarpSize && warp * kWarpSize + lane < g_block.num_threads; ++lane) {
    Thread& thread = lanes_of(warp)[lane];
    if (thread.state == ThreadState::InCollective) complete(thread);
  }
}

void complete_barrier_if_all_arrived() {
  if (g_block.at_barrier > 0 && g_block.at_barrier == g_block.num_threads - g_block.exited) release_barrier();
}

FUSELET_SIM_EXPORT int sim_barrier(int line, int kind, int predicate) {
  Thread& self = *g_block.current;
  const void* pc = __builtin_return_address(0);
  self.kind = kind;
  self.line = line;
  self.pc = pc;
  if (g_block.at_barrier == 0) g_block.barrier_line = line;
  if (g_block.barrier_line != line) {
    const Thread* other = g_block.threads;
    while (other->state != ThreadState::AtBarrier) ++other;
    fault(kErrorLaunchFailed,
          format("divergent barrier: thread %u waits at %s while another comes to the barrier", other->linear,
                 line_of(other->pc).c_str()),
          pc);
  }
  g_block.barrier_votes += predicate != 0;
  ++g_block.at_barrier;
  self.state = ThreadState::AtBarrier;
  complete_barrier_if_all_arrived();
  wait_for_others();
  return static_cast<int>(self.value);
}

FUSELET_SIM_EXPORT void sim_sync_warp(int line, unsigned mask) {
  wait_in_collective(meet(Collective::SyncWarp, line, 0, mask, __builtin_return_address(0)));
}

FUSELET_SIM_EXPORT unsigned long long sim_shuffle(int line, int kind, unsigned mask, unsigned long long value,
                                                  int argument, int width) {
  Thread& self = meet(Collective::Shuffle, line, kind, mask, __builtin_return_address(0));
  if (width < 1 || width > kWarpSize || (width & (width - 1)) != 0)
    fault(kErrorLaunchFailed, format("shuffle: a width of %d is no power of two up to 32,", width), self.pc);
  self.value = value;
  self.argument = kind == 0 ? argument : argument & (kWarpSize - 1);
  self.width = width;
  wait_in_collective(self);
  return self.value;
}

FUSELET_SIM_EXPORT unsigned long long sim_warp_reduce(int line, int kind, unsigned mask, unsigned long long value) {
  Thread& self = meet(Collective::Reduce, line, kind, mask, __builtin_return_address(0));
  self.value = value;
  wait_in_collective(self);
  return self.value;
}

FUSELET_SIM_EXPORT void sim_warp_call_line(int line, unsigned mask, void (*function)(void**), void* own) {
  Thread& self = meet(Collective::Call, line, 0, mask, __builtin_return_address(0));
  self.function = function;
  self.own = own;
  wait_in_collective(self);
}

FUSELET_SIM_EXPORT unsigned sim_active_mask() { return alive_mask(g_block.current->linear / kWarpSize); }

}  // namespace fuselet::cuda::sim
