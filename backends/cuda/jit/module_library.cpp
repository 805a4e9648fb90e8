#include "backends/cuda/jit/module_library.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "backends/cuda/device/devices.h"
#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/jit/compile_source.h"
#include "backends/jit/build_once.h"
#include "backends/jit/disk_cache.h"

namespace fuselet::cuda::jit {
namespace {

constexpr const char* kFolder = "cuda";

auto& g_modules = *new fuselet::jit::BuildOnce<BuiltModule>;

std::shared_ptr<const LoadedModule> load(const std::string& image) {
  ModuleHandle handle = nullptr;
  if (driver().cuModuleLoadData(&handle, image.data()) != kSuccess) return nullptr;
  return std::make_shared<LoadedModule>(handle);
}

Architecture architecture_of(int device) {
  const DeviceProperties& p = device_properties(device);
  return choose_architecture(nvrtc(), p.major, p.minor);
}

// With FUSELET_SIM_NVRTC=1, sources for the simulated device must pass the compiler that GPUs have as well, where this
// machine has it: for its oldest and newest architecture that the tests know.
bool checks_with_nvrtc() {
  static const bool checks = [] {
    const char* const wanted = std::getenv("FUSELET_SIM_NVRTC");
    if (!wanted || std::string(wanted) != "1") return false;
    try {
      return &nvrtc_library() != &nvrtc();
    } catch (const Error&) {
      return false;
    }
  }();
  return checks;
}
CompiledSource compile_and_check(const std::string& source, const Architecture& architecture) {
  CompiledSource compiled = compile_source(nvrtc(), source, architecture);
  if (!checks_with_nvrtc()) return compiled;
  for (const char* name : {"sm_80", "sm_90"}) {
    CompiledSource checked = compile_source(nvrtc_library(), source, {name, false});
    if (checked.image.empty()) return checked;
  }
  return compiled;
}

BuiltModule build_one(const fuselet::jit::CacheKey& key, const std::string& source, const Architecture& architecture,
                      int device) {
  make_current(device);
  BuiltModule built;
  if (const auto image = fuselet::jit::find_on_disk(key)) {
    built.module = load(*image);
    built.origin = KernelOrigin::DiskCache;
    if (built.module) return built;
  }
  const CompiledSource compiled = compile_and_check(source, architecture);
  built.origin = KernelOrigin::Compiled;
  built.milliseconds = compiled.milliseconds;
  if (compiled.image.empty()) {
    const std::string kept = fuselet::jit::keep_failure(key, ".cu", source, compiled.messages);
    throw InternalError(concat("[codegen] NVRTC refuses a generated source", kept.empty() ? "" : ", kept as ", kept,
                               ":\n", compiled.messages),
                        __FILE__, __LINE__);
  }
  ModuleHandle handle = nullptr;
  check(driver().cuModuleLoadData(&handle, compiled.image.data()), "cuModuleLoadData");
  built.module = std::make_shared<LoadedModule>(handle);
  const std::string problem = fuselet::jit::store_on_disk(key, compiled.image);
  if (!problem.empty()) built.remark = "not cached on disk: " + problem;
  return built;
}

// As many at a time as there are processors; the first failure is thrown when all have ended.
std::vector<BuiltModule> build_all(const std::vector<const fuselet::jit::CacheKey*>& keys,
                                   const std::vector<const std::string*>& sources, const Architecture& architecture,
                                   int device) {
  std::vector<BuiltModule> built(keys.size());
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < keys.size();) {
      try {
        built[i] = build_one(*keys[i], *sources[i], architecture, device);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  };
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min(processors, keys.size()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  if (error) std::rethrow_exception(error);
  return built;
}

}  // namespace

FunctionHandle LoadedModule::function(const std::string& entry) const {
  make_current(current_device());
  FunctionHandle function = nullptr;
  check(driver().cuModuleGetFunction(&function, handle_, entry.c_str()), "cuModuleGetFunction");
  return function;
}

std::vector<BuiltModule> build_modules(std::span<const std::string> sources) {
  const int device = current_device();
  const Architecture architecture = architecture_of(device);
  const std::string settings = settings_text(nvrtc(), architecture);
  std::vector<fuselet::jit::CacheKey> keys;
  std::vector<std::string> texts;
  for (const std::string& source : sources) {
    keys.push_back(fuselet::jit::make_key(kFolder, settings, source));
    texts.push_back(std::to_string(device) + "\n" + keys.back().text);
  }
  auto build = [&](const std::vector<size_t>& own) {
    std::vector<const fuselet::jit::CacheKey*> own_keys;
    std::vector<const std::string*> own_sources;
    for (size_t i : own) {
      own_keys.push_back(&keys[i]);
      own_sources.push_back(&sources[i]);
    }
    return build_all(own_keys, own_sources, architecture, device);
  };
  std::vector<BuiltModule> result;
  for (auto& found : g_modules.get(texts, build, [](const BuiltModule& m) { return m.module != nullptr; })) {
    FUSELET_INTERNAL_CHECK(found.value.module, "the thread that compiled this kernel failed");
    result.push_back(std::move(found.value));
    if (found.was_there) result.back().origin = KernelOrigin::MemoryCache;
  }
  return result;
}

void warm_up() {
  static std::once_flag once;
  std::call_once(once, [] {
    static std::thread* thread = nullptr;
    const int device = current_device();
    thread = new std::thread([device] {
      try {
        compile_source(nvrtc(), "extern \"C\" __global__ void nothing() {}", architecture_of(device));
      } catch (const std::exception&) {  // whoever compiles next gets the error
      }
    });
    // NVRTC must not be at work while the process takes itself down. A forked child, which has no such thread, ends
    // too.
    static const pid_t owner = getpid();
    std::atexit([] {
      if (getpid() == owner) thread->join();
    });
  });
}

void forget_built_modules() { g_modules.forget(); }

}  // namespace fuselet::cuda::jit
