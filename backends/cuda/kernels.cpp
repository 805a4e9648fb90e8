#include "backends/cuda/kernels.h"

#include <array>

#include "backends/cuda/argmax.h"
#include "backends/cuda/argsort.h"
#include "backends/cuda/contractions.h"
#include "backends/cuda/convolution.h"
#include "backends/cuda/eager/reduce_dims.h"
#include "backends/cuda/join.h"
#include "backends/cuda/pooling.h"
#include "backends/cuda/random_integers.h"
#include "backends/cuda/scan.h"
#include "backends/cuda/scatter/scatter_add.h"
#include "backends/cuda/scatter/view_scatters.h"

namespace fuselet::cuda {
namespace {

struct Tables {
  std::array<Kernel, kNumOps> kernels{};
  std::array<bool, kNumOps> own{};

  void add(OpId op, Kernel kernel) {
    kernels[static_cast<size_t>(op)] = kernel;
    own[static_cast<size_t>(op)] = true;
  }
  // Generated where a loop nest computes the call; this is for calls that none does.
  void add_otherwise(OpId op, Kernel kernel) { kernels[static_cast<size_t>(op)] = kernel; }

  Tables() {
    add(OpId::empty, [](const Call&) {});
    add(OpId::matmul, matmul);
    add(OpId::matmul_wide, matmul);
    add(OpId::conv2d, conv2d);
    add(OpId::conv2d_input_grad, conv2d_input_grad);
    add(OpId::conv2d_weight_grad, conv2d_weight_grad);
    add(OpId::max_pool2d_with_indices, max_pool2d_with_indices);
    add(OpId::scatter_add, scatter_add);
    add(OpId::index_add, index_add);
    add(OpId::scatter, scatter);
    add(OpId::index_copy, index_copy);
    add(OpId::scatter_fold, scatter_fold);
    add(OpId::argsort, argsort);
    add(OpId::slice_scatter, slice_scatter);
    add(OpId::as_strided_scatter, as_strided_scatter);
    add(OpId::as_strided_grad, as_strided_grad);
    add(OpId::cat, cat);
    add(OpId::argmax, argmax);
    add(OpId::randint, randint);
    add(OpId::scan_sum, scan_sum);
    add(OpId::scan_product, scan_product);
    add(OpId::scan_logaddexp, scan_logaddexp);
    add_otherwise(OpId::sum, reduce_separate_dims);
    add_otherwise(OpId::amax, reduce_separate_dims);
    add_otherwise(OpId::amin, reduce_separate_dims);
  }
};

const Tables& tables() {
  static const Tables* tables = new Tables;
  return *tables;
}

}  // namespace

const Kernel* kernel_table() { return tables().kernels.data(); }
bool has_own_kernel(const Op& op) { return tables().own[static_cast<size_t>(op.id)]; }

}  // namespace fuselet::cuda
