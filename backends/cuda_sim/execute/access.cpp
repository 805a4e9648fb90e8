#include "backends/cuda_sim/execute/access.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cuda_sim/execute/races.h"
#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/memory/pinned_ranges.h"
#include "backends/cuda_sim/module/module.h"
#include "backends/cuda_sim/module/shared_variables.h"
#include "backends/cuda_sim/report/report.h"

namespace fuselet::cuda::sim {

namespace {

// Of shared memory: a bit a byte, and a cell for two bytes. The epochs in the cells tell what is old.
std::vector<uint64_t> shared_written;
std::vector<RaceCell> shared_cells;

const char* verb(Access access) {
  return access == Access::Read ? "read" : access == Access::Write ? "write" : "atomic operation";
}
const char* verb(const RaceSlot& slot, bool is_write) {
  return slot.atomic ? "atomic operation" : is_write ? "write" : "read";
}

std::string access_text(Access access, size_t bytes) { return format("%s of %zu bytes", verb(access), bytes); }

std::string shared_text(uintptr_t address) {
  for (int i = 0; i < g_block.num_dynamic_arrays; ++i) {
    uintptr_t offset = address - g_block.dynamic_arrays[i];
    if (offset < g_block.dynamic_used) return format("dynamic shared memory at byte %zu", size_t{offset});
  }
  size_t offset = address - g_block.shared_begin;
  std::string variable = shared_variable_at(g_block.module->path(), offset);
  return "shared memory " + (variable.empty() ? format("at byte %zu", offset) : variable);
}

RaceSlot slot_of(Access access, const void* pc) {
  RaceSlot slot;
  slot.epoch = g_block.epoch;
  slot.pc = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pc) - g_block.module_begin);
  slot.thread = g_block.current->linear;
  slot.clock = clocks_of(*g_block.current)[g_block.current->lane()];
  slot.atomic = access == Access::Atomic;
  return slot;
}

[[gnu::noinline]] void report_race(const Race& race, Access access, const std::string& what, const void* pc) {
  const RaceSlot& earlier = race.earlier;
  const void* earlier_pc = reinterpret_cast<const void*>(g_block.module_begin + earlier.pc);
  std::string who = earlier.epoch < g_block.first_of_block ? "a thread of another block"
                                                           : format("thread %u of the block", earlier.thread);
  finding(format("race: %s of %s is not ordered after the %s of %s at %s,", verb(access), what.c_str(),
                 verb(earlier, race.earlier_is_write), who.c_str(), line_of(earlier_pc).c_str()),
          pc);
}

// Cells of 2^shift bytes.
template <class What>
void check_races(RaceCell* cells, int shift, uint32_t oldest, uint64_t offset, size_t bytes, Access access,
                 const void* pc, What what) {
  RaceSlot now = slot_of(access, pc);
  uint64_t end = offset + bytes;
  for (uint64_t at = offset; at < end;) {
    uint64_t cell = at >> shift, next = (cell + 1) << shift;
    uint64_t stop = std::min(next, end);
    now.bytes = static_cast<uint8_t>(((1u << (stop - at)) - 1) << (at - (cell << shift)));
    const Race* race =
        access == Access::Read ? record_read(cells[cell], now, oldest) : record_write(cells[cell], now, oldest);
    if (race != nullptr) {
      report_race(*race, access, what(), pc);
      return;
    }
    at = stop;
  }
}

[[gnu::noinline]] void report_uninitialised(size_t bytes, const std::string& what, const void* pc) {
  finding(format("uninitialised: read of %zu bytes of ", bytes) + what + ", not all of them written before,", pc);
}

void check_device_memory(uint64_t offset, size_t bytes, Access access, const void* pc) {
  bool is_write = access != Access::Read;
  Allocation* a = g_space.owners[offset / kGranule];
  // The common case is an owner that this run has claimed already.
  if (a == nullptr || a->run[is_write] != g_run.number || offset + bytes > a->end || offset < a->start) {
    std::string problem;
    a = claim(offset, bytes, is_write, problem);
    if (a == nullptr)
      fault(kErrorIllegalAddress,
            "out of bounds: " + access_text(access, bytes) +
                format(" at 0x%llx, which ", static_cast<unsigned long long>(g_space.base + offset)) + problem + ",",
            pc);
  }
  widen_use(*a, offset, bytes, is_write);
  auto what = [&] {
    return format("byte %llu of ", static_cast<unsigned long long>(offset - a->start)) + describe(*a);
  };
  if (access != Access::Write && !g_space.is_written(offset, bytes)) {
    report_uninitialised(bytes, what(), pc);
    g_space.mark_written(offset, bytes);  // once is enough
  }
  if (is_write) g_space.mark_written(offset, bytes);
  check_races(g_space.cells, 2, g_block.first_of_launch, offset, bytes, access, pc, what);
}

