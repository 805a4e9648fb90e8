// Convolutions, pooling, resampling and instance normalisation against numbers from PyTorch 2.11.0 on the same inputs
// and parameters.
#include "autograd/gradcheck.h"
#include "tests/frontend/layer_values.h"

using namespace fuselet;
namespace F = fuselet::nn::functional;

namespace {

template <class Layer>
Layer filled(Layer layer) {
  fill(layer);
  return layer;
}

}  // namespace

TEST_CASE("Conv1d") {
  check_close(filled(nn::Conv1d(2, 3, 2, {.stride = 2, .padding = 1, .dilation = 2}))(wave({1, 2, 5})),
              {0.9014619, 0.711386, 0.7270492, -0.2612538, -0.1531978, -0.2569897, 0.1355779, 0.1220282, 0.301955});
  nn::Conv1d grouped = filled(nn::Conv1d(2, 2, 3, {.groups = 2, .bias = false}));
  check_close(grouped(wave({1, 2, 4})), {0.088278, -0.5186426, -0.533672, -0.16004});
  CHECK_THROWS_AS(grouped(wave({2, 4})), Error);
  CHECK_THROWS_WITH_AS(nn::Conv1d(3, 2, 1, {.groups = 2}),
                       "Conv1d: 2 groups must divide 3 and 2 channels, all positive", Error);
}

TEST_CASE("ConvTranspose2d: padding, output padding, groups, dilation") {
  nn::ConvTranspose2d plain = filled(nn::ConvTranspose2d(2, 2, 2, {.stride = 2, .padding = 1, .output_padding = 1}));
  check_close(plain(wave({1, 2, 2, 2})), {-0.5010583, -0.2525512, -0.3254499, -0.5574368, -0.8051776, -0.7723927,
                                          -0.2740587, -0.6066008, -0.3857764, -0.4058576, -0.5413325, -0.5217017,
                                          -0.1679545, -0.0332563, 0.0090247, -0.4766292, -0.0982985, -0.3047502});
  CHECK(parameter_names(plain) == std::vector<std::string>{"weight", "bias"});
  nn::ConvTranspose2d grouped =
      filled(nn::ConvTranspose2d(2, 4, {2, 1}, {.stride = {1, 2}, .groups = 2, .bias = false, .dilation = {2, 1}}));
  Tensor y = grouped(wave({1, 2, 2, 2}));
  CHECK(to_string(y.sizes()) == "[1, 4, 4, 3]");
  check_close(y, {0.0,        0.0,        0.0,       0.0,        0.0,       0.0,        0.3221088, 0.0,
                  0.2002261,  -0.0731838, 0.0,       -0.2912096, 0.4927249, 0.0,        0.3062827, -0.1119481,
                  0.0,        -0.4454588, 0.4316047, 0.0,        0.2682898, -0.0980615, 0.0,       -0.3902018,
                  -0.1502017, 0.0,        -0.035307, 0.1063073,  0.0,       0.1674704,  0.1572839, 0.0,
                  0.0369718,  -0.1113198, 0.0,       -0.1753668, 0.3907965, 0.0,        0.0918623, -0.2765914,
                  0.0,        -0.4357263, 0.4405113, 0.0,        0.1035484, -0.3117778, 0.0,       -0.4911569});
  // More output padding than stride.
  nn::ConvTranspose2d beyond =
      filled(nn::ConvTranspose2d(1, 1, 2, {.padding = 1, .output_padding = 1, .bias = false, .dilation = 2}));
  check_close(beyond(wave({1, 1, 3, 3})),
              {0.0, -0.2912096, -0.2888538, -0.0678992, 0.3062827, 0.5240967, 0.5903531, 0.0978938, -0.4418552,
               -0.4940661, -0.3870451, -0.0909805, 0.4926552, 0.5736862, 0.4315436, 0.2625673});
  CHECK_THROWS_AS(filled(nn::ConvTranspose2d(1, 1, 2, {.output_padding = 1}))(wave({1, 1, 2, 2})), Error);
  CHECK_THROWS_AS(plain(wave({1, 3, 2, 2})), Error);
}

