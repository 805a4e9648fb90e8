// A kernel of the kernel IR on CUDA devices: its generated sources, their modules, and its launches.
//
// Two sources: one reads rows 16 bytes at a time and is launched where every address allows it, the other asks for
// nothing and is compiled when an address first makes it necessary.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "backends/cuda/codegen/emit_kernel.h"
#include "backends/cuda/jit/module_library.h"
#include "core/storage.h"

namespace fuselet::cuda {

class GeneratedKernel {
 public:
  explicit GeneratedKernel(const kernel::Kernel& kernel);

  // The source that runs where addresses allow it; compiled first.
  const std::string& source() const { return variants_[kAligned].emitted.source; }
  // False where no nest has an element.
  bool has_launches() const { return !variants_[kAligned].emitted.launches.empty(); }
  void set_module(const jit::BuiltModule& module);
  // On the current device and its current stream; scratch of codegen::scratch_bytes. Returns at once.
  void launch(void* const* buffers, const double* scalars, const GeneratorState* randoms, void* scratch) const;

 private:
  enum { kAligned, kAny };
  struct Functions {
    std::shared_ptr<const jit::LoadedModule> module;
    std::vector<FunctionHandle> handles;  // one a launch
  };
  struct Variant {
    codegen::EmittedKernel emitted;
    mutable std::array<std::atomic<const Functions*>, kMaxCudaDevices> of_device{};  // owned; by device
  };
  // The arguments of nests that share a launch, on the device.
  struct Table {
    std::vector<uint64_t> words;  // as uploaded
    StoragePtr memory;
  };

  const Functions& functions_of(const Variant& variant) const;
  const Functions& load(const Variant& variant, std::shared_ptr<const jit::LoadedModule> module, int device) const;
  bool are_aligned(void* const* buffers) const;
  uint64_t table(const Variant& variant, size_t launch, std::vector<uint64_t> words) const;

  Variant variants_[2];
  std::vector<int64_t> codes_;  // what each LoadAt reports where an index is out of range
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Functions>> owned_;
  mutable std::mutex table_mutex_;
  mutable std::map<std::tuple<const Variant*, size_t, StreamHandle>, Table> tables_;
};

}  // namespace fuselet::cuda
