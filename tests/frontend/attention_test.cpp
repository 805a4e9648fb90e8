// Attention and transformer layers against numbers from PyTorch 2.11.0 on the same inputs and parameters.
#include <cmath>

#include "autograd/gradcheck.h"
#include "tests/frontend/layer_values.h"

using namespace fuselet;
namespace F = fuselet::nn::functional;

namespace {

Tensor later() { return logical_not(F::causal_mask(3, 3)); }

}  // namespace

TEST_CASE("scaled_dot_product_attention: masks, scale, fewer heads of key and value") {
  Tensor q = wave({2, 3}), k = wave({3, 3}), v = wave({3, 2});
  check_close(F::scaled_dot_product_attention(q, k, v), {0.1041152, 0.1344442, -0.1471807, -0.6291828});
  check_close(F::scaled_dot_product_attention(q, k, v, {.is_causal = true}), {1, 0.62161, -0.0498082, -0.6835326});
  Tensor mask = tensor({{true, false, true}, {false, true, true}});
  check_close(F::scaled_dot_product_attention(q, k, v, {.attn_mask = mask, .scale = 0.5}),
              {0.1273352, 0.2386349, -0.3366834, -0.7907124});
  check_close(F::scaled_dot_product_attention(q, k, v, {.attn_mask = wave({2, 3})}),
              {0.5462707, 0.3277555, -0.2245036, -0.5876088});
  check_close(F::scaled_dot_product_attention(wave({1, 4, 2, 2}), wave({1, 2, 3, 2}), wave({1, 2, 3, 2}) + 1,
                                              {.enable_gqa = true}),
              {1.5648117, 1.2788008, 0.7240334, 0.5740546, 0.6000065, 0.6475629, 1.5184453, 1.2752362, 1.2489314,
               1.0233033, 0.4957014, 0.3854988, 1.2421638, 1.1908247, 1.4907289, 1.4173899});
  CHECK_THROWS_AS(F::scaled_dot_product_attention(q, k, v, {.attn_mask = mask, .is_causal = true}), Error);
  CHECK_THROWS_AS(F::scaled_dot_product_attention(q, wave({3, 2}), v), Error);
  CHECK_THROWS_AS(
      F::scaled_dot_product_attention(wave({3, 2, 2}), wave({2, 3, 2}), wave({2, 3, 2}), {.enable_gqa = true}), Error);
}

TEST_CASE("a row that sees nothing gives 0 and no NaN in its gradient") {
  Tensor q = wave({2, 3}).requires_grad_();
  Tensor mask = tensor({{false, false, false}, {true, true, true}});
  Tensor out = F::scaled_dot_product_attention(q, wave({3, 3}), wave({3, 2}), {.attn_mask = mask});
  CHECK(out[0].to_vector() == std::vector<double>{0, 0});
  out.sum().backward();
  CHECK(q.grad()[0].to_vector() == std::vector<double>{0, 0, 0});
  CHECK(q.grad()[1].abs().sum().item() > 0);
}

TEST_CASE("attention's dropout keeps the mean") {
  manual_seed(3);
  Tensor q = zeros({1000, 2}), k = zeros({4, 2});
  Tensor out = F::scaled_dot_product_attention(q, k, ones({4, 1}), {.dropout_p = 0.5});
  // Each row is (a count of 4 fair coins) / 2: mean 1, standard deviation 0.5, so their mean is within 0.08 (5 sigma).
  CHECK(std::abs(out.mean().item() - 1) < 0.08);
  CHECK(out.amax().item() > 1.4);
}

TEST_CASE("gradients of attention against finite differences") {
  auto one = [](const Tensor& t) { return t.to(kFloat64).requires_grad_(); };
  Tensor mask = tensor({{true, false, true}, {false, true, true}});
  gradcheck(
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{F::scaled_dot_product_attention(in[0], in[1], in[2], {.attn_mask = mask})};
      },
      {one(wave({2, 3})), one(wave({3, 3})), one(wave({3, 2}))});
}