TEST_CASE("AvgPool2d: stride, padding, ceil_mode, divisors") {
  Tensor x = wave({1, 1, 4, 5});
  check_close(nn::AvgPool2d(2)(x), {0.5113767, 0.1192339, -0.3663045, -0.3365092});
  check_close(nn::AvgPool2d({3, 2}, {.stride = 2, .padding = 1})(x),
              {0.131534, 0.3381599, -0.2393373, -0.0878342, -0.1044529, 0.1587761});
  check_close(nn::AvgPool2d(3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false})(x),
              {0.5113767, 0.2888731, -0.3590059, -0.1735535, -0.0280158, 0.1587761, 0.1675516, -0.6863735, -0.5295908});
  check_close(F::avg_pool2d(x, 2, {.ceil_mode = true}),
              {0.5113767, 0.1192339, -0.5701513, -0.3663045, -0.3365092, 0.4108128});
  check_close(F::avg_pool2d(x, 2, {.divisor_override = 3}), {0.6818357, 0.1589786, -0.488406, -0.448679});
  // 4 · 60000 overflows float16 as a sum.
  CHECK(F::avg_pool2d(full({1, 1, 2, 2}, 60000.0, kFloat16), 2).item() == 60000);
  CHECK_THROWS_AS(F::avg_pool2d(x, 6), Error);
  CHECK_THROWS_AS(F::avg_pool2d(x, 2, {.padding = 2}), Error);
  CHECK_THROWS_AS(F::avg_pool2d(x, 2, {.divisor_override = 0}), Error);
  CHECK_THROWS_AS(F::avg_pool2d(wave({4, 5}), 2), Error);
}

TEST_CASE("AdaptiveAvgPool2d") {
  Tensor x = wave({1, 1, 4, 5});
  check_close(nn::AdaptiveAvgPool2d(1)(x), {-0.0303745});
  check_close(nn::AdaptiveAvgPool2d({3, 2})(x), {0.4696939, -0.1105612, -0.0951493, 0.4695611, -0.4295798, -0.0874019});
  check_close(F::adaptive_avg_pool2d(x, {2, 5}), {0.3946021, 0.6281514, 0.3863283, -0.1478604, -0.5701513, -0.1581048,
                                                  -0.5745043, -0.5561303, -0.1168881, 0.4108128});
  CHECK_THROWS_AS(F::adaptive_avg_pool2d(x, 0), Error);
}

TEST_CASE("Upsample: nearest and bilinear") {
  Tensor x = wave({1, 1, 2, 3});
  check_close(nn::Upsample({.scale_factor = 2})(x),
              {1.0,        1.0,        0.62161,    0.62161,    -0.2272021, -0.2272021, 1.0,        1.0,
               0.62161,    0.62161,    -0.2272021, -0.2272021, -0.9040722, -0.9040722, -0.8967584, -0.8967584,
               -0.2107958, -0.2107958, -0.9040722, -0.9040722, -0.8967584, -0.8967584, -0.2107958, -0.2107958});
  check_close(nn::Upsample({.size = nn::Pair(3, 4)})(x), {1.0, 1.0, 0.62161, -0.2272021, 1.0, 1.0, 0.62161, -0.2272021,
                                                          -0.9040722, -0.9040722, -0.8967584, -0.2107958});
  check_close(nn::Upsample({.scale_factor = 1.5})(x), {1.0, 1.0, 0.62161, -0.2272021, 1.0, 1.0, 0.62161, -0.2272021,
                                                       -0.9040722, -0.9040722, -0.8967584, -0.2107958});
  check_close(F::interpolate(x, {.size = nn::Pair(3, 5), .mode = "bilinear"}),
              {1.0, 0.848644, 0.62161, 0.1123226, -0.2272021, 0.0479639, -0.0262514, -0.1375742, -0.1864291, -0.2189989,
               -0.9040722, -0.9011467, -0.8967584, -0.4851808, -0.2107958});
  check_close(F::interpolate(x, {.size = nn::Pair(3, 5), .mode = "bilinear", .align_corners = true}),
              {1.0, 0.810805, 0.62161, 0.1972039, -0.2272021, 0.0479639, -0.0448052, -0.1375742, -0.1782866, -0.2189989,
               -0.9040722, -0.9004153, -0.8967584, -0.5537771, -0.2107958});
  check_close(F::interpolate(x, {.scale_factor = 1.7, .mode = "bilinear"}),
              {1.0, 0.8553215, 0.6327391, 0.1472738, -0.2272021, 0.2719724, 0.1836814, 0.0478489, -0.1053469,
               -0.2209291, -0.8480702, -0.8496113, -0.8519821, -0.4939941, -0.2112783});
  check_close(F::interpolate(x, {.size = nn::Pair(1, 2), .mode = "bilinear"}), {0.0015794, -0.1986428});
  CHECK_THROWS_AS(F::interpolate(x, {}), Error);
  CHECK_THROWS_AS(F::interpolate(x, {.scale_factor = 2, .mode = "cubic"}), Error);
  CHECK_THROWS_AS(F::interpolate(x, {.scale_factor = 2, .align_corners = true}), Error);
  CHECK_THROWS_AS(F::interpolate(x, {.scale_factor = 0.1}), Error);
}

