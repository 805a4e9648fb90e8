#include "backends/cuda/driver/load_driver.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backends/cuda/driver/library_search.h"
#include "backends/cuda/driver/result.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

std::atomic<bool> g_loaded = false;
std::atomic<bool> g_shutting_down = false;
std::atomic<bool> g_forked = false;  // this process is a child of the one that has loaded the driver

struct Driver {
  DriverApi api;
  NvrtcApi sim_nvrtc;  // only the simulator's library fills it
  std::string error;   // empty: loaded and initialised
  int devices = 0;
};

template <class F>
bool read_symbol(void* library, const char* symbol, F& to, std::string& missing) {
  to = reinterpret_cast<F>(dlsym(library, symbol));
  if (!to) missing += std::string(missing.empty() ? "" : ", ") + symbol;
  return to != nullptr;
}

std::string load_real(Driver& d) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return concat("the NVIDIA driver's libcuda.so.1 is not on this machine (", dlerror(),
                  "); install an NVIDIA driver, or set FUSELET_CUDA=sim for the simulated device");
  }
  std::string missing;
#define FUSELET_READ(member, symbol, parameters) read_symbol(library, symbol, d.api.member, missing);
  FUSELET_CUDA_DRIVER(FUSELET_READ)
#undef FUSELET_READ
  if (!missing.empty()) return "the NVIDIA driver is too old: libcuda.so.1 lacks " + missing;
  return "";
}

std::string load_simulator(Driver& d) {
  const std::string path = folder_of_this_library() + "/libfuselet_cuda_sim.so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return concat("FUSELET_CUDA=sim: the simulated device cannot be loaded: ", dlerror());
  auto fill = reinterpret_cast<FillTables>(dlsym(library, kSimulatorEntry));
  if (!fill) return concat("FUSELET_CUDA=sim: ", path, " does not export ", kSimulatorEntry);
  if (int failed = fill(&d.api, &d.sim_nvrtc)) return concat("FUSELET_CUDA=sim: ", path, " answered ", failed);
  return "";
}

std::string initialise(Driver& d) {
  Result r = d.api.cuInit(0);
  if (r == kErrorNoDevice) return "the NVIDIA driver sees no device";
  if (r == kSuccess) r = d.api.cuDeviceGetCount(&d.devices);
  if (r != kSuccess) return "the NVIDIA driver does not start: " + describe(d.api, r);
  int version = 0;
  if (!d.api.is_simulated() && d.api.cuDriverGetVersion(&version) == kSuccess) prefer_library_version(version / 1000);
  return "";
}

Driver* load() {
  auto* d = new Driver();
  const char* variable = std::getenv("FUSELET_CUDA");
  const std::string_view choice = variable && *variable ? variable : "auto";
  if (choice == "off") {
    d->error = "FUSELET_CUDA=off";
  } else if (choice != "auto" && choice != "sim") {
    d->error = concat("FUSELET_CUDA='", choice, "': expected auto, off or sim");
  } else {
    d->error = choice == "sim" ? load_simulator(*d) : load_real(*d);
    if (d->error.empty()) d->error = initialise(*d);
  }
  if (d->error.empty()) {
    // Registered after the driver's own handlers, hence run before them.
    std::atexit([] { g_shutting_down = true; });
    pthread_atfork(nullptr, nullptr, [] { g_forked = g_shutting_down = true; });
    g_loaded = true;
  }
  return d;
}

const Driver& loaded() {
  static const Driver* d = load();
  return *d;
}

NvrtcApi load_nvrtc() {
  NvrtcApi api;
  void* library = open_library("nvrtc");
  std::string missing;
#define FUSELET_READ(member, symbol, parameters) read_symbol(library, symbol, api.member, missing);
  FUSELET_NVRTC(FUSELET_READ)
#undef FUSELET_READ
  FUSELET_CHECK(missing.empty(), "CUDA: ", find_library("nvrtc").path, " is too old: it lacks ", missing);
  return api;
}

}  // namespace

const DriverApi& driver() {
  const Driver& d = loaded();
  FUSELET_CHECK(d.error.empty(), "CUDA is not available: ", d.error);
  FUSELET_CHECK(
      !g_forked,
      "CUDA was in use when this process was forked, and cannot be used in it: start processes with the method "
      "'spawn' instead of 'fork', or use CUDA in them alone");
  return d.api;
}

const NvrtcApi& nvrtc() { return driver().is_simulated() ? loaded().sim_nvrtc : nvrtc_library(); }

const NvrtcApi& nvrtc_library() {
  static const NvrtcApi api = load_nvrtc();
  return api;
}

bool is_available() noexcept { return *why_not_available() == '\0'; }

const char* why_not_available() noexcept {
  try {
    const Driver& d = loaded();
    if (!d.error.empty()) return d.error.c_str();
    return d.devices > 0 ? "" : "the NVIDIA driver sees no device";
  } catch (...) {
    return "there is no memory to load the driver";
  }
}

bool is_driver_loaded() noexcept { return g_loaded; }
bool is_shutting_down() noexcept { return g_shutting_down; }

}  // namespace fuselet::cuda
