// conv2d and its gradients: windows laid out as the columns of matrices, then matrix products over many images at once.
//
// Letters: N images, G groups, C input channels, O output channels, K = C * KH * KW window elements, P = H' * W' window
// positions; C, O and K count all groups, and a group's product takes its part of each. Images are taken in chunks
// whose columns fit into column_bytes(). Gradients of the input gather from the columns in order of taps, in the
// compute type; those of the weight sum chunks in order. So no sum depends on timing.
#include "backends/cuda/convolution.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include "backends/cuda/contractions.h"
#include "backends/cuda/temporaries.h"
#include "backends/cuda/text_kernel.h"
#include "backends/cuda/window_kernels.h"

namespace fuselet::cuda {
namespace {

std::atomic<int64_t> g_column_bytes{int64_t{256} << 20};

struct Geometry {
  int64_t images, groups, channels, height, width, outputs, out_height, out_width;
  WindowSpec window;

  int64_t depth() const { return channels * window.kernel[0] * window.kernel[1]; }
  int64_t positions() const { return out_height * out_width; }
  // A window of one element that steps by one: the columns are the image.
  bool is_plain() const {
    constexpr std::array<int64_t, 2> kOne = {1, 1}, kZero = {0, 0};
    return window.kernel == kOne && window.stride == kOne && window.padding == kZero;
  }
};

// input: (N, C, H, W); weight: (O, C/G, KH, KW).
Geometry geometry_of(const Call& call, DimsView input, DimsView weight) {
  FUSELET_CHECK(is_float(call.outs[0].dtype()), call.op->name, ": expected a floating dtype, got ",
                name_of(call.outs[0].dtype()));
  Geometry g;
  g.images = input[0].word(), g.channels = input[1].word(), g.height = input[2].word(), g.width = input[3].word();
  g.outputs = weight[0].word(), g.groups = call.integer(6);
  g.window = window_of(weight.subspan(2), call.ints(3), call.ints(4), call.ints(5), call.op->name);
  g.out_height = g.window.out_size(input[2], 0, call.op->name).word();
  g.out_width = g.window.out_size(input[3], 1, call.op->name).word();
  return g;
}

DType compute_dtype(DType dtype) { return dtype == DType::Float64 ? DType::Float64 : DType::Float32; }

// Calls f(first image, number of images) for chunks whose columns of `dtype` fit.
template <class F>
void for_each_chunk(const Geometry& g, DType dtype, F&& f) {
  const int64_t bytes = g.depth() * g.positions() * static_cast<int64_t>(size_of(dtype));
  const int64_t most = g.is_plain() ? g.images : std::max<int64_t>(column_bytes() / std::max<int64_t>(bytes, 1), 1);
  for (int64_t first = 0; first < g.images; first += most) f(first, std::min(most, g.images - first));
}

WindowArgs window_args(const Geometry& g, int64_t images, const Tensor& from, const Tensor& to) {
  WindowArgs args;
  set_window(args, g.window);
  args.from = address_of(from), args.to = address_of(to), args.count = to.numel();
  args.images = images, args.channels = g.channels, args.height = g.height, args.width = g.width;
  args.out_height = g.out_height, args.out_width = g.out_width;
  return args;
}

// Every index that a thread forms, a block past the end included.
bool needs_wide_index(const Tensor& a, const Tensor& b) {
  return std::max(a.numel(), b.numel()) > std::numeric_limits<int32_t>::max() - int64_t{kTextKernelThreads};
}

// Images [first, first + count) of a row-major (N, …) tensor, each as a matrix (rows, cols).
Tensor matrices(const Tensor& t, int64_t first, int64_t count, int64_t rows, int64_t cols) {
  return view_of(t, Dims{count, rows, cols}, Dims{rows * cols, cols, 1}, first * rows * cols);
}

// x: (N, C, H, W), row-major. (n, K, P), or by tap (K, n, P).
Tensor columns_of(const Geometry& g, const Tensor& x, int64_t first, int64_t count, bool by_tap) {
  const int64_t plane = g.height * g.width;
  const Tensor image = matrices(x, first, count, g.channels, plane);
  if (g.is_plain() && !by_tap) return image;
  const Dims sizes = by_tap ? Dims{g.depth(), count, g.positions()} : Dims{count, g.depth(), g.positions()};
  Tensor columns = new_tensor(sizes, x.dtype(), x.device());
  launch_text_kernel(image_to_columns_text(size_of(x.dtype()), by_tap, needs_wide_index(image, columns)),
                     columns.numel(), window_args(g, count, image, columns), x.device());
  return columns;
}

// weight: (O, C/G, KH, KW), row-major, as (O, K), or (G, O/G, K/G).
Tensor weight_matrix(const Geometry& g, const Tensor& weight) {
  const int64_t depth = g.depth() / g.groups;
  if (g.groups == 1) return view_of(weight, Dims{g.outputs, depth}, Dims{depth, 1});
  return view_of(weight, Dims{g.groups, g.outputs / g.groups, depth}, Dims{g.outputs / g.groups * depth, depth, 1});
}
Tensor transposed(const Tensor& matrix) {
  Dims sizes(matrix.sizes()), strides(matrix.strides());
  std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return view_of(matrix, std::move(sizes), std::move(strides));
}

// (…, R, X) as (…, G, R/G, X), where there are several groups.
Tensor by_group(const Geometry& g, const Tensor& matrix) {
  if (g.groups == 1) return matrix;
  const size_t row = matrix.sizes().size() - 2;
  Dims sizes(matrix.sizes()), strides(matrix.strides());
  sizes[row] = sizes[row] / g.groups;
  const SymInt step = sizes[row] * strides[row];
  sizes.insert(row, g.groups);
  strides.insert(row, step);
  return view_of(matrix, std::move(sizes), std::move(strides));
}

}  // namespace

int64_t column_bytes() { return g_column_bytes.load(std::memory_order_relaxed); }
void set_column_bytes(int64_t bytes) { g_column_bytes.store(bytes, std::memory_order_relaxed); }

void conv2d(const Call& call) {
  const Geometry g = geometry_of(call, call.tensor(0).sizes(), call.tensor(1).sizes());
  const Tensor& out = call.outs[0];
  if (out.numel() == 0) return;
  const Tensor x = dense(call.tensor(0), out.dtype());
  const Tensor weight = weight_matrix(g, dense(call.tensor(1), out.dtype()));
  if (call.has(2)) {
    const Tensor& bias = call.tensor(2);
    copy_into(out, view_of(bias, Dims{g.outputs, 1, 1}, Dims{bias.strides()[0], 0, 0}));
  }
  for_each_chunk(g, x.dtype(), [&](int64_t first, int64_t count) {
    matmul_into(by_group(g, matrices(out, first, count, g.outputs, g.positions())), weight,
                by_group(g, columns_of(g, x, first, count, false)), call.has(2));
  });
}

void conv2d_input_grad(const Call& call) {
  const Geometry g = geometry_of(call, call.ints(2), call.tensor(1).sizes());
  const Tensor& out = call.outs[0];
  if (out.numel() == 0) return;
  const Tensor grad = dense(call.tensor(0), out.dtype());
  const Tensor weight = dense(call.tensor(1), out.dtype());
  const Tensor by_depth = transposed(weight_matrix(g, weight));
  const DType compute = compute_dtype(out.dtype());
  const int64_t plane = g.height * g.width;
  for_each_chunk(g, compute, [&](int64_t first, int64_t count) {
    const Tensor grads = by_group(g, matrices(grad, first, count, g.outputs, g.positions()));
    const Tensor image = matrices(out, first, count, g.channels, plane);
    if (g.is_plain()) return matmul_into(by_group(g, image), by_depth, grads);
    const Tensor columns = new_tensor(Dims{count, g.depth(), g.positions()}, compute, out.device());
    matmul_into(by_group(g, columns), by_depth, grads);
    const Tensor sums = compute == out.dtype() ? image : new_tensor(image.sizes(), compute, out.device());
    launch_text_kernel(columns_to_image_text(compute, needs_wide_index(columns, sums)), sums.numel(),
                       window_args(g, count, columns, sums), out.device());
    if (!sums.is_same(image)) copy_into(image, sums);
  });
}

void conv2d_weight_grad(const Call& call) {
  const Geometry g = geometry_of(call, call.tensor(1).sizes(), call.ints(2));
  const Tensor& out = call.outs[0];
  if (out.numel() == 0) return;
  const Tensor grad = dense(call.tensor(0), out.dtype()), x = dense(call.tensor(1), out.dtype());
  const Tensor result = weight_matrix(g, out);  // (G, O/G, K/G)
  if (g.images == 0) return fill_zero(out);
  Tensor sums;
  for_each_chunk(g, x.dtype(), [&](int64_t first, int64_t count) {
    // (O, n, P) and (K, n, P): one long sum over images and positions.
    const Dims by_output = {g.outputs, count, g.positions()};
    const Tensor grads = matrices(grad, first, count, g.outputs, g.positions());
    Tensor rows = new_tensor(by_output, grad.dtype(), grad.device());
    copy_into(rows, view_of(grads, by_output, Dims{g.positions(), g.outputs * g.positions(), 1}));
    const int64_t terms = count * g.positions();
    const Tensor columns = columns_of(g, x, first, count, true);
    const Tensor a = by_group(g, view_of(rows, Dims{g.outputs, terms}, Dims{terms, 1}));
    const Tensor b = transposed(by_group(g, view_of(columns, Dims{g.depth(), terms}, Dims{terms, 1})));
    if (count == g.images) return matmul_into(result, a, b);
    if (first == 0) sums = new_tensor(result.sizes(), compute_dtype(out.dtype()), out.device());
    matmul_into(sums, a, b, first > 0);
  });
  if (sums.defined()) copy_into(result, sums);
}

}  // namespace fuselet::cuda
