// Products of every layout, dtype and epilogue through the column-major mapping, against loops over the row-major
// definition in double precision. What cuBLASLt is told is the same mapping.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "backends/cuda/gemm/column_major.h"
#include "backends/cuda/gemm/gemm_ranges.h"
#include "backends/cuda/gemm/host_gemm.h"
#include "core/element.h"

using namespace fuselet;
using namespace fuselet::cuda;

namespace {

DevicePtr address(void* p) { return reinterpret_cast<uintptr_t>(p); }

// Elements of any floating dtype, rounded to it.
class Elements {
 public:
  Elements(DType dtype, int64_t count) : dtype_(dtype), bytes_(static_cast<size_t>(count) * size_of(dtype)) {}
  DevicePtr data() { return address(bytes_.data()); }
  size_t size_bytes() const { return bytes_.size(); }
  double get(int64_t i) const {
    const void* p = bytes_.data() + static_cast<size_t>(i) * size_of(dtype_);
    switch (dtype_) {
      case DType::Float64:
        return *static_cast<const double*>(p);
      case DType::Float32:
        return static_cast<double>(*static_cast<const float*>(p));
      case DType::Float16:
        return static_cast<double>(to_float(*static_cast<const float16*>(p)));
      default:
        return static_cast<double>(to_float(*static_cast<const bfloat16*>(p)));
    }
  }
  void set(int64_t i, double x) {
    void* p = bytes_.data() + static_cast<size_t>(i) * size_of(dtype_);
    switch (dtype_) {
      case DType::Float64:
        *static_cast<double*>(p) = x;
        return;
      case DType::Float32:
        *static_cast<float*>(p) = static_cast<float>(x);
        return;
      case DType::Float16:
        *static_cast<float16*>(p) = to_float16(x);
        return;
      default:
        *static_cast<bfloat16*>(p) = to_bfloat16(x);
    }
  }

 private:
  DType dtype_;
  std::vector<unsigned char> bytes_;
};

// Half of the distance of 1 to the next number, with room for one more rounding.
double tolerance(DType out) {
  return out == DType::Float64 ? 1e-14 : out == DType::Float32 ? 1e-6 : out == DType::Float16 ? 1e-3 : 8e-3;
}

struct Strides {
  int64_t row, col;
};
// 0: by rows; 1: by columns; 2, 3: the same with gaps.
Strides strides_of(int layout, int64_t rows, int64_t cols) {
  switch (layout) {
    case 0:
      return {cols, 1};
    case 1:
      return {1, rows};
    case 2:
      return {cols + 3, 1};
    default:
      return {1, rows + 5};
  }
}

struct Problem {
  GemmDesc desc;
  Elements a, b, c, d, bias, aux;
  std::vector<unsigned char> mask;

