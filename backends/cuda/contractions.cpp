#include "backends/cuda/contractions.h"

#include "backends/cuda/gemm/gemm_library.h"
#include "backends/cuda/gemm/integer_gemm.h"
#include "backends/cuda/gemm/matmul_plan.h"
#include "backends/cuda/temporaries.h"
#include "core/dispatch_state.h"

namespace fuselet::cuda {
namespace {

Geometry geometry_of(const Tensor& t) { return {t.sizes(), t.strides()}; }

DevicePtr element(const Tensor& t, int64_t offset) {
  return address_of(t) + static_cast<DevicePtr>(offset) * size_of(t.dtype());
}

// On entry: no size is 0.
void multiply(const Tensor& out, Tensor a, Tensor b, bool accumulate) {
  MatmulPlan plan = plan_matmul(geometry_of(a), geometry_of(b), geometry_of(out));
  if (plan.copy_a || plan.copy_b) {
    const auto copied = [](const Tensor& t) {
      Tensor copy = new_tensor(t.sizes(), t.dtype(), t.device());
      copy_into(copy, t);
      return copy;
    };
    if (plan.copy_a) a = copied(a);
    if (plan.copy_b) b = copied(b);
    plan = plan_matmul(geometry_of(a), geometry_of(b), geometry_of(out));
    // Copying a matrix may show that the batch of the other one is better copied too.
    if (plan.copy_a || plan.copy_b) return multiply(out, a, b, accumulate);
  }
  GemmDesc& desc = plan.desc;
  desc.in = a.dtype(), desc.out = out.dtype();
  desc.allow_tf32 = dispatch_state().float32_matmul != MatmulPrecision::Highest;
  desc.beta = accumulate ? 1 : 0;
  for (const auto& [a_start, b_start, out_start] : plan.starts) {
    desc.a.data = element(a, a_start), desc.b.data = element(b, b_start), desc.d.data = element(out, out_start);
    desc.c = desc.d;
    if (is_float(desc.in)) {
      run_gemm(desc, out.device().index);
    } else {
      run_integer_gemm(desc, out.device());
    }
  }
}

}  // namespace

void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b, bool accumulate) {
  if (out.numel() == 0) return;
  if (a.numel() == 0) {  // nothing to sum
    if (!accumulate) fill_zero(out);
    return;
  }
  multiply(out, a, b, accumulate);
}

void matmul(const Call& call) { matmul_into(call.outs[0], call.tensor(0), call.tensor(1)); }

}  // namespace fuselet::cuda
