// Whether a run may touch a piece of memory, and what it touched.
#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/memory/owners.h"
#include "backends/cuda_sim/report/report.h"
#include "backends/cuda_sim/settings.h"

namespace fuselet::cuda::sim {

Run g_run;

namespace {

std::vector<Allocation*>& touched() {
  static auto* list = new std::vector<Allocation*>;
  return *list;
}

// More than this of fresh memory is only marked unwritten: filling it would take a second a GiB.
constexpr size_t kMostFilled = size_t{64} << 20;

void make_fresh(Allocation& a) {
  a.is_fresh = false;
  if (!settings().checked) return;  // kernels write unseen: what is fresh is not known
  g_space.mark_unwritten(a.start, a.bytes());
  if (a.bytes() <= kMostFilled) __builtin_memset(g_space.at(a.start), 0xff, a.bytes());
}

// Bytes of a managed block between parts: the part before them, by which an index ran over.
const Allocation* part_before(uint64_t offset, const Allocation& block) {
  for (uint64_t g = offset / kGranule; g-- > block.start / kGranule;) {
    const Allocation* owner = owner_at(g * kGranule, g_run.sequence);
    if (owner != nullptr && owner->is_part()) return owner;
  }
  return nullptr;
}

// Memory that was there at capture and may not be at a launch of the graph.
std::string problem_of_replay(const Allocation& a, uint64_t offset) {
  const Allocation& block = a.is_part() ? *a.block : a;
  if (block.died != kStillAlive) return "is " + describe(block) + ", which was freed after the graph was captured";
  if (a.died != kStillAlive && !a.born_in_capture && a.died > g_run.captured_until)
    return "is " + describe(a) + ", which was given back after the graph was captured";
  const Allocation* now = g_space.owners[offset / kGranule];
  if (now != &a && now->was_alive(last_sequence()) && now->is_part() && now->born > g_run.captured_until &&
      !now->born_in_capture)
    return "was captured as " + describe(a) + "; it has since become " + describe(*now);
  return "";
}

}  // namespace

std::string describe(const Allocation& a) {
  std::string text = format("%s of %zu bytes at 0x%llx", a.is_part() ? "announced block" : "block of cuMemAlloc",
                            a.bytes(), static_cast<unsigned long long>(g_space.base + a.start));
  return "the " + std::string(a.died != kStillAlive ? "freed " : "") + text;
}

Allocation* claim(uint64_t offset, size_t bytes, bool is_write, std::string& problem) {
  if (offset >= g_space.span || offset + bytes > g_space.span) {
    problem = "is not device memory";
    return nullptr;
  }
  Allocation* a = owner_at(offset, g_run.sequence);
  if (a == nullptr) {
    problem = "was never allocated";
    return nullptr;
  }
  if (a->died <= g_run.sequence) {
    problem = "is in " + describe(*a) + ": use after free";
  } else if (!a->is_part() && a->managed_since <= g_run.sequence) {
    const Allocation* before = part_before(offset, *a);
    problem = "is in no announced part of " + describe(*a);
    if (before) problem = format("is %zu bytes past the end of ", offset - before->end) + describe(*before);
  } else if (offset >= a->end) {
    problem = format("is %zu bytes past the end of ", offset - a->end) + describe(*a);
  } else if (offset + bytes > a->end) {
    problem = format("reaches %zu bytes past the end of ", offset + bytes - a->end) + describe(*a);
  } else if (g_run.captured_until != 0) {
    problem = problem_of_replay(*a, offset);
  }
  if (!problem.empty()) return nullptr;
  if (a->is_fresh) make_fresh(*a);
  if (a->run[is_write] != g_run.number) {
    if (a->run[!is_write] != g_run.number) touched().push_back(a);
    a->run[is_write] = g_run.number;
    a->low[is_write] = UINT64_MAX;
    a->high[is_write] = 0;
  }
  return a;
}

bool claim_range(DevicePtr memory, size_t bytes, bool is_write) {
  if (bytes == 0) return true;
  uint64_t offset = offset_of(memory);
  std::string problem;
  Allocation* a = claim(offset, bytes, is_write, problem);
  if (a == nullptr) {
    report(
        format("%s %s %zu bytes at 0x%llx: this ", g_run.what->c_str(), is_write ? "writes" : "reads", bytes, memory) +
            problem,
        kErrorIllegalAddress);
    return false;
  }
  widen_use(*a, offset, bytes, is_write);
  return true;
}

void begin_run(Place place, uint64_t sequence, uint64_t captured_until, std::shared_ptr<const std::string> what) {
  static uint64_t number = 0;
  touched().clear();
  g_run = {++number, sequence, captured_until, std::move(place), std::move(what)};
}

void end_run() {
  for (Allocation* a : touched())
    for (bool is_write : {false, true})
      if (a->run[is_write] == g_run.number && a->low[is_write] < a->high[is_write]) {
        Allocation& block = a->is_part() ? *a->block : *a;
        Use use{g_run.place, is_write, a->low[is_write], a->high[is_write], g_run.what};
        block.history.add(use, *a, block.start, block.end);
      }
  touched().clear();
  g_run = {};
}

}  // namespace fuselet::cuda::sim
