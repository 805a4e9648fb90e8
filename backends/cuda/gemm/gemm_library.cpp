#include "backends/cuda/gemm/gemm_library.h"

#include <array>
#include <memory>
#include <mutex>

#include "backends/cuda/driver/library_search.h"
#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/gemm/cublaslt_gemm.h"
#include "backends/cuda/gemm/simulated_gemm.h"
#include "backends/cuda/memory/device_memory.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

const lt::Api& cublaslt() {
  static const lt::Api api = [] {
    lt::Api filled;
    const char* missing = lt::fill_table(&filled, open_library("cublasLt"));
    FUSELET_CHECK(!missing, "cuBLASLt: ", find_library("cublasLt").path, " has no symbol ", missing,
                  "; it needs version 11 or later");
    return filled;
  }();
  return api;
}

std::unique_ptr<GemmLibrary> make_library(int device) {
  if (driver().is_simulated()) return std::make_unique<SimulatedGemm>(driver());
  const lt::Api& api = cublaslt();
  make_current(device);
  return std::make_unique<CublasLtGemm>(api, [device](StreamHandle stream) {
    return caching_allocator(device).allocate(CublasLtGemm::kWorkspaceBytes, stream);
  });
}

struct Libraries {
  std::mutex mutex;
  std::array<std::unique_ptr<GemmLibrary>, 128> by_device;  // more than Device::index holds
};

}  // namespace

GemmLibrary& gemm_library(int device) {
  // Never destroyed: static tensors may still be multiplied when other statics are gone.
  static Libraries* libraries = new Libraries();
  std::lock_guard lock(libraries->mutex);
  std::unique_ptr<GemmLibrary>& library = libraries->by_device[static_cast<size_t>(device)];
  if (!library) library = make_library(device);
  return *library;
}

void run_gemm(const GemmDesc& desc, int device) {
  make_current(device);
  gemm_library(device).run(desc, current_stream_handle(device));
}

}  // namespace fuselet::cuda
