#include "backends/cpu/gemm.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "backends/cpu/parallel.h"

using fuselet::cpu::gemm;
using fuselet::cpu::GemmDesc;
using fuselet::cpu::GemmType;

namespace {

enum class Layout { rows, columns, padded_rows, spread };
constexpr Layout kLayouts[] = {Layout::rows, Layout::columns, Layout::padded_rows, Layout::spread};

struct Strides {
  int64_t rs, cs;
};

Strides strides_of(Layout layout, int64_t rows, int64_t cols) {
  switch (layout) {
    case Layout::rows:
      return {cols, 1};
    case Layout::columns:
      return {1, rows};
    case Layout::padded_rows:
      return {cols + 3, 1};
    case Layout::spread:
      return {3 * cols + 1, 3};
  }
  return {0, 0};
}

int64_t extent(Strides s, int64_t rows, int64_t cols) {
  return rows == 0 || cols == 0 ? 0 : (rows - 1) * s.rs + (cols - 1) * s.cs + 1;
}

template <class T>
std::vector<T> random_values(int64_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(uniform(bits));
  return values;
}

template <class T>
constexpr GemmType kType = sizeof(T) == 4 ? GemmType::f32 : GemmType::f64;

// A product with its operands; exact sizes, so that the address sanitizer sees reads past the end.
template <class T>
struct Case {
  int64_t m, n, k, batch = 1;
  Strides sa, sb, sc;
  std::vector<T> a, b, c, before;
  GemmDesc desc;

  Case(int64_t m_, int64_t n_, int64_t k_, Layout la, Layout lb, Layout lc, bool accumulate = false)
      : m(m_), n(n_), k(k_), sa(strides_of(la, m, k)), sb(strides_of(lb, k, n)), sc(strides_of(lc, m, n)) {
    a = random_values<T>(extent(sa, m, k), 1);
    b = random_values<T>(extent(sb, k, n), 2);
    c = random_values<T>(extent(sc, m, n), 3);
    before = c;
    desc = {.m = m,
            .n = n,
            .k = k,
            .a = a.data(),
            .a_rs = sa.rs,
            .a_cs = sa.cs,
            .b = b.data(),
            .b_rs = sb.rs,
            .b_cs = sb.cs,
            .c = c.data(),
            .c_rs = sc.rs,
            .c_cs = sc.cs,
            .batch = 1,
            .a_bs = 0,
            .b_bs = 0,
            .c_bs = 0,
            .type = kType<T>,
            .accumulate = accumulate};
  }

  T at(int64_t i, int64_t j) const { return c[static_cast<size_t>(i * sc.rs + j * sc.cs)]; }

  // Largest error, as a share of the bound (k + 1) * eps * sum |a b| of any order of summation.
  double error_of_allowed() const {
    double worst = 0;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const T start = before[static_cast<size_t>(i * sc.rs + j * sc.cs)];
        long double sum = desc.accumulate ? start : 0, size = std::fabs(sum);
        for (int64_t p = 0; p < k; ++p) {
          const long double term = static_cast<long double>(a[static_cast<size_t>(i * sa.rs + p * sa.cs)]) *
                                   b[static_cast<size_t>(p * sb.rs + j * sb.cs)];
          sum += term;
          size += std::fabs(term);
        }
        const long double allowed = static_cast<long double>(k + 2) * std::numeric_limits<T>::epsilon() * size;
        const long double error = std::fabs(at(i, j) - sum);
        if (error > 0) worst = std::max(worst, static_cast<double>(error / allowed));
      }
    }
    return worst;
  }

  // Elements of C's buffer that lie between the view's elements.
  bool gaps_are_untouched() const {
    std::vector<char> in_view(c.size(), 0);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) in_view[static_cast<size_t>(i * sc.rs + j * sc.cs)] = 1;
    }
    for (size_t i = 0; i < c.size(); ++i) {
      if (!in_view[i] && std::memcmp(&c[i], &before[i], sizeof(T)) != 0) return false;
    }
    return true;
  }
};

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

