// Products through cuBLASLt.
//
// The algorithm of a product is the first that the library's heuristics name, asked once for a desc without its
// addresses and kept; sums that are split over blocks are added in the compute type and a fixed order. So a product
// gives the same bits on every call. One object serves one device, any thread and any stream; calls take turns.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backends/cuda/gemm/cublaslt_api.h"
#include "backends/cuda/gemm/gemm.h"

namespace fuselet::cuda {

class CublasLtGemm final : public GemmLibrary {
 public:
  // Scratch memory of kWorkspaceBytes for products on the stream. Asked once a stream and kept to the end, for recorded
  // graphs name its address; work of one stream takes turns, so it is shared by all of its products.
  using WorkspaceSource = std::function<DevicePtr(StreamHandle)>;
  // What NVIDIA advises for Hopper, in bytes; less would rule out split sums.
  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;

  // On entry: the device's context is current; `api` outlives this. Throws Error where the library does not start.
  CublasLtGemm(const lt::Api& api, WorkspaceSource workspace);
  ~CublasLtGemm() override;
  const char* name() const override { return "cuBLASLt"; }

 private:
  struct Plan;
  void enqueue(const GemmDesc& desc, StreamHandle stream) override;
  const Plan& plan_of(const GemmDesc& desc);

  const lt::Api& api_;
  WorkspaceSource workspace_source_;
  lt::Handle handle_ = nullptr;
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Plan>> plans_;  // by the bytes of PlanKey
  std::unordered_map<StreamHandle, DevicePtr> workspaces_;
};

}  // namespace fuselet::cuda
