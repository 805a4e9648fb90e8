// matmul, addmm, linear, conv2d and pooling against loops in double.
#include "backends/cpu/parallel.h"
#include "tests/backends/cpu/tensors.h"

namespace fuselet::test {
namespace {

// a: (…, M, K), b: (…, K, N) of one rank; batch sizes are equal or 1.
std::vector<double> product(const Tensor& a, const Tensor& b) {
  int64_t r = a.dim(), m = a.size(-2), k = a.size(-1), n = b.size(-1);
  Dims batch;
  for (int64_t d = 0; d < r - 2; ++d) batch.push_back(std::max(a.size(d), b.size(d)));
  Dims sa = batch, sb = batch;
  for (SymInt s : {a.sizes()[r - 2], a.sizes()[r - 1]}) sa.push_back(s);
  for (SymInt s : {b.sizes()[r - 2], b.sizes()[r - 1]}) sb.push_back(s);
  std::vector<double> x = a.expand(sa).to_vector(), y = b.expand(sb).to_vector(), out;
  for (int64_t i = 0; i < numel_of(batch).concrete(); ++i) {
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t col = 0; col < n; ++col) {
        double sum = 0;
        for (int64_t j = 0; j < k; ++j)
          sum += x[static_cast<size_t>((i * m + row) * k + j)] * y[static_cast<size_t>((i * k + j) * n + col)];
        out.push_back(sum);
      }
    }
  }
  return out;
}

TEST_CASE("products of matrices of every layout and dtype") {
  for (DType t : {kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kInt8}) {
    Tensor a = filled({7, 5}, t, [](int64_t i) { return i % 5 - 2; }),
           b = filled({5, 6}, t, [](int64_t i) { return i % 7 - 3; });
    check_values(matmul(a, b), product(a, b));
    CHECK(matmul(a, b).dtype() == t);
    check_values(matmul(b.t(), a.t()), product(b.t(), a.t()));
    check_values(matmul(a.slice(0, 0, 7, 2), b.slice(1, 1, 6, 2)), product(a.slice(0, 0, 7, 2), b.slice(1, 1, 6, 2)));
  }
}

TEST_CASE("ranks of one to four broadcast") {
  Tensor v = varied({5}), w = varied({5}, kFloat32, 2), m = varied({4, 5}, kFloat32, 3),
         n = varied({5, 3}, kFloat32, 4);
  check_values(matmul(v, w), product(v.unsqueeze(0), w.unsqueeze(1)));
  CHECK(matmul(v, w).dim() == 0);
  check_values(matmul(m, v), product(m, v.unsqueeze(1)));
  check_values(matmul(v, n), product(v.unsqueeze(0), n));
  Tensor a = varied({2, 3, 4, 5}), b = varied({3, 5, 6}, kFloat32, 7);
  check_values(matmul(a, b), product(a, b.unsqueeze(0)));
  check_values(matmul(a, n), product(a, n.unsqueeze(0).unsqueeze(0)));
  check_values(matmul(a, v), product(a, v.unsqueeze(1).unsqueeze(0).unsqueeze(0)));
  CHECK(sizes_of(matmul(v, b)) == std::vector<int64_t>{3, 6});
  check_values(matmul(v, b), product(v.unsqueeze(0).unsqueeze(0), b));
  Tensor p = a.permute({1, 0, 3, 2}), q = varied({1, 2, 4, 3}, kFloat32, 8);
  check_values(matmul(p, q), product(p, q));
  CHECK_THROWS_AS(matmul(m, m), Error);
}

TEST_CASE("an inner size of 0 gives zeros") {
  check_values(matmul(zeros({2, 0}), zeros({0, 3})), {0, 0, 0, 0, 0, 0});
  check_values(linear(zeros({2, 0}), zeros({3, 0}), tensor_of({1, 2, 3})), {1, 2, 3, 1, 2, 3});
  CHECK(matmul(zeros({0, 4}), zeros({4, 3})).numel() == 0);
  CHECK(matmul(zeros({0, 2, 4}), zeros({4, 3})).numel() == 0);
}

TEST_CASE("float16 products are summed in float32 and rounded once") {
  check_values(matmul(ones({1, 4096}, kFloat16), ones({4096, 1}, kFloat16)), {4096});
  // 2049 is no float16; with the bias it is 2050 before the one rounding.
  check_values(linear(ones({1, 2049}, kFloat16), ones({1, 2049}, kFloat16), ones({1}, kFloat16)), {2050});
}

TEST_CASE("a product with the identity is exact") {
  Tensor a = zeros({64, 64});
  as_strided(a, {64}, {65}, 0).add_(1 + 0x1p-12);
  Tensor eye = zeros({64, 64});
  as_strided(eye, {64}, {65}, 0).add_(1);
  CHECK(same_bits(matmul(a, eye), a));
}

TEST_CASE("addmm and linear add the bias") {
  Tensor a = varied({4, 5}), b = varied({5, 3}, kFloat32, 2), bias = tensor_of({10, 20, 30});
  std::vector<double> expected = product(a, b);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += 10 * static_cast<double>(i % 3 + 1);
  check_values(addmm(bias, a, b), expected);
  check_values(linear(a, b.t(), bias), expected);
  check_values(linear(a.unsqueeze(0).expand({2, 4, 5}), b.t()), [&] {
    std::vector<double> v = product(a, b), twice = v;
    twice.insert(twice.end(), v.begin(), v.end());
    return twice;
  }());
  check_values(linear(a.select(0, 1), b.t()), product(a.slice(0, 1, 2), b));
}

