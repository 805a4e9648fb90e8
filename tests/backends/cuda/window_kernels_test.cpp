// The texts of window kernels: NVRTC takes each of them, and run thread by thread on the host they give what plain
// loops over the definitions give.
#include "backends/cuda/window_kernels.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/cuda/driver/library_search.h"
#include "backends/cuda/jit/compile_source.h"
#include "core/element.h"
#include "tests/backends/cuda/host_kernel.h"

using namespace fuselet;
using namespace fuselet::cuda;
using fuselet::testing::HostKernel;

namespace {

unsigned long long address(void* p) { return reinterpret_cast<uintptr_t>(p); }

struct Shape {
  int64_t images, channels, height, width;
  WindowSpec window;
  int64_t out_height() const { return (height + 2 * window.padding[0] - window.kernel[0]) / window.stride[0] + 1; }
  int64_t out_width() const { return (width + 2 * window.padding[1] - window.kernel[1]) / window.stride[1] + 1; }
  int64_t taps() const { return window.kernel[0] * window.kernel[1]; }
  int64_t image_elements() const { return images * channels * height * width; }
  int64_t column_elements() const { return images * channels * taps() * out_height() * out_width(); }
};
const Shape kShapes[] = {{2, 3, 7, 5, {{3, 2}, {1, 1}, {0, 0}}},
                         {3, 2, 8, 8, {{3, 3}, {2, 2}, {1, 1}}},
                         {1, 4, 6, 9, {{2, 4}, {3, 1}, {0, 2}}},
                         {2, 1, 5, 5, {{5, 5}, {1, 1}, {2, 2}}},
                         {2, 2, 9, 4, {{1, 1}, {2, 3}, {0, 0}}}};

template <class T, class U>
WindowArgs args_of(const Shape& s, std::vector<T>& from, std::vector<U>& to) {
  WindowArgs a;
  set_window(a, s.window);
  a.from = address(from.data()), a.to = address(to.data()), a.count = static_cast<int64_t>(to.size());
  a.images = s.images, a.channels = s.channels, a.height = s.height, a.width = s.width;
  a.out_height = s.out_height(), a.out_width = s.out_width();
  return a;
}

// Calls f(image, channel, tap row, tap column, y, x, image row, image column) for every column element.
template <class F>
void for_each_tap(const Shape& s, F&& f) {
  for (int64_t n = 0; n < s.images; ++n)
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t i = 0; i < s.window.kernel[0]; ++i)
        for (int64_t j = 0; j < s.window.kernel[1]; ++j)
          for (int64_t y = 0; y < s.out_height(); ++y)
            for (int64_t x = 0; x < s.out_width(); ++x)
              f(n, c, i, j, y, x, y * s.window.stride[0] + i - s.window.padding[0],
                x * s.window.stride[1] + j - s.window.padding[1]);
}
bool inside(const Shape& s, int64_t row, int64_t column) {
  return row >= 0 && row < s.height && column >= 0 && column < s.width;
}

}  // namespace