  static int64_t span(int64_t rows, int64_t cols, Strides s) { return (rows - 1) * s.row + (cols - 1) * s.col + 1; }
};

Problem make_problem(std::mt19937& rng, DType in, DType out, Epilogue epilogue, int64_t m, int64_t n, int64_t k,
                     int64_t batch, int la, int lb, int ld) {
  GemmDesc d;
  d.m = m, d.n = n, d.k = k, d.batch = batch, d.in = in, d.out = out, d.epilogue = epilogue;
  const Strides sa = strides_of(la, m, k), sb = strides_of(lb, k, n), sd = strides_of(ld, m, n);
  const int64_t span_a = Problem::span(m, k, sa) + 2, span_b = Problem::span(k, n, sb) + 1,
                span_d = Problem::span(m, n, sd) + 3;
  d.a = {0, sa.row, sa.col, rng() % 3 == 0 ? 0 : span_a};
  d.b = {0, sb.row, sb.col, rng() % 3 == 0 ? 0 : span_b};
  d.d = {0, sd.row, sd.col, span_d};
  d.c = d.d;
  d.aux_row_stride = aux_is_mask(epilogue) ? (n + 127) / 128 * 128 : (n + 7) / 8 * 8;
  d.aux_batch_stride = d.aux_row_stride * m;
  Problem p{d,
            Elements(in, span_a * batch),
            Elements(in, span_b * batch),
            Elements(out, span_d * batch),
            Elements(out, span_d * batch),
            Elements(out, std::max(m, n)),
            Elements(out, d.aux_batch_stride * batch),
            std::vector<unsigned char>(static_cast<size_t>(d.aux_batch_stride * batch / 8), 0)};
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t i = 0; i < span_a * batch; ++i) p.a.set(i, uniform(rng));
  for (int64_t i = 0; i < span_b * batch; ++i) p.b.set(i, uniform(rng));
  for (int64_t i = 0; i < span_d * batch; ++i) p.c.set(i, uniform(rng)), p.d.set(i, 77);
  for (int64_t i = 0; i < std::max(m, n); ++i) p.bias.set(i, uniform(rng));
  for (int64_t i = 0; i < d.aux_batch_stride * batch; ++i) p.aux.set(i, uniform(rng));
  for (unsigned char& byte : p.mask) byte = static_cast<unsigned char>(rng());
  p.desc.a.data = p.a.data(), p.desc.b.data = p.b.data(), p.desc.c.data = p.c.data(), p.desc.d.data = p.d.data();
  if (has_bias(epilogue)) p.desc.bias = p.bias.data();
  if (has_aux(epilogue)) p.desc.aux = aux_is_mask(epilogue) ? address(p.mask.data()) : p.aux.data();
  return p;
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

// What the definition in gemm.h says, element by element; `before` as it was given. Returns the largest error in units
// of what is allowed.
double largest_error(const Problem& before, const Problem& after) {
  const GemmDesc& d = after.desc;
  const Epilogue e = d.epilogue;
  const double allowed = tolerance(d.out);
  double largest = 0;
  auto meet = [&](double got, double want, double scale) {
    largest = std::max(largest, std::abs(got - want) / (allowed * (1 + std::abs(want)) * scale));
  };
  for (int64_t batch = 0; batch < d.batch; ++batch) {
    std::vector<double> column_sums(static_cast<size_t>(d.n), 0);
    for (int64_t i = 0; i < d.m; ++i) {
      for (int64_t j = 0; j < d.n; ++j) {
        double z = 0;
        for (int64_t l = 0; l < d.k; ++l) {
          z += before.a.get(batch * d.a.batch_stride + i * d.a.row_stride + l * d.a.col_stride) *
               before.b.get(batch * d.b.batch_stride + l * d.b.row_stride + j * d.b.col_stride);
        }
        const int64_t at = batch * d.d.batch_stride + i * d.d.row_stride + j * d.d.col_stride;
        z = d.alpha * z + (d.beta == 0 ? 0 : d.beta * before.c.get(at));
        if (has_bias(e) && !sums_into_bias(e)) z += before.bias.get(j);
        const int64_t aux_at = batch * d.aux_batch_stride + i * d.aux_row_stride + j;
        const auto bit = [&](const Problem& p) {
          return (p.mask[static_cast<size_t>(aux_at / 8)] >> (aux_at % 8)) & 1;
        };
        double want = z;
        switch (e) {
          case Epilogue::Relu:
          case Epilogue::ReluBias:
          case Epilogue::ReluAux:
          case Epilogue::ReluAuxBias:
            want = std::max(z, 0.0);
            break;
          case Epilogue::Gelu:
          case Epilogue::GeluBias:
          case Epilogue::GeluAux:
          case Epilogue::GeluAuxBias:
            want = gelu(z);
            break;
          case Epilogue::ReluGrad:
          case Epilogue::ReluGradSum:
            want = bit(before) ? z : 0;
            break;
          case Epilogue::GeluGrad:
          case Epilogue::GeluGradSum: {
            const double x = before.aux.get(aux_at), h = 1e-5;
            want = z * (gelu(x + h) - gelu(x - h)) / (2 * h);
            break;
          }
          default:
            break;
        }
        // The slope is a difference quotient here.
        meet(after.d.get(at), want, e == Epilogue::GeluGrad || e == Epilogue::GeluGradSum ? 1 + 1e-9 / allowed : 1);
        if (writes_aux(e)) {
          if (aux_is_mask(e)) {
            CHECK(bit(after) == (z > 0));
          } else {
            meet(after.aux.get(aux_at), z, 1);
          }
        }
        column_sums[static_cast<size_t>(j)] += want;
      }
    }
    if (e == Epilogue::ReluGradSum || e == Epilogue::GeluGradSum) {
      for (int64_t j = 0; j < d.n; ++j)
        meet(after.bias.get(j), column_sums[static_cast<size_t>(j)], 1 + 1e-9 / allowed);
    }
    if (e == Epilogue::RowSumsOfA) {
      for (int64_t i = 0; i < d.m; ++i) {
        double sum = 0;
        for (int64_t l = 0; l < d.k; ++l) sum += before.a.get(i * d.a.row_stride + l * d.a.col_stride);
        meet(after.bias.get(i), sum, 1);
      }
    }
    if (e == Epilogue::ColumnSumsOfB) {
      for (int64_t j = 0; j < d.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < d.k; ++l) sum += before.b.get(l * d.b.row_stride + j * d.b.col_stride);
        meet(after.bias.get(j), sum, 1);
      }
    }
  }
  return largest;
}

