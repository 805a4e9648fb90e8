// conv2d and its gradients: windows laid out as the columns of a matrix, then matrix products, image by image.
//
// Letters: N images, G groups, C input channels of a group, O output channels of a group, K = C * KH * KW window
// elements, P = H' * W' window positions. columns: (G, K, P); weight: (G, O, K). A window of one element with stride 1
// and no padding needs no columns: they are the image.
#include <algorithm>
#include <array>

#include "backends/cpu/dense.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "core/ops/window.h"

namespace fuselet::cpu {
namespace {

struct Geometry {
  int64_t images, groups, channels, height, width, outputs, out_height, out_width;
  WindowSpec window;

  int64_t taps() const { return window.kernel[0] * window.kernel[1]; }
  int64_t depth() const { return channels * taps(); }
  int64_t positions() const { return out_height * out_width; }
  int64_t image_size() const { return groups * channels * height * width; }
  int64_t result_size() const { return groups * outputs * positions(); }
  int64_t weight_size() const { return groups * outputs * depth(); }
  // What a group takes of an image, its columns, its weight and its result.
  int64_t columns_step() const { return depth() * positions(); }
  int64_t weight_step() const { return outputs * depth(); }
  int64_t result_step() const { return outputs * positions(); }
  bool is_plain() const {
    constexpr std::array<int64_t, 2> kOne = {1, 1}, kZero = {0, 0};
    return window.kernel == kOne && window.stride == kOne && window.padding == kZero;
  }
};

// input: (N, G C, H, W); weight: (G O, C, KH, KW).
Geometry geometry_of(const Call& call, DimsView input, DimsView weight) {
  Geometry g;
  g.groups = call.integer(6);
  g.images = input[0].word(), g.channels = weight[1].word(), g.height = input[2].word(), g.width = input[3].word();
  g.outputs = weight[0].word() / g.groups;
  g.window = window_of(weight.subspan(2), call.ints(3), call.ints(4), call.ints(5), call.op->name);
  g.out_height = g.window.out_size(input[2], 0, call.op->name).word();
  g.out_width = g.window.out_size(input[3], 1, call.op->name).word();
  return g;
}

void check_float(const Call& call) {
  FUSELET_CHECK(is_float(call.outs[0].dtype()), call.op->name, ": expected a floating dtype, got ",
                name_of(call.outs[0].dtype()));
}

// Calls f(row of the columns, row of the image or nullptr in the padding, first tap position along the width, row
// length): the columns' row of tap (c, i, j) and output line y meets the image's row y * stride + i * dilation -
// padding.
template <class Image, class F>
void for_each_line(const Geometry& g, Image* image, F&& f) {
  const auto [kh, kw] = g.window.kernel;
  const auto [sh, sw] = g.window.stride;
  const auto [ph, pw] = g.window.padding;
  const auto [dh, dw] = g.window.dilation;
  int64_t line = 0;
  for (int64_t c = 0; c < g.groups * g.channels; ++c) {
    for (int64_t i = 0; i < kh; ++i) {
      for (int64_t j = 0; j < kw; ++j) {
        for (int64_t y = 0; y < g.out_height; ++y, ++line) {
          const int64_t row = y * sh + i * dh - ph;
          f(line * g.out_width, row >= 0 && row < g.height ? image + (c * g.height + row) * g.width : nullptr,
            j * dw - pw, sw);
        }
      }
    }
  }
}

template <class T>
void image_to_columns(const Geometry& g, const T* image, T* columns) {
  for_each_line(g, image, [&](int64_t place, const T* row, int64_t shift, int64_t step) {
    T* to = columns + place;
    for (int64_t x = 0; x < g.out_width; ++x) {
      const int64_t from = x * step + shift;
      to[x] = row && from >= 0 && from < g.width ? row[from] : T(0);
    }
  });
}

// Adds; windows that overlap in the image meet in the order of taps.
template <class T>
void add_columns_to_image(const Geometry& g, const T* columns, T* image) {
  for_each_line(g, image, [&](int64_t place, T* row, int64_t shift, int64_t step) {
    if (!row) return;
    const T* from = columns + place;
    for (int64_t x = 0; x < g.out_width; ++x) {
      const int64_t to = x * step + shift;
      if (to >= 0 && to < g.width) row[to] += from[x];
    }
  });
}

template <class T>
constexpr GemmType kGemmType = sizeof(T) == 8 ? GemmType::f64 : GemmType::f32;

// c (m, n) = a (m, k) b (k, n), row-major unless a stride says otherwise.
template <class T>
void product(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_rs, int64_t a_cs, const T* b, int64_t b_rs,
             int64_t b_cs, T* c, bool accumulate) {
  GemmDesc d;
  d.m = m, d.n = n, d.k = k;
  d.a = a, d.a_rs = a_rs, d.a_cs = a_cs;
  d.b = b, d.b_rs = b_rs, d.b_cs = b_cs;
  d.c = c, d.c_rs = n, d.c_cs = 1;
  d.type = kGemmType<T>;
  d.accumulate = accumulate;
  gemm(d);
}

template <class T>
Scratch make_columns(const Geometry& g) {
  return Scratch(g.is_plain() ? 0 : static_cast<size_t>(g.groups * g.columns_step()) * sizeof(T));
}

template <class T>
const T* columns_of(const Geometry& g, const T* image, T* columns) {
  if (g.is_plain()) return image;
  image_to_columns(g, image, columns);
  return columns;
}

template <class T>
void forward(const Call& call, const Geometry& g) {
  DenseIn<T> x(call.tensor(0)), w(call.tensor(1));
  DenseOut<T> out(call.outs[0]);
  parallel_tiles(g.images, [&](int64_t n) {
    Scratch columns = make_columns<T>(g);
    const T* b = columns_of(g, x.data() + n * g.image_size(), columns.as<T>());
    T* c = out.data() + n * g.result_size();
    for (int64_t k = 0; k < g.groups; ++k) {
      product(g.outputs, g.positions(), g.depth(), w.data() + k * g.weight_step(), g.depth(), 1,
              b + k * g.columns_step(), g.positions(), 1, c + k * g.result_step(), false);
    }
    if (!call.has(2)) return;
    DenseIn<T> bias(call.tensor(2));
    for (int64_t o = 0; o < g.groups * g.outputs; ++o) {
      for (int64_t p = 0; p < g.positions(); ++p) c[o * g.positions() + p] += bias.data()[o];
    }
  });
  out.finish();
}

template <class T>
void input_grad(const Call& call, const Geometry& g) {
  DenseIn<T> grad(call.tensor(0)), w(call.tensor(1));
  DenseOut<T> out(call.outs[0]);
  parallel_tiles(g.images, [&](int64_t n) {
    T* image = out.data() + n * g.image_size();
    const T* b = grad.data() + n * g.result_size();
    Scratch columns = make_columns<T>(g);
    T* grads = g.is_plain() ? image : columns.as<T>();
    for (int64_t k = 0; k < g.groups; ++k) {
      product(g.depth(), g.positions(), g.outputs, w.data() + k * g.weight_step(), 1, g.depth(),
              b + k * g.result_step(), g.positions(), 1, grads + k * g.columns_step(), false);
    }
    if (g.is_plain()) return;
    std::fill_n(image, g.image_size(), T(0));
    add_columns_to_image(g, columns.as<T>(), image);
  });
  out.finish();
}

// Images are summed in batches, then the batches in order. Their number is fixed, so that sums do not depend on the
// threads.
constexpr int64_t kImageBatches = 8;

template <class T>
void weight_grad(const Call& call, const Geometry& g) {
  DenseIn<T> grad(call.tensor(0)), x(call.tensor(1));
  DenseOut<T> out(call.outs[0]);
  const int64_t size = g.weight_size(), batches = std::max<int64_t>(std::min(kImageBatches, g.images), 1);
  Scratch sums(static_cast<size_t>(size * batches) * sizeof(T));
  std::fill_n(sums.as<T>(), size * batches, T(0));
  parallel_tiles(batches, [&](int64_t batch) {
    Scratch columns = make_columns<T>(g);
    for (int64_t n = g.images * batch / batches; n < g.images * (batch + 1) / batches; ++n) {
      const T* b = columns_of(g, x.data() + n * g.image_size(), columns.as<T>());
      for (int64_t k = 0; k < g.groups; ++k) {
        product(g.outputs, g.depth(), g.positions(), grad.data() + n * g.result_size() + k * g.result_step(),
                g.positions(), 1, b + k * g.columns_step(), 1, g.positions(),
                sums.as<T>() + batch * size + k * g.weight_step(), true);
      }
    }
  });
  std::copy_n(sums.as<T>(), size, out.data());
  for (int64_t batch = 1; batch < batches; ++batch) {
    for (int64_t i = 0; i < size; ++i) out.data()[i] += sums.as<T>()[batch * size + i];
  }
  out.finish();
}

}  // namespace

void conv2d(const Call& call) {
  check_float(call);
  const Geometry g = geometry_of(call, call.tensor(0).sizes(), call.tensor(1).sizes());
  with_float_type(call.outs[0].dtype(), [&](auto zero) { forward<decltype(zero)>(call, g); });
}

void conv2d_input_grad(const Call& call) {
  check_float(call);
  const Geometry g = geometry_of(call, call.ints(2), call.tensor(1).sizes());
  with_float_type(call.outs[0].dtype(), [&](auto zero) { input_grad<decltype(zero)>(call, g); });
}

void conv2d_weight_grad(const Call& call) {
  check_float(call);
  const Geometry g = geometry_of(call, call.tensor(1).sizes(), call.ints(2));
  with_float_type(call.outs[0].dtype(), [&](auto zero) { weight_grad<decltype(zero)>(call, g); });
}

}  // namespace fuselet::cpu