struct Window {
  int64_t stride, padding;
};

TEST_CASE("convolution and its gradients are the sums of their definition") {
  constexpr int64_t N = 3, C = 2, H = 7, W = 6, O = 4;
  for (auto [K, w] : {std::pair<int64_t, Window>{3, {1, 1}}, {3, {2, 0}}, {2, {1, 0}}, {1, {1, 0}}, {5, {2, 2}}}) {
    CAPTURE(K);
    Tensor x = varied({N, C, H, W}), k = varied({O, C, K, K}, kFloat32, 3), bias = varied({O}, kFloat32, 5);
    Tensor y = conv2d(x, k, bias, {w.stride, w.stride}, {w.padding, w.padding});
    const int64_t oh = y.size(2), ow = y.size(3);
    CHECK(oh == (H + 2 * w.padding - K) / w.stride + 1);
    Tensor g = varied({N, O, oh, ow}, kFloat32, 9);
    std::vector<double> vx = x.to_vector(), vk = k.to_vector(), vb = bias.to_vector(), vg = g.to_vector();
    std::vector<double> out(vg.size()), dx(vx.size()), dk(vk.size());
    for (int64_t n = 0; n < N; ++n)
      for (int64_t o = 0; o < O; ++o)
        for (int64_t i = 0; i < oh; ++i)
          for (int64_t j = 0; j < ow; ++j) {
            const size_t at = static_cast<size_t>(((n * O + o) * oh + i) * ow + j);
            out[at] = vb[static_cast<size_t>(o)];
            for (int64_t c = 0; c < C; ++c)
              for (int64_t p = 0; p < K; ++p)
                for (int64_t q = 0; q < K; ++q) {
                  const int64_t r = i * w.stride + p - w.padding, s = j * w.stride + q - w.padding;
                  if (r < 0 || r >= H || s < 0 || s >= W) continue;
                  const size_t px = static_cast<size_t>(((n * C + c) * H + r) * W + s),
                               pk = static_cast<size_t>(((o * C + c) * K + p) * K + q);
                  out[at] += vx[px] * vk[pk];
                  dx[px] += vg[at] * vk[pk];
                  dk[pk] += vg[at] * vx[px];
                }
          }
    check_values(y, out, 1e-6);
    const Dims stride = {w.stride, w.stride}, padding = {w.padding, w.padding};
    check_values(conv2d_input_grad(g, k, x.sizes(), stride, padding), dx, 1e-6);
    check_values(conv2d_weight_grad(g, x, k.sizes(), stride, padding), dk, 1e-6);
    check_values(conv2d(x.cast(kFloat64), k.cast(kFloat64), bias.cast(kFloat64), stride, padding), out, 1e-14);
  }
}

TEST_CASE("convolution of no images, and of strided images") {
  CHECK(sizes_of(conv2d(zeros({0, 2, 5, 5}), zeros({3, 2, 3, 3}))) == std::vector<int64_t>{0, 3, 3, 3});
  CHECK(conv2d_weight_grad(zeros({0, 3, 3, 3}), zeros({0, 2, 5, 5}), {3, 2, 3, 3}, {1, 1}, {0, 0}).abs().sum().item() ==
        0);
  Tensor x = varied({2, 6, 6, 3}).permute({0, 3, 1, 2}), k = varied({4, 3, 3, 3});
  CHECK(same_bits(conv2d(x, k), conv2d(x.contiguous(), k)));
}

TEST_CASE("products and convolutions have the same bits for every thread count") {
  Tensor a = exp(varied({3, 200, 130})), b = exp(varied({130, 170}));
  Tensor x = exp(varied({9, 3, 12, 12})), k = exp(varied({5, 3, 3, 3})), g = exp(varied({9, 5, 10, 10}));
  auto all = [&] {
    return std::vector<Tensor>{matmul(a, b), conv2d(x, k), conv2d_input_grad(g, k, x.sizes(), {1, 1}, {0, 0}),
                               conv2d_weight_grad(g, x, k.sizes(), {1, 1}, {0, 0})};
  };
  cpu::set_num_threads(1);
  std::vector<Tensor> one = all();
  cpu::set_num_threads(2);
  std::vector<Tensor> two = all();
  for (size_t i = 0; i < one.size(); ++i) CHECK(same_bits(one[i], two[i]));
}

TEST_CASE("max pooling takes the first largest, NaN first of all, and never the padding") {
  Tensor x = tensor_of({1, 2, 2, 0, 5, 3, kNaN, 1, 0, -1, -2, -3, -4, -5, -6, -7}, kFloat32, {1, 1, 4, 4});
  auto [y, at] = max_pool2d_with_indices(x, {2, 2});
  check_values(y, {5, kNaN, 0, -2});
  check_values(at, {4, 6, 8, 10});
  auto [p, pat] = max_pool2d_with_indices(neg(ones({1, 1, 2, 2})), {2, 2}, {1, 1}, {1, 1});
  check_values(p, std::vector<double>(9, -1));
  check_values(pat, {0, 0, 1, 0, 0, 1, 2, 2, 3});
  auto [h, hat] = max_pool2d_with_indices(varied({2, 3, 9, 9}, kBFloat16), {3, 3}, {2, 2});
  CHECK(h.dtype() == kBFloat16);
  CHECK(sizes_of(h) == std::vector<int64_t>{2, 3, 4, 4});
}

}  // namespace
}  // namespace fuselet::test
