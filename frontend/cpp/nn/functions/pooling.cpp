#include "frontend/cpp/nn/functions/pooling.h"

#include <algorithm>

#include "frontend/cpp/nn/functions/precision.h"

namespace fuselet::nn::functional {
namespace {

// Windows [starts[i], ends[i]) of at most `most` entries along a dimension; what lies outside the dimension counts 0.
struct Windows {
  Tensor starts, ends;
  int64_t most;
};

Tensor count_up(int64_t count, Device device) { return arange(count, std::nullopt, 1, DType::Int64, device); }

// Dimension `dim` as two: (count, the rest).
Tensor split_dim(const Tensor& x, int64_t dim, int64_t count, int64_t length) {
  Dims sizes(x.sizes());
  sizes[static_cast<size_t>(dim)] = SymInt(count);
  sizes.insert(static_cast<size_t>(dim) + 1, SymInt(length));
  return x.reshape(sizes);
}

// A vector so that it broadcasts along dimension `dim` of an image batch.
Tensor along(const Tensor& values, int64_t dim) { return dim == 2 ? values.reshape({-1, 1}) : values; }

Tensor sum_windows(const Tensor& x, int64_t dim, const Windows& windows) {
  Tensor places = unsqueeze(windows.starts, 1) + count_up(windows.most, x.device());
  Tensor inside = logical_and(places < unsqueeze(windows.ends, 1), places >= 0);
  Tensor taken = index_select(x, dim, clamp(places, 0, x.size(dim) - 1).reshape({-1}));
  taken = split_dim(taken, dim, places.size(0), windows.most);
  if (dim == 2) inside = unsqueeze(inside, 2);
  return sum(where(inside, taken, 0), dim + 1);
}

int64_t count_windows(int64_t size, int64_t kernel, int64_t stride, int64_t padding, bool ceil_mode) {
  FUSELET_CHECK(kernel > 0 && stride > 0 && padding >= 0 && 2 * padding <= kernel,
                "avg_pool2d: kernel size and stride must be positive and padding at most half the kernel size, got ",
                kernel, ", ", stride, " and ", padding);
  const int64_t room = size + 2 * padding - kernel;
  FUSELET_CHECK(room >= 0, "avg_pool2d: a window of ", kernel, " does not fit into ", size, " entries padded by ",
                padding);
  const int64_t count = (ceil_mode ? room + stride - 1 : room) / stride + 1;
  // The last one must begin inside, or in the padding before it.
  return (count - 1) * stride >= size + padding ? count - 1 : count;
}

void check_image(const char* name, const Tensor& input) {
  FUSELET_CHECK(input.dim() == 4, name, ": expected input (N, C, H, W), got shape ", to_string(input.sizes()));
}

}  // namespace

Tensor avg_pool2d(const Tensor& input, Pair kernel_size, const AvgPool2dOptions& options, Location line) {
  LineScope scope(&line);
  check_image("avg_pool2d", input);
  FUSELET_CHECK(options.divisor_override != 0, "avg_pool2d: the divisor must not be 0");
  const Pair stride = options.stride.value_or(kernel_size);
  Tensor total = widened(input), divisor;
  for (size_t d : {1, 0}) {
    const int64_t dim = static_cast<int64_t>(d) + 2, size = input.size(dim), kernel = kernel_size[d];
    const int64_t padding = options.padding[d];
    const int64_t count = count_windows(size, kernel, stride[d], padding, options.ceil_mode);
    Tensor starts = count_up(count, input.device()) * stride[d] - padding;
    Tensor ends = clamp_max(starts + kernel, size + padding), within = clamp_max(ends, size);
    total = sum_windows(total, dim, {starts, within, kernel});
    Tensor covered = along(options.count_include_pad ? ends - starts : within - clamp_min(starts, 0), dim);
    divisor = divisor.defined() ? divisor * covered : covered;
  }
  return rounded_as(options.divisor_override ? total / *options.divisor_override : total / divisor, input);
}

Tensor adaptive_avg_pool2d(const Tensor& input, Pair output_size, Location line) {
  LineScope scope(&line);
  check_image("adaptive_avg_pool2d", input);
  Tensor total = widened(input);
  for (size_t d : {0, 1}) {
    const int64_t dim = static_cast<int64_t>(d) + 2, size = input.size(dim), count = output_size[d];
    FUSELET_CHECK(count > 0 && size > 0, "adaptive_avg_pool2d: ", count, " windows cannot share out ", size,
                  " entries");
    if (size % count == 0) {
      total = mean(split_dim(total, dim, count, size / count), dim + 1);
      continue;
    }
    int64_t most = 0;
    for (int64_t i = 0; i < count; ++i) most = std::max(most, ((i + 1) * size + count - 1) / count - i * size / count);
    Tensor number = count_up(count, input.device());
    Tensor starts = floor_divide(number * size, count), ends = floor_divide((number + 1) * size + (count - 1), count);
    total = sum_windows(total, dim, {starts, ends, most}) / along(ends - starts, dim);
  }
  return rounded_as(total, input);
}

}  // namespace fuselet::nn::functional
