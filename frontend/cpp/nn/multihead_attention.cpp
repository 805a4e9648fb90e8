#include "frontend/cpp/nn/multihead_attention.h"

#include <cmath>
#include <limits>

#include "frontend/cpp/nn/functional.h"
#include "frontend/cpp/nn/init.h"

namespace fuselet::nn {
namespace {

namespace F = functional;

// What is added to scores: a bool mask is true where a key is not seen.
Tensor additive(const Tensor& mask, DType dtype) {
  if (mask.dtype() != DType::Bool) return mask.to(dtype);
  return masked_fill(zeros(mask.sizes(), dtype, mask.device()), mask, -std::numeric_limits<double>::infinity());
}

}  // namespace

MultiheadAttention::MultiheadAttention(int64_t embed_dim, int64_t num_heads, const MultiheadAttentionOptions& options)
    : Module("MultiheadAttention"),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      options_(options),
      out_proj_(embed_dim, embed_dim, options.bias) {
  FUSELET_CHECK(embed_dim > 0 && num_heads > 0 && embed_dim % num_heads == 0, "MultiheadAttention: num_heads (",
                num_heads, ") must divide embed_dim (", embed_dim, "), both positive");
  FUSELET_CHECK(options.dropout >= 0 && options.dropout <= 1, "MultiheadAttention: dropout must lie in [0, 1], got ",
                options.dropout);
  const int64_t kdim = options.kdim.value_or(embed_dim), vdim = options.vdim.value_or(embed_dim);
  const bool joined = kdim == embed_dim && vdim == embed_dim;
  auto add = [&](const char* name, bool present, int64_t rows, int64_t columns) {
    register_parameter(name, present ? init::xavier_uniform_(empty({rows, columns})) : Tensor());
  };
  add("in_proj_weight", joined, 3 * embed_dim, embed_dim);
  add("q_proj_weight", !joined, embed_dim, embed_dim);
  add("k_proj_weight", !joined, embed_dim, kdim);
  add("v_proj_weight", !joined, embed_dim, vdim);
  register_parameter("in_proj_bias", options.bias ? zeros({3 * embed_dim}) : Tensor());
  if (options.bias) init::zeros_(out_proj_.bias());
  register_module("out_proj", out_proj_);
}

std::vector<Tensor> MultiheadAttention::projected(const Tensor& query, const Tensor& key, const Tensor& value) const {
  const Tensor &joined = parameter("in_proj_weight"), &bias = parameter("in_proj_bias");
  constexpr const char* kNames[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  const Tensor* inputs[] = {&query, &key, &value};
  std::vector<Tensor> made;
  if (joined.defined() && query.is_same(key) && key.is_same(value)) {
    Tensor all = linear(query, joined, bias);
    for (int64_t i = 0; i < 3; ++i) made.push_back(narrow(all, -1, i * embed_dim_, embed_dim_));
    return made;
  }
  for (int64_t i = 0; i < 3; ++i) {
    Tensor weight = joined.defined() ? narrow(joined, 0, i * embed_dim_, embed_dim_) : parameter(kNames[i]);
    made.push_back(linear(*inputs[i], weight, bias.defined() ? narrow(bias, 0, i * embed_dim_, embed_dim_) : Tensor()));
  }
  return made;
}

Tensor MultiheadAttention::additive_mask(const AttendOptions& how, const Tensor& q, const Tensor& k) const {
  const int64_t n = q.size(0), t = q.size(2), s = k.size(2);
  Tensor mask;
  if (how.attn_mask.defined()) {
    const Dims one{SymInt(t), SymInt(s)}, each{SymInt(n * num_heads_), SymInt(t), SymInt(s)};
    FUSELET_CHECK(same_sizes(how.attn_mask.sizes(), one) || same_sizes(how.attn_mask.sizes(), each), kind(),
                  ": attn_mask must have shape ", to_string(one), " or ", to_string(each), ", got ",
                  to_string(how.attn_mask.sizes()));
    mask = additive(how.attn_mask, q.dtype());
    if (mask.dim() == 3) mask = mask.reshape({n, num_heads_, t, s});
  } else if (how.is_causal) {
    mask = additive(logical_not(F::causal_mask(t, s, q.device())), q.dtype());
  }
  if (how.key_padding_mask.defined()) {
    const Dims wanted{SymInt(n), SymInt(s)};
    FUSELET_CHECK(same_sizes(how.key_padding_mask.sizes(), wanted), kind(), ": key_padding_mask must have shape ",
                  to_string(wanted), ", got ", to_string(how.key_padding_mask.sizes()));
    Tensor padding = additive(how.key_padding_mask, q.dtype()).reshape({n, 1, 1, s});
    mask = mask.defined() ? mask + padding : padding;
  }
  return mask;
}

MultiheadAttention::Result MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                                          const AttendOptions& how, Location line) {
  LineScope scope(&line);
  const bool alone = query.dim() == 2;
  FUSELET_CHECK((alone || query.dim() == 3) && key.dim() == query.dim() && value.dim() == query.dim(), kind(),
                ": expected query, key and value of three dimensions each (or two, without N), got ",
                to_string(query.sizes()), ", ", to_string(key.sizes()), " and ", to_string(value.sizes()));
  const int64_t batch_dim = options_.batch_first ? 0 : 1;
  std::vector<Tensor> parts = projected(query, key, value);
  // (N, T, E) -> (N, heads, T, E / heads)
  for (Tensor& x : parts) {
    if (alone) x = unsqueeze(x, batch_dim);
    if (!options_.batch_first) x = transpose(x, 0, 1);
    x = transpose(x.reshape({x.size(0), x.size(1), num_heads_, embed_dim_ / num_heads_}), 1, 2);
  }
  const Tensor &q = parts[0], &k = parts[1], &v = parts[2];
  AttendOptions batched = how;
  if (alone && how.key_padding_mask.defined()) batched.key_padding_mask = unsqueeze(how.key_padding_mask, 0);
  Tensor mask = additive_mask(batched, q, k);
  const double p = is_training() ? options_.dropout : 0;
  Tensor mixed, weights;
  if (how.need_weights) {
    Tensor scores = matmul(q * (1 / std::sqrt(static_cast<double>(q.size(-1)))), transpose(k, -2, -1));
    weights = dropout(F::safe_softmax(mask.defined() ? scores + mask : scores), p, p > 0);
    mixed = matmul(weights, v);
    if (how.average_attn_weights) weights = mean(weights, {1});
    if (alone) weights = squeeze(weights, 0);
  } else {
    mixed = F::scaled_dot_product_attention(q, k, v, {.attn_mask = mask, .dropout_p = p});
  }
  Tensor out = flatten(transpose(mixed, 1, 2), -2, -1);
  out = out_proj_(options_.batch_first ? out : transpose(out, 0, 1));
  return {alone ? squeeze(out, batch_dim) : out, weights};
}

}  // namespace fuselet::nn