TEST_CASE("MultiheadAttention attends to itself, and is masked") {
  nn::MultiheadAttention attention(4, 2);
  fill(attention);
  CHECK(parameter_names(attention) ==
        std::vector<std::string>{"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"});
  Tensor x = wave({3, 2, 4});
  auto [out, weights] = attention(x, x, x);
  const std::vector<double> values = {-0.4951193, 0.2014154,  -0.6922278, -0.4835851, -0.2053,    0.1089834,
                                      -0.8078639, -0.1732432, -0.4730914, 0.1950986,  -0.7023518, -0.4581901,
                                      -0.2276801, 0.1195064,  -0.8053138, -0.1885716, -0.4943192, 0.2260773,
                                      -0.7395016, -0.419162,  -0.2338443, 0.1121413,  -0.7852705, -0.2189771};
  check_close(out, values);
  check_close(weights,
              {0.5347931, 0.2905143, 0.1746926, 0.5992073, 0.2797762, 0.1210165, 0.4295123, 0.3322886, 0.2381991,
               0.6707035, 0.2192635, 0.1100329, 0.6268326, 0.2388806, 0.1342868, 0.3933661, 0.3258136, 0.2808203});
  // The same from three tensors that are not one, and without the weights.
  auto [apart, none] = attention(x, x.clone(), x.clone(), {.need_weights = false});
  check_close(apart, values);
  CHECK_FALSE(none.defined());
  Tensor padding = tensor({{false, false, true}, {false, false, false}});
  nn::AttendOptions masked = {.key_padding_mask = padding, .attn_mask = later(), .average_attn_weights = false};
  auto [hidden, heads] = attention(x, x, x, masked);
  const std::vector<double> hidden_values = {-0.4028148, 0.1453425,  -0.6788658, -0.4526919, -0.2230603, 0.1311888,
                                             -0.8319484, -0.1500627, -0.4586856, 0.1798655,  -0.6880516, -0.4699048,
                                             -0.1978745, 0.1055893,  -0.8088934, -0.1679091, -0.4862819, 0.2082826,
                                             -0.7140058, -0.4494128, -0.2338443, 0.1121413,  -0.7852705, -0.2189771};
  check_close(hidden, hidden_values);
  CHECK(heads.size(1) == 2);
  check_close(heads[0][0], {1, 0, 0, 0.6641354, 0.3358646, 0, 0.6141517, 0.3858483, 0});
  check_close(attention(x, x, x, {.key_padding_mask = padding, .need_weights = false, .is_causal = true}).output,
              hidden_values);
  // Without N: the first sequence alone.
  Tensor alone = x.select(1, 0);
  check_close(attention(alone, alone, alone).output, out.select(1, 0).to_vector());
  CHECK_THROWS_WITH_AS(attention(x, x, x, {.attn_mask = zeros({2, 2})}),
                       "MultiheadAttention: attn_mask must have shape [3, 3] or [4, 3, 3], got [2, 2]", Error);
  CHECK_THROWS_AS(attention(x, x, x, {.key_padding_mask = zeros({3, 2})}), Error);
  CHECK_THROWS_AS(attention(x, x, alone), Error);
  CHECK_THROWS_AS(nn::MultiheadAttention(4, 3), Error);
}

TEST_CASE("MultiheadAttention with keys and values of other sizes") {
  nn::MultiheadAttention attention(4, 2, {.bias = false, .kdim = 3, .vdim = 2, .batch_first = true});
  fill(attention);
  CHECK(parameter_names(attention) ==
        std::vector<std::string>{"q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"});
  auto [out, weights] = attention(wave({1, 2, 4}), wave({1, 3, 3}), wave({1, 3, 2}));
  check_close(out, {0.1817026, -0.1926418, 0.1813202, -0.149046, -0.1260098, 0.0555179, 0.0213894, -0.095825});
  check_close(weights, {0.2930449, 0.3380059, 0.3689492, 0.3217109, 0.4534538, 0.2248354});
}