// Moving a problem keeps the addresses of its elements.
Problem copy_of(const Problem& p) { return p; }

}  // namespace

TEST_CASE("products of random layouts, sizes and dtypes agree with the definition") {
  std::mt19937 rng(7);
  constexpr std::pair<DType, DType> kDTypes[] = {{DType::Float32, DType::Float32},  {DType::Float64, DType::Float64},
                                                 {DType::Float16, DType::Float16},  {DType::BFloat16, DType::BFloat16},
                                                 {DType::BFloat16, DType::Float32}, {DType::Float16, DType::Float32}};
  for (int round = 0; round < 400; ++round) {
    const auto [in, out] = kDTypes[rng() % 6];
    auto size = [&] { return static_cast<int64_t>(rng() % 4 == 0 ? 1 : 1 + rng() % 17); };
    auto layout = [&] { return static_cast<int>(rng() % 4); };
    const int64_t m = size(), n = size(), k = size(), batch = static_cast<int64_t>(1 + rng() % 3);
    Problem p = make_problem(rng, in, out, Epilogue::None, m, n, k, batch, layout(), layout(), layout());
    if (rng() % 3 == 0) p.desc.alpha = 0.5, p.desc.beta = -1.5;
    const Problem before = copy_of(p);
    REQUIRE(reason_refused(p.desc) == nullptr);
    host_gemm(p.desc);
    INFO(to_string(p.desc));
    CHECK(largest_error(before, p) < 1);
  }
}

TEST_CASE("epilogues do what their names say, and write nothing between the rows") {
  std::mt19937 rng(8);
  for (DType out : {DType::Float32, DType::BFloat16}) {
    for (int e = 0; e <= static_cast<int>(Epilogue::ColumnSumsOfB); ++e) {
      const auto epilogue = static_cast<Epilogue>(e);
      for (int layouts = 0; layouts < 4; ++layouts) {
        const int64_t batch = sums_into_bias(epilogue) ? 1 : 2;
        Problem p = make_problem(rng, out, out, epilogue, 9, 13, 6, batch, layouts % 2, layouts / 2, 2 * (layouts % 2));
        const Problem before = copy_of(p);
        INFO(to_string(p.desc), " layouts ", layouts);
        REQUIRE(reason_refused(p.desc) == nullptr);
        host_gemm(p.desc);
        CHECK(largest_error(before, p) < 1);
        int64_t kept = 0;
        for (int64_t i = 0; i < p.desc.d.batch_stride * batch; ++i) kept += p.d.get(i) == before.d.get(i) ? 1 : 0;
        CHECK(kept >= p.desc.d.batch_stride * batch - batch * 9 * 13);
      }
    }
  }
}

TEST_CASE("a row-major product is told as its transpose, without a copy") {
  GemmDesc d;
  d.m = 5, d.n = 7, d.k = 3;
  d.a = {0x1000, 3, 1, 0};
  d.b = {0x2000, 1, 4, 0};  // by columns, with a gap
  d.d = {0x3000, 8, 1, 0};  // by rows, with a gap
  const ColumnMajorGemm g = column_major(d);
  CHECK(g.swapped);
  CHECK(g.m == 7);
  CHECK(g.n == 5);
  CHECK(g.k == 3);
  CHECK(g.a.data == 0x2000);  // stored (3, 7) by columns, 4 apart; op: transposed to (7, 3)
  CHECK(g.a.rows == 3);
  CHECK(g.a.cols == 7);
  CHECK(g.a.leading == 4);
  CHECK(g.transpose_a);
  CHECK(g.b.data == 0x1000);  // (5, 3) by rows is (3, 5) by columns
  CHECK(g.b.rows == 3);
  CHECK(g.b.cols == 5);
  CHECK(g.b.leading == 3);
  CHECK_FALSE(g.transpose_b);
  CHECK(g.d.leading == 8);
}

