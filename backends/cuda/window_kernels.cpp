#include "backends/cuda/window_kernels.h"

#include "core/error.h"

namespace fuselet::cuda {
namespace {

// The struct as the host's is, and the thread's element.
constexpr const char* kPrelude = R"text(
struct WindowArgs {
  unsigned long long from, to, places;
  long long count, images, channels, height, width, out_height, out_width;
  long long kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
};
__device__ __forceinline__ Index thread_element() { return (Index)blockIdx.x * blockDim.x + threadIdx.x; }
)text";

constexpr const char* kImageToColumns = R"text(
extern "C" __global__ void kernel(const WindowArgs a) {
  const Index at = thread_element();
  if (at >= (Index)a.count) return;
  const Index taps = (Index)(a.kernel_h * a.kernel_w), depth = (Index)a.channels * taps;
  Index rest = at / (Index)a.out_width;
  const Index x = at - rest * (Index)a.out_width;
  const Index y = rest % (Index)a.out_height;
  rest /= (Index)a.out_height;
#if BY_TAP
  const Index image = rest % (Index)a.images, tap = rest / (Index)a.images;
#else
  const Index tap = rest % depth, image = rest / depth;
#endif
  const Index channel = tap / taps, in_window = tap - channel * taps;
  const Index i = in_window / (Index)a.kernel_w, j = in_window - i * (Index)a.kernel_w;
  const Index row = y * (Index)a.stride_h + i * (Index)a.dilation_h - (Index)a.pad_h;
  const Index column = x * (Index)a.stride_w + j * (Index)a.dilation_w - (Index)a.pad_w;
  Element value = 0;
  if (row >= 0 && row < (Index)a.height && column >= 0 && column < (Index)a.width) {
    const Element* plane = (const Element*)a.from + (image * (Index)a.channels + channel) * (Index)(a.height * a.width);
    value = plane[row * (Index)a.width + column];
  }
  ((Element*)a.to)[at] = value;
}
)text";

constexpr const char* kColumnsToImage = R"text(
extern "C" __global__ void kernel(const WindowArgs a) {
  const Index at = thread_element();
  if (at >= (Index)a.count) return;
  Index rest = at / (Index)a.width;
  const Index column = at - rest * (Index)a.width;
  const Index row = rest % (Index)a.height;
  const Index plane = rest / (Index)a.height;  // image * channels + channel, which also numbers the groups of taps
  const Index positions = (Index)(a.out_height * a.out_width);
  const Element* taps = (const Element*)a.from + plane * (Index)(a.kernel_h * a.kernel_w) * positions;
  Element sum = 0;
  for (Index i = 0; i < (Index)a.kernel_h; ++i) {
    const Index y = row + (Index)a.pad_h - i * (Index)a.dilation_h;
    if (y < 0 || y % (Index)a.stride_h != 0 || y / (Index)a.stride_h >= (Index)a.out_height) continue;
    for (Index j = 0; j < (Index)a.kernel_w; ++j) {
      const Index x = column + (Index)a.pad_w - j * (Index)a.dilation_w;
      if (x < 0 || x % (Index)a.stride_w != 0 || x / (Index)a.stride_w >= (Index)a.out_width) continue;
      sum += taps[(i * (Index)a.kernel_w + j) * positions + y / (Index)a.stride_h * (Index)a.out_width +
                  x / (Index)a.stride_w];
    }
  }
  ((Element*)a.to)[at] = sum;
}
)text";

