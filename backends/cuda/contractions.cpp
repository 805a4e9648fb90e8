#include "backends/cuda/contractions.h"

#include "backends/cuda/gemm/gemm_library.h"
#include "backends/cuda/gemm/integer_gemm.h"
#include "backends/cuda/gemm/matmul_plan.h"
#include "backends/cuda/temporaries.h"
#include "core/dispatch_state.h"

namespace fuselet::cuda {
namespace {

struct Extras {
  const Tensor* bias = nullptr;  // one number a column of the result, neighbours in memory
  bool accumulate = false;
};

Geometry geometry_of(const Tensor& t) { return {t.sizes(), t.strides()}; }

DevicePtr element(const Tensor& t, int64_t offset) {
  return address_of(t) + static_cast<DevicePtr>(offset) * size_of(t.dtype());
}

// On entry: no size is 0.
void multiply(const Tensor& out, Tensor a, Tensor b, const Extras& extras) {
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
    if (plan.copy_a || plan.copy_b) return multiply(out, a, b, extras);
  }
  GemmDesc& desc = plan.desc;
  desc.in = a.dtype(), desc.out = out.dtype();
  desc.allow_tf32 = dispatch_state().float32_matmul != MatmulPrecision::Highest;
  desc.beta = extras.accumulate ? 1 : 0;
  if (extras.bias) desc.epilogue = Epilogue::Bias, desc.bias = address_of(*extras.bias);
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

// The bias as one number a column for the epilogue, where it is one: the same for all rows of out, and dense.
bool rides_in_epilogue(const Tensor& bias, const Tensor& out) {
  const DimsView sizes = bias.sizes();
  if (bias.dtype() == DType::Float64 || !is_float(bias.dtype()) || out.dim() == 0 || sizes.empty()) return false;
  if (sizes.back() != out.sizes().back() || bias.numel() != sizes.back().word()) return false;
  return sizes.back() == 1 || bias.strides().back() == 1;
}

// out = a @ b + bias, the bias broadcast.
void multiply_and_add(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& bias) {
  if (out.numel() == 0) return;
  if (a.numel() > 0 && rides_in_epilogue(bias, out)) {
    Extras extras;
    extras.bias = &bias;
    return multiply(out, a, b, extras);
  }
  copy_into(out, bias);
  matmul_into(out, a, b, true);
}

Tensor transposed(const Tensor& t) {
  return view_of(t, Dims{t.sizes()[1], t.sizes()[0]}, Dims{t.strides()[1], t.strides()[0]});
}

}  // namespace

void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b, bool accumulate) {
  if (out.numel() == 0) return;
  if (a.numel() == 0) {  // nothing to sum
    if (!accumulate) fill_zero(out);
    return;
  }
  Extras extras;
  extras.accumulate = accumulate;
  multiply(out, a, b, extras);
}

void matmul(const Call& call) { matmul_into(call.outs[0], call.tensor(0), call.tensor(1)); }

void addmm(const Call& call) { multiply_and_add(call.outs[0], call.tensor(1), call.tensor(2), call.tensor(0)); }

void linear(const Call& call) {
  const Tensor &out = call.outs[0], &x = call.tensor(0), weight = transposed(call.tensor(1));
  if (call.has(2)) {
    multiply_and_add(out, x, weight, call.tensor(2));
  } else {
    matmul_into(out, x, weight);
  }
}

}  // namespace fuselet::cuda
