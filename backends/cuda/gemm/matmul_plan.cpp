#include "backends/cuda/gemm/matmul_plan.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace fuselet::cuda {
namespace {

struct Matrix {
  int64_t rows, cols, row_stride, col_stride;
};

// A vector is a row on the left and a column on the right.
Matrix operand_matrix(const Geometry& x, bool left) {
  const size_t r = x.sizes.size();
  if (r == 1) {
    const int64_t n = x.sizes[0].word(), s = x.strides[0].word();
    return left ? Matrix{1, n, 0, s} : Matrix{n, 1, s, 0};
  }
  return {x.sizes[r - 2].word(), x.sizes[r - 1].word(), x.strides[r - 2].word(), x.strides[r - 1].word()};
}

size_t batch_rank(const Geometry& x) { return x.sizes.size() > 2 ? x.sizes.size() - 2 : 0; }

// A batch dimension with the strides of a, b and the result.
struct BatchDim {
  int64_t size;
  std::array<int64_t, 3> strides;
};

// Of an operand whose batch dimensions broadcast to `rank` ones, outermost first: its stride along dimension i.
int64_t broadcast_stride(const Geometry& x, size_t rank, size_t i) {
  const size_t own = batch_rank(x), missing = rank - own;
  if (i < missing || x.sizes[i - missing].word() == 1) return 0;
  return x.strides[i - missing].word();
}

// Dimensions of size 1 are left out, and neighbours that step alike in all three become one.
std::vector<BatchDim> batch_dims(const Geometry& a, const Geometry& b, const Geometry& out, size_t rank) {
  std::vector<BatchDim> dims;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = out.sizes[i].word();
    if (size == 1) continue;
    const BatchDim dim{size, {broadcast_stride(a, rank, i), broadcast_stride(b, rank, i), out.strides[i].word()}};
    bool merges = !dims.empty();
    for (size_t t = 0; t < 3 && merges; ++t) merges = dims.back().strides[t] == dim.strides[t] * size;
    if (merges) {
      dims.back() = {dims.back().size * size, dim.strides};
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

// The start of every product of the outer dimensions.
std::vector<std::array<int64_t, 3>> starts_of(std::span<const BatchDim> outer) {
  std::vector<std::array<int64_t, 3>> starts = {{0, 0, 0}};
  for (const BatchDim& dim : outer) {
    std::vector<std::array<int64_t, 3>> next;
    for (const auto& start : starts) {
      for (int64_t i = 0; i < dim.size; ++i) {
        next.push_back({start[0] + i * dim.strides[0], start[1] + i * dim.strides[1], start[2] + i * dim.strides[2]});
      }
    }
    starts = std::move(next);
  }
  return starts;
}

// (B, M, K) x (K, N): the rows of all matrices as one matrix. It reads the weight once.
void fold_batch_into_rows(GemmDesc& d) {
  if (d.batch == 1 || d.b.batch_stride != 0) return;
  const int64_t a_step = d.m == 1 ? d.a.batch_stride : d.a.row_stride;
  const int64_t d_step = d.m == 1 ? d.d.batch_stride : d.d.row_stride;
  if (d.a.batch_stride != d.m * a_step || d.d.batch_stride != d.m * d_step) return;
  GemmDesc folded = d;
  folded.m *= d.batch, folded.batch = 1;
  folded.a.row_stride = a_step, folded.d.row_stride = d_step;
  folded.a.batch_stride = folded.d.batch_stride = 0;
  if (lies_as_operand(folded.m, folded.k, folded.a.row_stride, folded.a.col_stride)) d = folded;
}

}  // namespace

MatmulPlan plan_matmul(const Geometry& a, const Geometry& b, const Geometry& out) {
  MatmulPlan plan;
  const Matrix x = operand_matrix(a, true), y = operand_matrix(b, false);
  plan.copy_a = !lies_as_operand(x.rows, x.cols, x.row_stride, x.col_stride);
  plan.copy_b = !lies_as_operand(y.rows, y.cols, y.row_stride, y.col_stride);
  if (plan.copy_a || plan.copy_b) return plan;

  size_t rank = out.sizes.size();  // of the batch
  GemmDesc& d = plan.desc;
  if (b.sizes.size() > 1) d.d.col_stride = out.strides[--rank].word();
  if (a.sizes.size() > 1) d.d.row_stride = out.strides[--rank].word();
  d.m = x.rows, d.n = y.cols, d.k = x.cols;
  d.a.row_stride = x.row_stride, d.a.col_stride = x.col_stride;
  d.b.row_stride = y.row_stride, d.b.col_stride = y.col_stride;

  std::vector<BatchDim> dims = batch_dims(a, b, out, rank);
  // The largest dimension is the batch of every launch.
  auto by_size = [](const BatchDim& p, const BatchDim& q) { return p.size < q.size; };
  if (!dims.empty()) std::iter_swap(std::max_element(dims.begin(), dims.end(), by_size), dims.end() - 1);
  size_t launches = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) launches *= static_cast<size_t>(dims[i].size);
  if (launches > kMostMatmulLaunches) {
    plan.copy_a = !is_contiguous(a.sizes, a.strides), plan.copy_b = !is_contiguous(b.sizes, b.strides);
    if (plan.copy_a || plan.copy_b) return plan;  // else broadcasting alone keeps the dimensions apart
  }
  if (!dims.empty()) {
    d.batch = dims.back().size;
    d.a.batch_stride = dims.back().strides[0];
    d.b.batch_stride = dims.back().strides[1];
    d.d.batch_stride = dims.back().strides[2];
    dims.pop_back();
  }
  plan.starts = starts_of(dims);
  fold_batch_into_rows(d);
  return plan;
}

}  // namespace fuselet::cuda