constexpr const char* kMaxPool = R"text(
#if IS_FLOAT
// Sign and magnitude as a number: ordered as the floats are, both zeros alike.
__device__ __forceinline__ Ordered ordered(Element bits) {
  const Ordered magnitude = (Ordered)(bits & ~SIGN);
  return bits & SIGN ? -magnitude : magnitude;
}
__device__ __forceinline__ bool is_nan(Element bits) { return (bits & ~SIGN) > INFINITE; }
#else
__device__ __forceinline__ Element ordered(Element value) { return value; }
__device__ __forceinline__ bool is_nan(Element) { return false; }
#endif
extern "C" __global__ void kernel(const WindowArgs a) {
  const Index at = thread_element();
  if (at >= (Index)a.count) return;
  Index rest = at / (Index)a.out_width;
  const Index x = at - rest * (Index)a.out_width;
  const Index y = rest % (Index)a.out_height;
  const Index plane = rest / (Index)a.out_height;
  const Element* from = (const Element*)a.from + plane * (Index)(a.height * a.width);
  Index top = y * (Index)a.stride_h - (Index)a.pad_h, left = x * (Index)a.stride_w - (Index)a.pad_w;
  const Index down = (Index)a.dilation_h, across = (Index)a.dilation_w;
  const Index bottom = min(top + down * (Index)(a.kernel_h - 1) + 1, (Index)a.height);
  const Index right = min(left + across * (Index)(a.kernel_w - 1) + 1, (Index)a.width);
  if (top < 0) top += (down - 1 - top) / down * down;
  if (left < 0) left += (across - 1 - left) / across * across;
  Index best = top * (Index)a.width + left;
  Element largest = from[best];
  for (Index row = top; row < bottom; row += down) {
    for (Index column = left; column < right; column += across) {
      const Element value = from[row * (Index)a.width + column];
      if (is_nan(largest)) continue;
      if (is_nan(value) || ordered(value) > ordered(largest)) largest = value, best = row * (Index)a.width + column;
    }
  }
  ((Element*)a.to)[at] = largest;
  ((long long*)a.places)[at] = (long long)best;
}
)text";

std::string define(const char* name, const std::string& value) { return concat("#define ", name, " ", value, "\n"); }

std::string index_type(bool wide) { return define("Index", wide ? "long long" : "int"); }

std::string bits_type(size_t bytes) {
  switch (bytes) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned";
    default:
      return "unsigned long long";
  }
}

// Of max_pool_text: how elements are seen.
std::string element_defines(DType dtype) {
  auto floating = [](const char* bits, const char* ordered, const char* sign, const char* infinite) {
    return define("IS_FLOAT", "1") + define("Element", bits) + define("Ordered", ordered) + define("SIGN", sign) +
           define("INFINITE", infinite);
  };
  auto plain = [](const char* type) { return define("IS_FLOAT", "0") + define("Element", type); };
  switch (dtype) {
    case DType::Float64:
      return floating("unsigned long long", "long long", "0x8000000000000000ull", "0x7ff0000000000000ull");
    case DType::Float32:
      return floating("unsigned", "int", "0x80000000u", "0x7f800000u");
    case DType::Float16:
      return floating("unsigned short", "int", "0x8000u", "0x7c00u");
    case DType::BFloat16:
      return floating("unsigned short", "int", "0x8000u", "0x7f80u");
    case DType::Int64:
      return plain("long long");
    case DType::Int32:
      return plain("int");
    case DType::Int8:
      return plain("signed char");
    case DType::UInt8:
    case DType::Bool:
      return plain("unsigned char");
  }
  return {};
}

}  // namespace

void set_window(WindowArgs& args, const WindowSpec& w) {
  args.kernel_h = w.kernel[0], args.kernel_w = w.kernel[1];
  args.stride_h = w.stride[0], args.stride_w = w.stride[1];
  args.pad_h = w.padding[0], args.pad_w = w.padding[1];
  args.dilation_h = w.dilation[0], args.dilation_w = w.dilation[1];
}

std::string image_to_columns_text(size_t element_bytes, bool by_tap, bool wide_index) {
  return index_type(wide_index) + define("Element", bits_type(element_bytes)) + define("BY_TAP", by_tap ? "1" : "0") +
         kPrelude + kImageToColumns;
}

std::string columns_to_image_text(DType dtype, bool wide_index) {
  return index_type(wide_index) + define("Element", dtype == DType::Float64 ? "double" : "float") + kPrelude +
         kColumnsToImage;
}

std::string max_pool_text(DType dtype, bool wide_index) {
  return index_type(wide_index) + element_defines(dtype) + kPrelude + kMaxPool;
}

}  // namespace fuselet::cuda
