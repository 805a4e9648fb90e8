// The texts of kernels over sliding windows, and their arguments. One thread an element of the result; elements move as
// bits, so one text serves all dtypes of a size; no atomics, fixed order of sums.
#pragma once
#include <cstdint>
#include <string>

#include "core/dtype.h"
#include "core/ops/window.h"

namespace fuselet::cuda {

// The window of a plane (height, width) and where it goes; `count` elements of the result.
struct WindowArgs {
  unsigned long long from = 0, to = 0;  // addresses
  unsigned long long places = 0;        // of max_pool_text: the int64 positions
  int64_t count = 0;
  int64_t images = 0, channels = 0, height = 0, width = 0, out_height = 0, out_width = 0;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
};
void set_window(WindowArgs& args, const WindowSpec& window);

// Letters: N images, C channels, K = C * KH * KW window elements, P = H' * W' window positions.
// image (N, C, H, W) to columns, padding as zeros: (N, K, P), or by_tap (K, N, P).
std::string image_to_columns_text(size_t element_bytes, bool by_tap, bool wide_index);
// columns (N, K, P) to image (N, C, H, W): each element is the sum of the windows that hold it, in order of taps.
// float32 or float64.
std::string columns_to_image_text(DType dtype, bool wide_index);
// plane (N * C, H, W) to the first largest element of each window and its place in the plane; NaN counts as largest.
// Comparisons of floats are those of their bits as sign and magnitude.
std::string max_pool_text(DType dtype, bool wide_index);

}  // namespace fuselet::cuda
