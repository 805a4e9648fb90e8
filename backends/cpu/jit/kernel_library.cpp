#include "backends/cpu/jit/kernel_library.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <unordered_map>

#include "backends/cpu/jit/build_object.h"
#include "backends/cpu/jit/cache_key.h"

namespace fuselet::cpu::jit {
namespace {

// An entry is there, without a result, from when the first thread asks for it; others wait for that thread.
struct Entry {
  bool done = false;
  BuiltKernel kernel;
};

std::mutex g_mutex;
std::condition_variable g_built;
// By the key's text. Never destroyed: kernels may run while the process ends.
auto& g_entries = *new std::unordered_map<std::string, std::shared_ptr<Entry>>;

}  // namespace

std::vector<BuiltKernel> build_kernels(std::span<const std::string> sources) {
  const Toolchain toolchain = find_toolchain();
  std::vector<CacheKey> keys;
  for (const std::string& source : sources) keys.push_back(make_key(toolchain, source));

  std::vector<std::shared_ptr<Entry>> entries(sources.size());
  std::vector<size_t> own;  // what this call builds
  {
    std::lock_guard lock(g_mutex);
    for (size_t i = 0; i < sources.size(); ++i) {
      auto [found, is_new] = g_entries.try_emplace(keys[i].text);
      if (is_new) {
        found->second = std::make_shared<Entry>();
        own.push_back(i);
      }
      entries[i] = found->second;
    }
  }
  if (!own.empty()) {
    std::vector<BuildOrder> orders;
    for (size_t i : own) orders.push_back({&keys[i], &sources[i]});
    std::vector<BuiltKernel> built(own.size());
    std::exception_ptr error;
    try {
      built = build_objects(toolchain, orders);
    } catch (...) {  // out of memory or threads; those who wait get kernels that are not built
      error = std::current_exception();
    }
    std::lock_guard lock(g_mutex);
    for (size_t k = 0; k < own.size(); ++k) {
      Entry& entry = *entries[own[k]];
      entry.kernel = std::move(built[k]);
      entry.done = true;
      // What failed is tried again by the next call: the compiler may be there by then.
      if (!entry.kernel.function) g_entries.erase(keys[own[k]].text);
    }
    g_built.notify_all();
    if (error) std::rethrow_exception(error);
  }

  std::vector<BuiltKernel> result(sources.size());
  std::unique_lock lock(g_mutex);
  std::vector<bool> is_own(sources.size());
  for (size_t i : own) is_own[i] = true;
  for (size_t i = 0; i < sources.size(); ++i) {
    g_built.wait(lock, [&] { return entries[i]->done; });
    result[i] = entries[i]->kernel;
    if (!is_own[i] && result[i].function) result[i].origin = KernelOrigin::MemoryCache;
  }
  return result;
}

void forget_built_kernels() {
  std::lock_guard lock(g_mutex);
  g_entries.clear();
}

}  // namespace fuselet::cpu::jit