template <class T>
std::vector<T> dense_result(const Case<T>& x) {
  std::vector<T> values;
  for (int64_t i = 0; i < x.m; ++i) {
    for (int64_t j = 0; j < x.n; ++j) values.push_back(x.at(i, j));
  }
  return values;
}

// The formula that gemm.h promises, one element at a time.
template <class T>
T promised(const Case<T>& x, int64_t i, int64_t j) {
  T total = x.before[static_cast<size_t>(i * x.sc.rs + j * x.sc.cs)];
  for (int64_t p = 0; p < x.k; p += 256) {
    T sum = 0;
    for (int64_t q = p; q < std::min(x.k, p + 256); ++q) {
      sum = std::fma(x.a[static_cast<size_t>(i * x.sa.rs + q * x.sa.cs)],
                     x.b[static_cast<size_t>(q * x.sb.rs + j * x.sb.cs)], sum);
    }
    total = p > 0 || x.desc.accumulate ? total + sum : sum;
  }
  return total;
}

struct ThreadsRestored {
  int before = fuselet::cpu::get_num_threads();
  ~ThreadsRestored() { fuselet::cpu::set_num_threads(before); }
};

}  // namespace

TEST_CASE_TEMPLATE("gemm agrees with long double at every size from 1 to 70", T, float, double) {
  for (int64_t size = 1; size <= 70; ++size) {
    Case<T> square(size, size, size, Layout::rows, Layout::rows, Layout::rows);
    Case<T> oblong(71 - size, size, (size * 7) % 70 + 1, Layout::rows, Layout::columns, Layout::padded_rows);
    for (auto* x : {&square, &oblong}) {
      gemm(x->desc);
      CAPTURE(size);
      CHECK(x->error_of_allowed() <= 1.0);
      CHECK(x->gaps_are_untouched());
    }
  }
}

TEST_CASE_TEMPLATE("gemm takes every combination of layouts", T, float, double) {
  using Size = std::tuple<int64_t, int64_t, int64_t>;
  for (const auto& [m, n, k] : {Size{37, 45, 29}, Size{1, 50, 33}, Size{50, 1, 33}, Size{33, 64, 300}}) {
    for (Layout la : kLayouts) {
      for (Layout lb : kLayouts) {
        for (Layout lc : kLayouts) {
          for (bool accumulate : {false, true}) {
            Case<T> x(m, n, k, la, lb, lc, accumulate);
            gemm(x.desc);
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(int(la));
            CAPTURE(int(lb));
            CAPTURE(int(lc));
            CAPTURE(accumulate);
            CHECK(x.error_of_allowed() <= 1.0);
            CHECK(x.gaps_are_untouched());
          }
        }
      }
    }
  }
}

#if defined(__FMA__)
TEST_CASE_TEMPLATE("gemm's bits are those of the promised sum", T, float, double) {
  using Size = std::tuple<int64_t, int64_t, int64_t>;
  for (const auto& [m, n, k] : {Size{5, 7, 3}, Size{30, 70, 257}, Size{1, 9, 600}, Size{300, 600, 520}}) {
    for (bool accumulate : {false, true}) {
      Case<T> x(m, n, k, Layout::rows, Layout::columns, Layout::rows, accumulate);
      gemm(x.desc);
      int64_t wrong = 0;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = i % 3; j < n; j += 3) wrong += x.at(i, j) != promised(x, i, j);
      }
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      CHECK(wrong == 0);
    }
  }
}
#endif

