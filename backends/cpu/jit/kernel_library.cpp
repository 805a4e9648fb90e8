#include "backends/cpu/jit/kernel_library.h"

#include "backends/cpu/jit/build_object.h"
#include "backends/jit/build_once.h"

namespace fuselet::cpu::jit {
namespace {

// Never destroyed: kernels may run while the process ends.
auto& g_kernels = *new fuselet::jit::BuildOnce<BuiltKernel>;

}  // namespace

std::vector<BuiltKernel> build_kernels(std::span<const std::string> sources) {
  const Toolchain toolchain = find_toolchain();
  std::vector<CacheKey> keys;
  std::vector<std::string> texts;
  for (const std::string& source : sources) {
    keys.push_back(key_of(toolchain, source));
    texts.push_back(keys.back().text);
  }
  auto build = [&](const std::vector<size_t>& own) {
    std::vector<BuildOrder> orders;
    for (size_t i : own) orders.push_back({&keys[i], &sources[i]});
    return build_objects(toolchain, orders);
  };
  std::vector<BuiltKernel> result;
  for (auto& found : g_kernels.get(texts, build, [](const BuiltKernel& k) { return k.function != nullptr; })) {
    result.push_back(std::move(found.value));
    if (found.was_there && result.back().function) result.back().origin = KernelOrigin::MemoryCache;
  }
  return result;
}

void forget_built_kernels() { g_kernels.forget(); }

}  // namespace fuselet::cpu::jit