TEST_CASE("TransformerEncoderLayer and TransformerEncoder") {
  nn::TransformerEncoderLayer after(4, 2, {.dim_feedforward = 6, .dropout = 0, .batch_first = true});
  fill(after);
  check_close(after(wave({2, 3, 4})),
              {-1.125891,  -0.653491,  -0.1798542, -0.2362137, -1.3098319, -0.3092954, -0.1642949, 0.0707897,
               -1.1108276, -0.6925343, -0.1693094, -0.1747727, -1.3350611, -0.3422976, -0.1778301, -0.0814647,
               -1.1311402, -0.538305,  -0.1468821, 0.1245926,  -1.1692084, -0.5771848, -0.1869555, -0.2550927});
  nn::TransformerEncoderLayer before(
      4, 2, {.dim_feedforward = 6, .dropout = 0, .activation = "gelu", .batch_first = true, .norm_first = true});
  fill(before);
  check_close(before(wave({2, 3, 4})),
              {0.2340247,  0.8751874,  -0.3699279, -0.8440726, -1.7707995, 0.282171,  0.3733395, 0.9329212,
               -0.160852,  0.008163,   -1.0442157, -0.8404288, -1.0035517, 1.0880908, 0.7144411, 0.6040522,
               -1.0498539, -0.6171937, -1.0450592, -0.1518882, -0.102235,  1.2801024, 0.3999655, -0.2046208});
  CHECK(parameter_names(before) ==
        std::vector<std::string>{"self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
                                 "self_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight",
                                 "linear2.bias", "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"});
  nn::TransformerEncoder stack(before, 2, nn::LayerNorm({4}));
  check_close(stack(wave({1, 3, 4})), {-0.4483307, 1.7181321, -0.4921511, -0.7776504, -1.6907279, 0.680046, 0.2153262,
                                       0.7953556, -0.4666442, 1.6630701, -0.985894, -0.2105321});
  CHECK(parameter_names(stack)[12] == "layers.1.self_attn.in_proj_weight");
  CHECK(parameter_names(stack).back() == "norm.bias");
  // Layers of a stack are copies: the one given does not move with them.
  CHECK(stack.parameters().size() == 26);
  CHECK_FALSE(stack.parameters()[0].is_same(before.parameters()[0]));
  // What a place sees with is_causal does not change with what comes later.
  Tensor x = wave({1, 3, 4}), changed = cat({x.narrow(1, 0, 2), x.narrow(1, 2, 1) * 5}, 1);
  check_close(stack(changed, {.is_causal = true}).narrow(1, 0, 2),
              stack(x, {.src_mask = later()}).narrow(1, 0, 2).to_vector());
  CHECK_THROWS_WITH_AS(nn::TransformerEncoderLayer(4, 2, {.activation = "tanh"}),
                       "TransformerEncoderLayer: activation must be 'relu' or 'gelu', got 'tanh'", Error);
  CHECK_THROWS_AS(nn::TransformerEncoder(before, 0), Error);
}

TEST_CASE("TransformerDecoderLayer attends to itself and to the memory") {
  nn::TransformerDecoderLayer layer(4, 2, {.dim_feedforward = 6, .dropout = 0});
  fill(layer);
  Tensor tgt = wave({3, 1, 4}), memory = wave({2, 1, 4}) + 0.2;
  const std::vector<double> values = {-0.3291739, 0.0045926,  -0.7816306, -0.0875731, -0.3868914, -0.0725342,
                                      -0.5196738, -0.1161114, -0.3005683, 0.0132651,  -0.8694925, -0.0796437};
  check_close(layer(tgt, memory, {.tgt_mask = later()}), values);
  check_close(nn::TransformerDecoder(layer, 1)(tgt, memory, {.tgt_is_causal = true}), values);
  CHECK(parameter_names(layer)[4] == "multihead_attn.in_proj_weight");
  CHECK(parameter_names(layer).back() == "norm3.bias");
}

TEST_CASE("dropout of a transformer layer acts while training alone") {
  nn::TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 6, .dropout = 0.5});
  Tensor x = wave({3, 2, 4});
  Tensor trained = layer(x);
  layer.eval();
  Tensor first = layer(x), second = layer(x);
  CHECK(first.to_vector() == second.to_vector());
  CHECK(trained.to_vector() != first.to_vector());
}
