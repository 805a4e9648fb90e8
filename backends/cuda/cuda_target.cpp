#include "backends/cuda/cuda_target.h"

#include "backends/cuda/generated_kernel.h"
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
  int64_t scratch_bytes(const kernel::Kernel& kernel) const override { return codegen::scratch_bytes(kernel); }
  std::string emit(const kernel::Kernel& kernel) const override { return codegen::emit_kernel(kernel, true).source; }

  std::vector<std::shared_ptr<const CompiledKernel>> compile(std::span<const kernel::Kernel> kernels) override {
    std::vector<std::shared_ptr<GeneratedKernel>> generated;
    std::vector<std::string> sources;
    for (const kernel::Kernel& k : kernels) {
      generated.push_back(std::make_shared<GeneratedKernel>(k));
      sources.push_back(generated.back()->source());
    }
    std::vector<jit::BuiltModule> modules = jit::build_modules(sources);
    std::vector<std::shared_ptr<const CompiledKernel>> result;
    for (size_t i = 0; i < kernels.size(); ++i) {
      generated[i]->set_module(modules[i]);
      auto compiled = std::make_shared<CompiledKernel>();
      compiled->function = launch;
      compiled->context = generated[i].get();
      compiled->owner = generated[i];
      compiled->source = std::move(sources[i]);
      compiled->origin = modules[i].origin;
      compiled->milliseconds = modules[i].milliseconds;
      compiled->remark = modules[i].remark;
      result.push_back(std::move(compiled));
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