TEST_CASE("InstanceNorm normalises each channel of each sample") {
  nn::InstanceNorm2d norm = filled(nn::InstanceNorm2d(2, {.affine = true, .track_running_stats = true}));
  Tensor x = wave({2, 2, 2, 2});
  check_close(norm(x), {0.4927249, 0.4927249, 0.4927249, 0.4927249, -0.0169709, 0.2822064, 0.6509596, 0.8102237,
                        0.4927249, 0.4927249, 0.4927249, 0.4927249, -0.0896651, 0.5317577, 0.7914482, 0.4928779});
  check_close(norm.buffer("running_mean"), {-0.0118147, 0.0321827});
  check_close(norm.buffer("running_var"), {0.9621718, 0.9490581});
  norm.eval();
  check_close(norm(x), {0.4927249, 0.4927249, 0.4927249, 0.4927249, 0.1244606, 0.3512665, 0.6308179, 0.751556,
                        0.4927249, 0.4927249, 0.4927249, 0.4927249, 0.3567108, 0.6350844, 0.7514158, 0.6176677});
  nn::InstanceNorm1d plain(2);
  check_close(plain(wave({1, 2, 4})),
              {1.1843736, 0.6736066, -0.4721561, -1.3858242, -1.392621, -0.4638132, 0.6809961, 1.1754382});
  CHECK(plain.state_dict().empty());
  CHECK_THROWS_AS(plain(ones({1, 2, 1})), Error);
  CHECK_THROWS_AS(plain(ones({1, 3, 4})), Error);
}

TEST_CASE("gradients of image layers against finite differences") {
  auto check = [](const Tensor& start, auto f) {
    Tensor a = start.to(kFloat64).requires_grad_();
    gradcheck([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0])}; }, {a});
  };
  Tensor image = wave({1, 2, 3, 4}), weight = wave({2, 1, 2, 2}).to(kFloat64);
  check(image, [&](const Tensor& a) { return F::conv_transpose2d(a, weight, {}, 2, 1, 1, 2); });
  check(image, [&](const Tensor& a) { return F::avg_pool2d(a, 2, {.stride = 1, .padding = 1}); });
  check(image, [&](const Tensor& a) { return F::adaptive_avg_pool2d(a, {2, 3}); });
  check(image, [&](const Tensor& a) { return F::interpolate(a, {.scale_factor = 1.5, .mode = "bilinear"}); });
  check(wave({1, 2, 5}), [&](const Tensor& a) { return F::conv1d(a, wave({2, 2, 2}).to(kFloat64), {}, 2, 1); });
}
