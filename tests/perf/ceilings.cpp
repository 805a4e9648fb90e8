#include "tests/perf/ceilings.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "backends/cpu/memory.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd.h"

namespace fuselet::perf {
namespace {

constexpr float kScale = 0.75f;
constexpr int64_t kGrain = 1 << 16;

class FloatArray {
 public:
  FloatArray(int64_t count, float value)
      : bytes_(static_cast<size_t>(count) * sizeof(float)), data_(static_cast<float*>(cpu::allocate(bytes_))) {
    // Each thread touches first what it reads later.
    cpu::parallel_for(count, kGrain, [&](int64_t begin, int64_t end) { std::fill(data_ + begin, data_ + end, value); });
  }
  ~FloatArray() { cpu::deallocate(data_, bytes_); }
  FloatArray(const FloatArray&) = delete;
  FloatArray& operator=(const FloatArray&) = delete;
  float* data() const { return data_; }

 private:
  size_t bytes_;
  float* data_;
};

void triad(float* __restrict a, const float* __restrict b, const float* __restrict c, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) a[i] = b[i] + kScale * c[i];
}

// begin and end are multiples of 64, as parallel_for's ranges of a count that is one.
void triad_past_caches(float* a, const float* b, const float* c, int64_t begin, int64_t end) {
#if defined(__AVX512F__)
  for (int64_t i = begin; i < end; i += 16) {
    _mm512_stream_ps(a + i, cpu::load(b + i) + kScale * cpu::load(c + i));
  }
  _mm_sfence();
#elif defined(__AVX2__) && defined(__FMA__)
  for (int64_t i = begin; i < end; i += 8) {
    _mm256_stream_ps(a + i, cpu::load(b + i) + kScale * cpu::load(c + i));
  }
  _mm_sfence();
#else
  triad(a, b, c, begin, end);
#endif
}

}  // namespace

double triad_bandwidth(Stores stores, size_t array_bytes, int repeats) {
  const int64_t count = static_cast<int64_t>(array_bytes / sizeof(float)) / 64 * 64;
  FloatArray a(count, 0.0f), b(count, 1.0f), c(count, 2.0f);
  const auto body = stores == Stores::plain ? triad : triad_past_caches;
  std::vector<double> seconds;
  for (int i = 0; i < std::max(repeats, 1); ++i) {
    const auto start = std::chrono::steady_clock::now();
    cpu::parallel_for(count, kGrain,
                      [&](int64_t begin, int64_t end) { body(a.data(), b.data(), c.data(), begin, end); });
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return 3.0 * static_cast<double>(count) * sizeof(float) / seconds[seconds.size() / 2] / 1e9;
}

}  // namespace fuselet::perf
