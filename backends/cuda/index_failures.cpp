#include "backends/cuda/index_failures.h"

#include <array>
#include <map>
#include <mutex>
#include <vector>

#include "backends/cuda/device/devices.h"
#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

std::mutex g_mutex;
std::array<int*, kMaxCudaDevices> g_cells{};
// Never destroyed: kernels may fail while the process ends.
auto& g_codes = *new std::map<std::string, int64_t>;
auto& g_texts = *new std::vector<std::string>;

}  // namespace

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

int64_t failure_code(const std::string& text) {
  std::lock_guard lock(g_mutex);
  auto [found, is_new] = g_codes.try_emplace(text, static_cast<int64_t>(g_texts.size()) + 1);
  if (is_new) g_texts.push_back(text);
  return found->second;
}

void raise_index_failure(int device) {
  std::lock_guard lock(g_mutex);
  int* cell = g_cells[static_cast<size_t>(device)];
  if (!cell) return;
  const int code = __atomic_exchange_n(cell, 0, __ATOMIC_ACQ_REL);
  if (code > 0) throw IndexError(g_texts[static_cast<size_t>(code - 1)]);
}

}  // namespace fuselet::cuda
