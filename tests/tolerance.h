// How far a result may lie from the double-precision reference: atol + eps(dtype) * |reference| * scale, by dtype and
// operator. The one table of it; compare() reports errors in percent of what is allowed.
#pragma once
#include <string>
#include <string_view>

#include "backends/reference/reference.h"

namespace fuselet::testing {

struct Tolerance {
  double atol, scale;
};

// Distance of 1 to the next number.
constexpr double eps_of(DType t) {
  return t == DType::Float64 ? 0x1p-52 : t == DType::Float32 ? 0x1p-23 : t == DType::Float16 ? 0x1p-10 : 0x1p-7;
}
// Of the dtype that a result of dtype `t` is computed in.
constexpr double compute_eps_of(DType t) { return t == DType::Float64 ? 0x1p-52 : 0x1p-23; }

struct ToleranceRow {
  std::string_view op;
  double atol;   // in eps of the compute dtype
  double scale;  // in eps of the result's dtype
  const char* reason;
};

inline constexpr ToleranceRow kTolerances[] = {
    {"", 8, 4, "2 ulp a formula and one rounding; atol where terms of size up to 3 cancel"},
    {"pow", 8, 12, "exp(y log x): the error of log is scaled by y log x, up to 2.3 here"},
    {"randn", 16, 8, "log, sqrt and sine in a row; atol where the sine is near 0"},
    {"sum", 512, 4, "up to 1000 terms of size 3 that cancel"},
    {"mean", 64, 4, "as sum, over the count"},
    {"var", 64, 16, "squares of differences with a rounded mean"},
    {"sum_to_size", 64, 4, "24 terms that cancel"},
    {"matmul", 256, 4, "up to 70 products of size 9 that cancel"},
    {"matmul_wide", 256, 4, "as matmul"},
    {"addmm", 64, 4, "few products of size 9 that cancel"},
    {"linear", 64, 4, "few products of size 9 that cancel"},
    {"conv2d", 256, 4, "27 products of size 9 that cancel"},
    {"conv2d_input_grad", 256, 4, "36 products of size 9 that cancel"},
    {"conv2d_weight_grad", 256, 4, "24 products of size 9 that cancel"},
    {"softmax", 16, 16, "exp of a difference, a sum, a division"},
    {"log_softmax", 32, 8, "log of a sum of up to 600 exponentials"},
    {"softmax_grad", 256, 8, "300 products that cancel"},
    {"log_softmax_grad", 512, 8, "300 terms that cancel"},
    {"layer_norm_forward", 64, 16, "a mean and a variance of 700 terms"},
    {"layer_norm", 64, 16, "a mean and a variance of 700 terms"},
    {"layer_norm_grad", 512, 16, "sums of up to 70 products of size 20"},
    {"cross_entropy_forward", 64, 16, "log_softmax, weights, and a mean"},
    {"cross_entropy", 64, 16, "log_softmax, weights, and a mean"},
    {"cross_entropy_grad", 64, 16, "softmax minus shares that cancel"},
    {"adam_step", 64, 32, "1 - beta in the compute dtype has an error of eps / (1 - beta)"},
    {"sgd_step", 32, 8, "four multiplications and additions that cancel"},
    {"clip_grad_norm", 32, 16, "a norm of 84 elements and a division"},
    {"mse_loss", 64, 8, "squares of differences"},
    {"scatter_add", 32, 8, "several rounded additions to one element"},
    {"index_add", 32, 8, "several rounded additions to one element"},
    {"embedding_grad", 32, 8, "several rounded additions to one element"},
    {"tan", 8, 16, "the slope of the tangent is up to 15 here"},
    {"logit", 16, 16, "near 1/2 the quotient is rounded at 1 before its logarithm"},
    {"erfinv", 8, 16, "as the inverse of a flat function"},
    {"scan_sum", 256, 8, "up to 1100 terms that cancel"},
    {"cumsum", 256, 8, "up to 1100 terms that cancel"},
    {"scan_product", 8, 64, "up to 40 factors, each rounded"},
    {"cumprod", 8, 64, "up to 40 factors, each rounded"},
    {"prod", 8, 64, "up to 60 factors, each rounded"},
    {"scan_logaddexp", 32, 16, "up to 40 sums of exponentials, each rounded"},
    {"logcumsumexp", 32, 16, "up to 40 sums of exponentials, each rounded"},
    {"nansum", 256, 4, "terms that cancel"},
    {"nanmean", 64, 4, "as a sum, over the count"},
    {"training_step", 32, 4, "some 20 operators in a row; atol as a share of the tensor's largest element"},
};

// `decomposed`: for the decomposition, which rounds between its steps where the kernel rounds once.
Tolerance tolerance_of(std::string_view op, DType dtype, bool decomposed = false);

struct Comparison {
  double percent = 0;   // the largest error in percent of what is allowed; infinite for a wrong size, dtype or NaN
  std::string largest;  // where, and both values
};

// Integers and bools must agree exactly; NaN and infinities where the reference has them.
Comparison compare(const Tensor& got, const reference::RefTensor& want, Tolerance allowed);

}  // namespace fuselet::testing
