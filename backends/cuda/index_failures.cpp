#include "backends/cuda/index_failures.h"

#include <array>
#include <mutex>

#include "backends/cuda/device/devices.h"
#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

std::mutex g_mutex;
std::array<int*, kMaxCudaDevices> g_cells{};
// Never destroyed: kernels may fail while the process ends.
auto& g_texts = *new FailureTexts(4096);

}  // namespace

int64_t FailureTexts::code_of(const std::string& reader, int64_t size) {
  const std::string what = "an index is out of range";
  // The first that is known, or for which there is room.
  const std::pair<std::string, int64_t> choices[] = {
      {concat(reader, ": ", what, " for a dimension of size ", size), most_},
      {concat(reader, ": ", what), 2 * most_},
      {what, 2 * most_ + 1}};
  for (const auto& [text, most] : choices) {
    if (auto known = codes_.find(text); known != codes_.end()) return known->second;
    const auto next = static_cast<int64_t>(texts_.size()) + 1;
    if (next > most) continue;
    texts_.push_back(text);
    codes_[text] = next;
    return next;
  }
  __builtin_unreachable();
}

int* failure_cell(int device) {
  std::lock_guard lock(g_mutex);
  int*& cell = g_cells[static_cast<size_t>(device)];
  if (!cell) {
    make_current(device);
    void* memory = nullptr;
    check(driver().cuMemHostAlloc(&memory, sizeof(int), 0), "cuMemHostAlloc");
    cell = static_cast<int*>(memory);
    *cell = 0;
  }
  return cell;
}

int64_t failure_code(const std::string& reader, int64_t size) {
  std::lock_guard lock(g_mutex);
  return g_texts.code_of(reader, size);
}

void raise_index_failure(int device) {
  std::lock_guard lock(g_mutex);
  int* cell = g_cells[static_cast<size_t>(device)];
  if (!cell) return;
  const int code = __atomic_exchange_n(cell, 0, __ATOMIC_ACQ_REL);
  if (code > 0) throw IndexError(g_texts.text_of(code));
}

}  // namespace fuselet::cuda