bool is_asked_for(uintptr_t address, size_t bytes) {
  for (int i = 0; i < g_block.num_dynamic_arrays; ++i) {
    uintptr_t offset = address - g_block.dynamic_arrays[i];
    if (offset < 227 * 1024) return offset + bytes <= g_block.dynamic_used;
  }
  return true;
}

void check_shared_memory(uintptr_t address, size_t bytes, Access access, const void* pc) {
  uint64_t offset = address - g_block.shared_begin;
  if (offset + bytes > g_block.shared_bytes || !is_asked_for(address, bytes))
    fault(
        kErrorIllegalAddress,
        "out of bounds: " + access_text(access, bytes) +
            format(" of shared memory; the launch asks for %zu bytes of dynamic shared memory,", g_block.dynamic_used),
        pc);
  auto what = [&] { return shared_text(address); };
  bool all_written = true;
  for (uint64_t b = offset; b < offset + bytes; ++b) {
    uint64_t bit = uint64_t{1} << (b % 64);
    all_written &= (shared_written[b / 64] & bit) != 0;
    if (access != Access::Read) shared_written[b / 64] |= bit;
  }
  if (access != Access::Write && !all_written) report_uninitialised(bytes, what(), pc);
  check_races(shared_cells.data(), 1, g_block.first_of_block, offset, bytes, access, pc, what);
}

// Calls f(begin, bytes) for the parts of the thread-local storage that the launch may use.
template <class F>
void for_usable_shared(F f) {
  std::vector<std::pair<uintptr_t, size_t>> arrays;
  for (int i = 0; i < g_block.num_dynamic_arrays; ++i) arrays.emplace_back(g_block.dynamic_arrays[i], 227 * 1024);
  std::sort(arrays.begin(), arrays.end());
  uintptr_t at = g_block.shared_begin;
  for (auto [begin, bytes] : arrays) {
    f(at, begin - at);
    f(begin, std::min(g_block.dynamic_used, bytes));
    at = begin + bytes;
  }
  f(at, g_block.shared_begin + g_block.shared_bytes - at);
}

}  // namespace

void check_access(uintptr_t address, size_t bytes, Access access, const void* pc) {
  if (address - g_space.base < g_space.span) return check_device_memory(address - g_space.base, bytes, access, pc);
  if (address - g_block.shared_begin < g_block.shared_bytes) return check_shared_memory(address, bytes, access, pc);
  if (address - stacks_begin() < stacks_bytes()) return;              // a local variable
  if (address - g_block.module_begin < g_block.module_bytes) return;  // a constant, or a __device__ variable
  if (is_pinned(address, bytes)) return;
  fault(kErrorIllegalAddress,
        "out of bounds: " + access_text(access, bytes) +
            (address < kPage
                 ? format(" through a null pointer (0x%zx),", size_t{address})
                 : format(" at 0x%zx, which is not device memory (a pointer of the host?),", size_t{address})),
        pc);
}

void begin_shared_memory() {
  if (g_block.shared_bytes == 0) return;
  shared_written.resize(std::max(shared_written.size(), g_block.shared_bytes / 64 + 1));
  shared_cells.resize(std::max(shared_cells.size(), g_block.shared_bytes / 2 + 1));
  for_usable_shared([](uintptr_t begin, size_t bytes) {
    if (bytes == 0) return;
    std::memset(reinterpret_cast<void*>(begin), 0xff, bytes);
    uint64_t offset = begin - g_block.shared_begin;
    for (uint64_t b = offset; b < offset + bytes;) {
      if (b % 64 == 0 && b + 64 <= offset + bytes) {
        shared_written[b / 64] = 0;
        b += 64;
      } else {
        shared_written[b / 64] &= ~(uint64_t{1} << (b % 64));
        ++b;
      }
    }
  });
}

}  // namespace fuselet::cuda::sim