TEST_CASE_TEMPLATE("gemm gives the same bits for any number of threads and any layout", T, float, double) {
  const ThreadsRestored restore;
  using Size = std::tuple<int64_t, int64_t, int64_t>;
  for (const auto& [m, n, k] : {Size{530, 1100, 300}, Size{1000, 40, 70}, Size{3, 2000, 600}}) {
    std::vector<T> first;
    for (int threads : {1, 2, 3, 7}) {
      fuselet::cpu::set_num_threads(threads);
      Case<T> x(m, n, k, Layout::rows, Layout::rows, Layout::rows);
      gemm(x.desc);
      if (threads == 1) {
        first = x.c;
        CHECK(x.error_of_allowed() <= 1.0);
      }
      CHECK(same_bits(x.c, first));
    }
    Case<T> rows(m, n, k, Layout::rows, Layout::rows, Layout::rows);
    Case<T> moved(m, n, k, Layout::columns, Layout::spread, Layout::columns);
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t i = 0; i < m; ++i) {
        moved.a[static_cast<size_t>(i * moved.sa.rs + p * moved.sa.cs)] =
            rows.a[static_cast<size_t>(i * rows.sa.rs + p * rows.sa.cs)];
      }
      for (int64_t j = 0; j < n; ++j) {
        moved.b[static_cast<size_t>(p * moved.sb.rs + j * moved.sb.cs)] =
            rows.b[static_cast<size_t>(p * rows.sb.rs + j * rows.sb.cs)];
      }
    }
    gemm(moved.desc);
    CHECK(same_bits(dense_result(moved), first));
  }
}