TEST_CASE("image_to_columns lays windows out by image or by tap, with zeros for padding") {
  for (bool by_tap : {false, true}) {
    for (bool wide : {false, true}) {
      const HostKernel kernel(image_to_columns_text(2, by_tap, wide));
      for (const Shape& s : kShapes) {
        std::vector<uint16_t> image(static_cast<size_t>(s.image_elements()));
        for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint16_t>(i + 1);
        std::vector<uint16_t> columns(static_cast<size_t>(s.column_elements()), 0xffff);
        kernel(args_of(s, image, columns));
        const int64_t depth = s.channels * s.taps(), places = s.out_height() * s.out_width();
        int64_t wrong = 0;
        for_each_tap(
            s, [&](int64_t n, int64_t c, int64_t i, int64_t j, int64_t y, int64_t x, int64_t row, int64_t column) {
              const int64_t k = c * s.taps() + i * s.window.kernel[1] + j, p = y * s.out_width() + x;
              const int64_t at = by_tap ? (k * s.images + n) * places + p : (n * depth + k) * places + p;
              const int64_t from = ((n * s.channels + c) * s.height + row) * s.width + column;
              const uint16_t want = inside(s, row, column) ? image[static_cast<size_t>(from)] : 0;
              wrong += columns[static_cast<size_t>(at)] != want;
            });
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("columns_to_image sums every window that holds an element, in order of taps") {
  const HostKernel narrow(columns_to_image_text(DType::Float32, false)),
      wide(columns_to_image_text(DType::Float32, true));
  std::mt19937 rng(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const Shape& s : kShapes) {
    std::vector<float> columns(static_cast<size_t>(s.column_elements()));
    for (float& x : columns) x = uniform(rng);
    // The same additions in the same order: equal bits.
    std::vector<float> want(static_cast<size_t>(s.image_elements()), 0);
    size_t at = 0;
    for_each_tap(s, [&](int64_t n, int64_t c, int64_t, int64_t, int64_t, int64_t, int64_t row, int64_t column) {
      const float value = columns[at++];
      if (inside(s, row, column))
        want[static_cast<size_t>(((n * s.channels + c) * s.height + row) * s.width + column)] += value;
    });
    for (const HostKernel* kernel : {&narrow, &wide}) {
      std::vector<float> image(want.size(), -77);
      (*kernel)(args_of(s, columns, image));
      CHECK(image == want);
    }
  }
}

TEST_CASE("max_pool takes the first largest element; NaN wins, zeros of both signs are alike") {
  const Shape s{1, 1, 4, 6, {{2, 2}, {2, 2}, {0, 0}}};
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> plane = {1,  2,    -0.0f, 0,  nan,   5,      //
                                    3,  3,    0,     -1, 6,     nan,    //
                                    -5, -inf, inf,   7,  -1,    -1.5f,  //
                                    -4, -6,   8,     9,  -0.5f, -2};
  const std::vector<int64_t> want_places = {6, 2, 4, 18, 14, 22};
  auto check = [&](DType dtype, auto convert) {
    using Bits = decltype(convert(0.0f));
    std::vector<Bits> from(plane.size()), to(6);
    for (size_t i = 0; i < plane.size(); ++i) from[i] = convert(plane[i]);
    std::vector<int64_t> places(6, -1);
    WindowArgs a = args_of(s, from, to);
    a.places = address(places.data());
    HostKernel(max_pool_text(dtype, false))(a);
    CHECK(places == want_places);
    for (size_t i = 0; i < 6; ++i)
      CHECK(std::memcmp(&to[i], &from[static_cast<size_t>(want_places[i])], sizeof(Bits)) == 0);
  };
  check(DType::Float32, [](float x) { return x; });
  check(DType::Float64, [](float x) { return static_cast<double>(x); });
  check(DType::Float16, [](float x) { return to_float16(x); });
  check(DType::BFloat16, [](float x) { return to_bfloat16(x); });
}

TEST_CASE("max_pool of integers, with padding and windows that overlap") {
  const Shape s{2, 3, 7, 6, {{3, 3}, {2, 1}, {1, 1}}};
  std::mt19937 rng(5);
  auto check = [&](DType dtype, auto zero, bool wide) {
    using T = decltype(zero);
    std::vector<T> from(static_cast<size_t>(s.image_elements())),
        to(static_cast<size_t>(6 * s.out_height() * s.out_width()));
    for (T& x : from) x = static_cast<T>(rng());
    std::vector<int64_t> places(to.size(), -1);
    WindowArgs a = args_of(s, from, to);
    a.places = address(places.data());
    HostKernel(max_pool_text(dtype, wide))(a);
    int64_t wrong = 0;
    size_t at = 0;
    for (int64_t plane = 0; plane < 6; ++plane) {
      for (int64_t y = 0; y < s.out_height(); ++y) {
        for (int64_t x = 0; x < s.out_width(); ++x, ++at) {
          int64_t best = -1;
          for (int64_t row = y * 2 - 1; row < y * 2 + 2; ++row) {
            for (int64_t column = x - 1; column < x + 2; ++column) {
              if (!inside(s, row, column)) continue;
              const int64_t here = row * s.width + column;
              if (best < 0 ||
                  from[static_cast<size_t>(plane * 42 + here)] > from[static_cast<size_t>(plane * 42 + best)])
                best = here;
            }
          }
          wrong += places[at] != best || to[at] != from[static_cast<size_t>(plane * 42 + best)];
        }
      }
    }
    CHECK(wrong == 0);
  };
  check(DType::Int64, int64_t{}, false);
  check(DType::Int32, int32_t{}, true);
  check(DType::Int8, int8_t{}, false);
  check(DType::UInt8, uint8_t{}, false);
}

TEST_CASE("NVRTC compiles every text for sm_80 and sm_90") {
  void* library = find_library("nvrtc").handle;
  if (!library) {
    MESSAGE("skipped: no NVRTC here");
    return;
  }
  NvrtcApi api;
#define FUSELET_FIND(member, symbol, parameters) \
  api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, symbol));
  FUSELET_NVRTC(FUSELET_FIND)
#undef FUSELET_FIND
  std::vector<std::string> sources;
  for (bool wide : {false, true}) {
    for (size_t bytes : {2, 4, 8}) sources.push_back(image_to_columns_text(bytes, wide, wide));
    for (DType dtype : {DType::Float32, DType::Float64}) sources.push_back(columns_to_image_text(dtype, wide));
  }
  for (int t = 0; t < kNumDTypes; ++t) sources.push_back(max_pool_text(static_cast<DType>(t), t % 2 == 0));
  for (const char* name : {"sm_80", "sm_90"}) {
    for (size_t i = 0; i < sources.size(); i += name[3] == '8' ? 5 : 1) {
      const jit::CompiledSource compiled = jit::compile_source(api, sources[i], {name, false});
      INFO(name, "\n", sources[i], "\n", compiled.messages);
      CHECK_FALSE(compiled.image.empty());
    }
  }
}
