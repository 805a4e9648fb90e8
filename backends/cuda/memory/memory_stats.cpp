#include "backends/cuda/memory/memory_stats.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace fuselet::cuda {
namespace {

struct Row {
  const char* name;
  const char* title;
  PoolCounter MemoryStats::*counter;
  bool bytes;
};
constexpr Row kRows[] = {
    {"allocated_bytes", "Allocated memory", &MemoryStats::allocated_bytes, true},
    {"active_bytes", "Active memory", &MemoryStats::active_bytes, true},
    {"requested_bytes", "Requested memory", &MemoryStats::requested_bytes, true},
    {"reserved_bytes", "Reserved memory", &MemoryStats::reserved_bytes, true},
    {"inactive_split_bytes", "Unused parts of segments", &MemoryStats::inactive_split_bytes, true},
    {"allocation", "Allocations", &MemoryStats::allocation, false},
    {"active", "Active blocks", &MemoryStats::active, false},
    {"segment", "Segments", &MemoryStats::segment, false},
    {"inactive_split", "Unused parts", &MemoryStats::inactive_split, false},
};

struct Pool {
  const char* name;
  Counter PoolCounter::*counter;
};
constexpr Pool kPools[] = {
    {"all", &PoolCounter::all}, {"large_pool", &PoolCounter::large}, {"small_pool", &PoolCounter::small}};

template <class Stats, class F>
void for_each_counter(Stats& stats, F&& f) {
  for (const Row& row : kRows) {
    for (const Pool& pool : kPools) f(row, pool, stats.*row.counter.*pool.counter);
  }
}

}  // namespace

void MemoryStats::reset_peaks() {
  for_each_counter(*this, [](const Row&, const Pool&, Counter& c) { c.peak = c.current; });
}

void MemoryStats::reset_accumulated() {
  for_each_counter(*this, [](const Row&, const Pool&, Counter& c) { c.allocated = c.freed = 0; });
  num_alloc_retries = num_ooms = num_sync_all_streams = num_device_alloc = num_device_free = 0;
}

std::vector<std::pair<std::string, int64_t>> MemoryStats::by_name() const {
  std::vector<std::pair<std::string, int64_t>> out;
  for_each_counter(*this, [&](const Row& row, const Pool& pool, const Counter& c) {
    const std::string key = std::string(row.name) + "." + pool.name + ".";
    out.insert(out.end(), {{key + "current", c.current},
                           {key + "peak", c.peak},
                           {key + "allocated", c.allocated},
                           {key + "freed", c.freed}});
  });
  out.insert(out.end(), {{"num_alloc_retries", num_alloc_retries},
                         {"num_ooms", num_ooms},
                         {"num_sync_all_streams", num_sync_all_streams},
                         {"num_device_alloc", num_device_alloc},
                         {"num_device_free", num_device_free},
                         {"max_split_size", max_split_size}});
  return out;
}

std::string readable_bytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  char text[32];
  if (std::llabs(bytes) < 1024) {
    std::snprintf(text, sizeof text, "%" PRId64 " bytes", bytes);
    return text;
  }
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  std::snprintf(text, sizeof text, "%.2f %s", value, kUnits[unit]);
  return text;
}

std::string memory_summary(const MemoryStats& stats, const std::string& device) {
  char line[128];
  std::string out = "Memory of " + device + "\n";
  std::snprintf(line, sizeof line, "out of memory: %" PRId64 ", retries: %" PRId64 "\n\n", stats.num_ooms,
                stats.num_alloc_retries);
  out += line;
  std::snprintf(line, sizeof line, "%-26s %-10s %13s %13s %13s %13s\n", "", "", "now", "peak", "taken", "given back");
  out += line;
  for_each_counter(stats, [&](const Row& row, const Pool& pool, const Counter& c) {
    auto text = [&](int64_t v) { return row.bytes ? readable_bytes(v) : std::to_string(v); };
    std::snprintf(line, sizeof line, "%-26s %-10s %13s %13s %13s %13s\n", &pool == kPools ? row.title : "", pool.name,
                  text(c.current).c_str(), text(c.peak).c_str(), text(c.allocated).c_str(), text(c.freed).c_str());
    out += line;
  });
  return out;
}

}  // namespace fuselet::cuda