TEST_CASE_TEMPLATE("gemm beyond one packed chunk", T, float, double) {
  // 2048 k's, 4096 rows and columns are packed at once; one more of each starts the next chunk.
  for (auto [m, n, k] : {std::tuple{300, 600, 2049}, std::tuple{4097, 530, 5}, std::tuple{250, 4097, 5}}) {
    Case<T> x(m, n, k, Layout::rows, Layout::columns, Layout::rows, true);
    gemm(x.desc);
    int64_t wrong = 0;
    for (int64_t i = 0; i < m; i += (i + 15 < m ? 13 : 1)) {
      for (int64_t j = 0; j < n; j += (j + 18 < n ? 17 : 1)) {
        wrong += std::fabs(x.at(i, j) - promised(x, i, j)) > 1e-3 * std::fabs(promised(x, i, j)) + 1e-4;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE_TEMPLATE("gemm with no k writes zeros, or nothing when it accumulates", T, float, double) {
  Case<T> x(5, 7, 0, Layout::rows, Layout::rows, Layout::spread);
  gemm(x.desc);
  for (T value : dense_result(x)) CHECK(value == T(0));
  CHECK(x.gaps_are_untouched());

  Case<T> y(5, 7, 0, Layout::rows, Layout::rows, Layout::rows, true);
  gemm(y.desc);
  CHECK(same_bits(y.c, y.before));
}

TEST_CASE("gemm of an empty result touches nothing") {
  for (auto [m, n, batch] : {std::tuple{0, 4, 1}, std::tuple{4, 0, 1}, std::tuple{4, 4, 0}}) {
    GemmDesc desc;
    desc.m = m, desc.n = n, desc.k = 3, desc.batch = batch;
    gemm(desc);  // null operands: a read or write would crash
  }
}

TEST_CASE_TEMPLATE("gemm broadcasts with stride 0, within a matrix and over the batch", T, float, double) {
  // Every row of A is the same row; B is one matrix for the whole batch.
  const int64_t m = 19, n = 35, k = 23, batch = 6;
  const std::vector<T> a = random_values<T>(batch * k, 4), b = random_values<T>(k * n, 5);
  std::vector<T> c(static_cast<size_t>(batch * m * n));
  gemm({.m = m,
        .n = n,
        .k = k,
        .a = a.data(),
        .a_rs = 0,
        .a_cs = 1,
        .b = b.data(),
        .b_rs = n,
        .b_cs = 1,
        .c = c.data(),
        .c_rs = n,
        .c_cs = 1,
        .batch = batch,
        .a_bs = k,
        .b_bs = 0,
        .c_bs = m * n,
        .type = kType<T>,
        .accumulate = false});
  for (int64_t s = 0; s < batch; ++s) {
    for (int64_t j = 0; j < n; ++j) {
      long double sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += static_cast<long double>(a[static_cast<size_t>(s * k + p)]) * b[static_cast<size_t>(p * n + j)];
      }
      const double tolerance = 2.0 * k * std::numeric_limits<T>::epsilon() * k;
      for (int64_t i = 0; i < m; ++i) {
        CHECK(static_cast<double>(c[static_cast<size_t>((s * m + i) * n + j)]) ==
              doctest::Approx(static_cast<double>(sum)).epsilon(0).scale(1).epsilon(tolerance));
      }
    }
  }
}

TEST_CASE_TEMPLATE("gemm of a large batch equals its matrices one by one", T, float, double) {
  const int64_t m = 9, n = 21, k = 11, batch = 700;
  const std::vector<T> a = random_values<T>(batch * m * k, 6), b = random_values<T>(batch * k * n, 7);
  std::vector<T> together(static_cast<size_t>(batch * m * n)), single(together.size());
  GemmDesc desc{.m = m,
                .n = n,
                .k = k,
                .a = a.data(),
                .a_rs = k,
                .a_cs = 1,
                .b = b.data(),
                .b_rs = n,
                .b_cs = 1,
                .c = together.data(),
                .c_rs = n,
                .c_cs = 1,
                .batch = batch,
                .a_bs = m * k,
                .b_bs = k * n,
                .c_bs = m * n,
                .type = kType<T>,
                .accumulate = false};
  gemm(desc);
  desc.batch = 1;
  for (int64_t s = 0; s < batch; ++s) {
    desc.a = a.data() + s * m * k, desc.b = b.data() + s * k * n, desc.c = single.data() + s * m * n;
    gemm(desc);
  }
  CHECK(same_bits(together, single));
}

TEST_CASE_TEMPLATE("gemm lets infinities and NaNs through, zeros notwithstanding", T, float, double) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  Case<T> x(20, 40, 30, Layout::rows, Layout::rows, Layout::rows);
  for (int64_t p = 0; p < x.k; ++p) x.a[static_cast<size_t>(3 * x.k + p)] = 0;  // row 3 of A: zeros
  x.b[static_cast<size_t>(4 * x.n + 7)] = inf;                                  // B(4, 7)
  x.a[static_cast<size_t>(11 * x.k + 29)] = nan;                                // A(11, 29)
  gemm(x.desc);
  CHECK(std::isnan(x.at(3, 7)));
  for (int64_t j = 0; j < x.n; ++j) {
    CHECK(std::isnan(x.at(11, j)));
    if (j != 7) CHECK(x.at(3, j) == T(0));
  }
  for (int64_t i = 0; i < x.m; ++i) {
    if (i != 3 && i != 11) CHECK(std::isinf(x.at(i, 7)));
    if (i != 11) CHECK(std::isfinite(x.at(i, 39)));
  }
}

TEST_CASE_TEMPLATE("gemm hands every part of C to the post work once, when it is finished", T, float, double) {
  const std::tuple<int64_t, int64_t, int64_t> sizes[] = {{1, 1, 1},       {5, 1, 3},       {1, 40, 7},
                                                         {70, 33, 300},   {300, 200, 90},  {64, 32, 0},
                                                         {260, 260, 520}, {5000, 40, 300}, {100, 60, 2100}};
  for (auto [m, n, k] : sizes) {
    for (Layout layout : {Layout::rows, Layout::columns}) {
      CAPTURE(m);
      CAPTURE(n);
      Case<T> want(m, n, k, Layout::rows, Layout::rows, layout), got(m, n, k, Layout::rows, Layout::rows, layout);
      gemm(want.desc);
      std::vector<int> visits(static_cast<size_t>(m * n), 0);
      std::vector<int> wrong(static_cast<size_t>(m * n), 0);
      gemm(got.desc, [&](const fuselet::cpu::GemmPart& part) {
        for (int64_t i = part.row; i < part.row_end; ++i) {
          for (int64_t j = part.column; j < part.column_end; ++j) {
            const int64_t at = i * got.sc.rs + j * got.sc.cs;
            ++visits[static_cast<size_t>(i * n + j)];
            wrong[static_cast<size_t>(i * n + j)] += got.c[static_cast<size_t>(at)] != want.c[static_cast<size_t>(at)];
          }
        }
      });
      CHECK(std::all_of(visits.begin(), visits.end(), [](int v) { return v == 1; }));
      CHECK(std::all_of(wrong.begin(), wrong.end(), [](int v) { return v == 0; }));
    }
  }
}
