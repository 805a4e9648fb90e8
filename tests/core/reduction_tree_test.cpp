// The vectorised reductions against the order as specified, bit for bit, and against exact sums.
#include "core/reduction_tree.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/formulas.h"

namespace formula = fuselet::formula;

namespace {

// The specification, in scalars and by recursion, on its own constants.
template <class T, class F>
T specified_tree(const T* values, std::int64_t count, F f) {
  if (count == 1) return values[0];
  std::int64_t left = 1;
  while (left * 2 < count) left *= 2;
  return f(specified_tree(values, left, f), specified_tree(values + left, count - left, f));
}

template <class T, class F>
T specified_row(const std::vector<T>& x, std::int64_t n, T identity, F f) {
  if (n == 0) return identity;
  std::vector<T> chunks;
  for (std::int64_t first = 0; first < n; first += 512) {
    std::int64_t length = std::min<std::int64_t>(512, n - first);
    T lane[16];
    for (int l = 0; l < 16; ++l) {
      lane[l] = identity;
      for (std::int64_t j = 0; j * 16 < length; ++j)
        lane[l] = f(lane[l], j * 16 + l < length ? x[first + j * 16 + l] : identity);
    }
    for (int half : {8, 4, 2, 1}) {
      for (int l = 0; l < half; ++l) lane[l] = f(lane[l], lane[l + half]);
    }
    chunks.push_back(lane[0]);
  }
  return specified_tree(chunks.data(), chunks.size(), f);
}

template <class T, class F>
T specified_column(const std::vector<T>& x, std::int64_t n, T identity, F f) {
  if (n == 0) return identity;
  std::vector<T> leaves;
  for (std::int64_t row = 0; row < n; ++row) {
    if (row % 64 == 0) leaves.push_back(identity);
    leaves.back() = f(leaves.back(), x[row]);
  }
  return specified_tree(leaves.data(), leaves.size(), f);
}

template <class T>
std::vector<T> sample(std::int64_t n) {
  std::vector<T> x(n);
  std::uint64_t state = 99;
  for (T& value : x) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    value = std::is_integral_v<T> ? static_cast<T>(state)
                                  : static_cast<T>((static_cast<std::int64_t>(state) >> 11) * 0x1p-48);
  }
  return x;
}

template <class T>
auto loader(const std::vector<T>& x) {
  return [p = x.data()]<class V>(long long i) {
    V value;
    std::memcpy(&value, p + i, sizeof value);
    return value;
  };
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

const auto kSum = [](auto a, auto b) { return formula::add(a, b); };
const auto kMaximum = [](auto a, auto b) { return formula::maximum(a, b); };

std::vector<std::int64_t> extents() {
  std::vector<std::int64_t> all;
  for (std::int64_t n = 0; n <= 5000; ++n) all.push_back(n);
  for (std::int64_t n : {65536, 65537, 100000, 1000003, 512 * 1023, 512 * 1024 + 1}) all.push_back(n);
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("rows are reduced in the specified order", T, float, double, std::int64_t) {
  std::vector<T> x = sample<T>(1100000);
  auto load = loader(x);
  const T lowest = std::is_integral_v<T> ? std::numeric_limits<T>::min() : -std::numeric_limits<T>::infinity();
  auto sum = [](T a, T b) { return formula::add(a, b); };
  auto maximum = [](T a, T b) { return a > b ? a : b; };
  int wrong = 0;
  for (std::int64_t n : extents()) {
    wrong += !same_bits(fuselet::reduce_row(n, T(0), load, kSum), specified_row(x, n, T(0), sum));
    wrong += !same_bits(fuselet::reduce_row(n, lowest, load, kMaximum), specified_row(x, n, lowest, maximum));
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("columns are reduced in the specified order, alone and many at a time", T, float, double) {
  using V = typename fuselet::TreeVector<T>::Type;
  std::vector<T> x = sample<T>(1100000);
  auto sum = [](T a, T b) { return a + b; };
  int wrong = 0;
  for (std::int64_t n : extents()) {
    T expected = specified_column(x, n, T(0), sum);
    T alone = fuselet::reduce_column(
        n, T(0), [&](long long row) { return x[row]; }, kSum);
    V lanes = fuselet::reduce_column(
        n, V{}, [&](long long row) { return formula::splat<V>(x[row]); }, kSum);
    wrong += !same_bits(alone, expected) || !same_bits<T>(lanes[0], expected) ||
             !same_bits<T>(lanes[formula::kLanes<V> - 1], expected);
  }
  CHECK(wrong == 0);
}

TEST_CASE("chunks that threads computed combine to the same row") {
  std::vector<float> x = sample<float>(1100000);
  auto load = loader(x);
  for (std::int64_t n : {0, 1, 512, 513, 5000, 512 * 7, 1000003}) {
    std::vector<float> chunks(fuselet::chunk_count(n));
    for (std::size_t c = chunks.size(); c-- > 0;)
      chunks[c] = fuselet::reduce_chunk(c * fuselet::kChunk, n, 0.0f, load, kSum);
    float combined = fuselet::combine_in_order(chunks.data(), chunks.size(), 0.0f, kSum);
    CHECK(same_bits(combined, fuselet::reduce_row(n, 0.0f, load, kSum)));
  }
}

TEST_CASE("float sums of a million elements are off by a few roundings at most") {
  std::vector<float> x = sample<float>(1100000);
  for (float& value : x) value = std::abs(value);
  double exact = 0;
  for (float value : x) exact += value;
  // 32 + 4 + 12 roundings meet in one value; positive terms, so each is at most 2^-24 of the sum.
  CHECK(std::abs(fuselet::reduce_row(x.size(), 0.0f, loader(x), kSum) - exact) < 48 * 0x1p-24 * exact);
}

TEST_CASE("NaN and negative zero follow the combine function") {
  std::vector<float> x(1000, 1.0f);
  x[700] = NAN;
  CHECK(std::isnan(fuselet::reduce_row(1000, -INFINITY, loader(x), kMaximum)));
  std::vector<float> zeros(3, -0.0f);
  CHECK(!std::signbit(fuselet::reduce_row(3, 0.0f, loader(zeros), kSum)));
}