TEST_CASE("what no library takes is refused with the reason") {
  GemmDesc d;
  d.m = 4, d.n = 6, d.k = 8;
  d.a = {0, 8, 1, 0}, d.b = {0, 6, 1, 0}, d.d = {0, 6, 1, 0};
  CHECK(reason_refused(d) == nullptr);
  auto refusal = [&](auto change) {
    GemmDesc changed = d;
    change(changed);
    const char* reason = reason_refused(changed);
    return std::string(reason ? reason : "taken");
  };
  CHECK(refusal([](GemmDesc& x) { x.in = x.out = DType::Int64; }) == "no product of these dtypes");
  CHECK(refusal([](GemmDesc& x) { x.out = DType::BFloat16; }) == "no product of these dtypes");
  CHECK(refusal([](GemmDesc& x) { x.k = 0; }) == "there is nothing to sum");
  CHECK(refusal([](GemmDesc& x) { x.m = 0; }) == "taken");
  CHECK(refusal([](GemmDesc& x) { x.a.col_stride = 2; }) == "A must be copied first");
  CHECK(refusal([](GemmDesc& x) { x.a.row_stride = 0; }) == "A must be copied first");
  CHECK(refusal([](GemmDesc& x) { x.b.row_stride = 5; }) == "B must be copied first");
  CHECK(refusal([](GemmDesc& x) { x.d.row_stride = 0; }) == "D does not lie as a result");
  CHECK(refusal([](GemmDesc& x) { x.batch = 2; }) == "D does not lie as a result");
  CHECK(refusal([](GemmDesc& x) { x.beta = 1, x.c = {0, 1, 4, 0}; }) == "C does not lie in the order of D");
  CHECK(refusal([](GemmDesc& x) {
          x.d = {0, 1, 4, 0}, x.epilogue = Epilogue::Relu;
        }) == "an epilogue needs a row-major result");
  CHECK(refusal([](GemmDesc& x) { x.epilogue = Epilogue::Bias; }) == "the epilogue's bias is missing");
  CHECK(refusal([](GemmDesc& x) { x.epilogue = Epilogue::GeluAux, x.aux = 64, x.aux_row_stride = 6; }) ==
        "rows of aux must lie whole multiples of 8 elements apart");
  CHECK(refusal([](GemmDesc& x) { x.epilogue = Epilogue::ReluAux, x.aux = 64, x.aux_row_stride = 8; }) ==
        "rows of a mask must lie whole multiples of 128 bits apart");
  CHECK(refusal([](GemmDesc& x) { x.m = int64_t{1} << 31; }) == "a size is beyond 32 bits");
  // Results of the heads of attention interleave, which is no overlap.
  CHECK(refusal([](GemmDesc& x) { x.batch = 3, x.d = {0, 18, 1, 6}; }) == "taken");
}

TEST_CASE("the ranges of a product are what it reads and writes, without the gaps") {
  GemmDesc d;
  d.m = 2, d.n = 3, d.k = 4, d.batch = 2;
  d.a = {1000, 4, 1, 8};   // dense: one run of 16 elements
  d.b = {2000, 5, 1, 0};   // rows of 3, 5 apart, for both products
  d.d = {4000, 3, 1, 10};  // matrices of 6, 10 apart
  const std::vector<DeviceRange> ranges = ranges_of(d);
  REQUIRE(ranges.size() == 7);
  size_t read = 0, written = 0;
  for (const DeviceRange& r : ranges) (r.written ? written : read) += r.bytes;
  CHECK(read == (16 + 12) * 4);
  CHECK(written == 12 * 4);
  CHECK(ranges[0].start == 2000);
  CHECK(ranges[1].start == 2020);
  CHECK(ranges[4].start == 1000);
  CHECK(ranges[4].bytes == 64);
  CHECK(ranges[6].start == 4040);
}
