#include "backends/cpu/cpu_target.h"

#include "backends/cpu/codegen/emit_kernel.h"
#include "backends/cpu/codegen/prelude/launch.h"
#include "backends/cpu/contractions.h"
#include "backends/cpu/interpret_kernel.h"
#include "backends/cpu/jit/kernel_library.h"
#include "backends/cpu/parallel.h"
#include "compiler/target.h"

namespace fuselet::cpu {
namespace {

static_assert(sizeof(generated::Draw) == sizeof(GeneratorState));

void run_parallel(long n, long grain, void (*body)(const void*, long, long), const void* argument) {
  parallel_for(n, grain, [=](int64_t begin, int64_t end) { body(argument, begin, end); });
}

constexpr generated::Runtime kRuntime = {run_parallel};

class CpuTarget final : public Target {
 public:
  const char* name() const override { return "cpu"; }
  int64_t scratch_bytes(const kernel::Kernel& kernel) const override { return codegen::scratch_bytes(kernel); }
  std::string emit(const kernel::Kernel& kernel) const override { return codegen::emit_kernel(kernel); }

  bool takes_post_work(const ir::Graph& graph, const ir::Node& node) const override {
    if (node.op != OpId::matmul) return false;
    const DType dtype = graph.meta(node.outputs[0]).dtype;
    if (dtype != DType::Float32 && dtype != DType::Float64) return false;
    bool matrices = true;
    ir::for_each_operand(node, [&](ir::ValueId v) { matrices = matrices && graph.meta(v).sizes.size() >= 2; });
    return matrices;
  }
  void run_with_post_work(const Call& call, const std::function<void(const kernel::TileRange&)>& post_work) override {
    matmul_into(call.outs[0], call.tensor(0), call.tensor(1),
                [&](int64_t row, int64_t row_end, int64_t column, int64_t column_end) {
                  post_work({row, row_end, column, column_end});
                });
  }

  std::vector<std::shared_ptr<const CompiledKernel>> compile(std::span<const kernel::Kernel> kernels) override {
    std::vector<std::string> sources;
    for (const kernel::Kernel& k : kernels) sources.push_back(emit(k));
    std::vector<jit::BuiltKernel> built = jit::build_kernels(sources);
    std::vector<std::shared_ptr<const CompiledKernel>> result;
    for (size_t i = 0; i < built.size(); ++i) {
      auto compiled = std::make_shared<CompiledKernel>();
      compiled->source = std::move(sources[i]);
      compiled->milliseconds = built[i].milliseconds;
      compiled->remark = built[i].remark;
      if (built[i].function) {
        compiled->function = built[i].function;
        compiled->context = &kRuntime;
        compiled->owner = built[i].object;
        compiled->origin = built[i].origin;
      } else {
        make_interpreted(kernels[i], *compiled);
      }
      result.push_back(std::move(compiled));
    }
    return result;
  }
};

}  // namespace

void register_cpu_target() {
  static CpuTarget target;
  register_target(DeviceType::CPU, &target);
}

}  // namespace fuselet::cpu
