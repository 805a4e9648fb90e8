#include "backends/cuda/cuda_target.h"

#include "backends/cuda/generated_kernel.h"
#include "backends/cuda/streams/stream.h"
#include "compiler/target.h"

namespace fuselet::cuda {
namespace {

int launch(const void* context, void* const* buffers, const double* scalars, const GeneratorState* randoms,
           void* scratch) {
  static_cast<const GeneratedKernel*>(context)->launch(buffers, scalars, randoms, scratch);
  return 0;  // an index out of range shows when the host waits
}

class CudaTarget final : public Target {
 public:
  const char* name() const override { return "cuda"; }
  uint64_t current_queue(Device device) const override {
    return reinterpret_cast<uint64_t>(current_stream_handle(device.index));
  }
  bool multiplies_halves() const override { return true; }
  int64_t scratch_bytes(const kernel::Kernel& kernel) const override { return codegen::scratch_bytes(kernel); }
  std::string emit(const kernel::Kernel& kernel) const override { return codegen::emit_kernel(kernel, true).source; }

  std::vector<std::shared_ptr<const CompiledKernel>> compile(std::span<const kernel::Kernel> kernels) override {
    std::vector<std::shared_ptr<GeneratedKernel>> generated;
    std::vector<std::string> sources;
    std::vector<size_t> built;  // those that launch something; of no element there is nothing to compute
    for (size_t i = 0; i < kernels.size(); ++i) {
      generated.push_back(std::make_shared<GeneratedKernel>(kernels[i]));
      if (!generated[i]->has_launches()) continue;
      built.push_back(i);
      sources.push_back(generated[i]->source());
    }
    std::vector<std::shared_ptr<const CompiledKernel>> result;
    std::vector<std::shared_ptr<CompiledKernel>> made(kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i) {
      made[i] = std::make_shared<CompiledKernel>();
      made[i]->function = launch;
      made[i]->context = generated[i].get();
      made[i]->owner = generated[i];
      made[i]->source = generated[i]->source();
      result.push_back(made[i]);
    }
    const std::vector<jit::BuiltModule> modules = jit::build_modules(sources);
    for (size_t k = 0; k < built.size(); ++k) {
      const size_t i = built[k];
      generated[i]->set_module(modules[k]);
      made[i]->origin = modules[k].origin;
      made[i]->milliseconds = modules[k].milliseconds;
      made[i]->remark = modules[k].remark;
    }
    return result;
  }
};

}  // namespace

void register_cuda_target() {
  static CudaTarget target;
  register_target(DeviceType::CUDA, &target);
}

}  // namespace fuselet::cuda
