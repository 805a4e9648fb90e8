#include "frontend/cpp/nn/functions/attention.h"

#include <cmath>
#include <limits>

#include "frontend/cpp/nn/functions/precision.h"

namespace fuselet::nn::functional {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Each head of t (…, H', S, D) as many times in a row as query has heads for it.
Tensor shared_heads(const Tensor& query, const Tensor& t) {
  FUSELET_CHECK(query.dim() >= 3 && t.dim() >= 3 && query.size(-3) % t.size(-3) == 0,
                "scaled_dot_product_attention: the heads of query ", to_string(query.sizes()),
                " are no multiple of those of key or value ", to_string(t.sizes()));
  const int64_t times = query.size(-3) / t.size(-3);
  if (times == 1) return t;
  const auto heads = static_cast<size_t>(t.dim() - 3);
  Dims repeated(t.sizes()), joined(t.sizes());
  repeated.insert(heads + 1, SymInt(times));
  joined[heads] = SymInt(query.size(-3));
  return unsqueeze(t, -3).expand(repeated).reshape(joined);
}

}  // namespace

Tensor safe_softmax(const Tensor& input, int64_t dim, Location line) {
  LineScope scope(&line);
  Tensor unseen = all(input.detach() == -kInfinity, dim, true);
  return where(unseen, 0.0, softmax(where(unseen, 0.0, input), dim));
}

Tensor causal_mask(int64_t queries, int64_t keys, Device device) {
  Tensor rows = arange(queries, std::nullopt, 1, DType::Int64, device).unsqueeze(1);
  return arange(keys, std::nullopt, 1, DType::Int64, device) <= rows;
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options, Location line) {
  LineScope scope(&line);
  FUSELET_CHECK(!options.is_causal || !options.attn_mask.defined(),
                "scaled_dot_product_attention: a mask beside is_causal; put the triangle into the mask");
  FUSELET_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2 && query.size(-1) == key.size(-1) &&
                    key.size(-2) == value.size(-2),
                "scaled_dot_product_attention: expected query (…, T, D), key (…, S, D) and value (…, S, E), got ",
                to_string(query.sizes()), ", ", to_string(key.sizes()), " and ", to_string(value.sizes()));
  Tensor k = options.enable_gqa ? shared_heads(query, key) : key;
  Tensor v = options.enable_gqa ? shared_heads(query, value) : value;
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  Tensor scores = widened(matmul(query * scale, transpose(k, -2, -1)));
  Tensor mask = options.is_causal ? causal_mask(query.size(-2), key.size(-2), query.device()) : options.attn_mask;
  if (mask.defined()) {
    scores = mask.dtype() == DType::Bool ? masked_fill(scores, logical_not(mask), -kInfinity)
                                         : scores + mask.to(scores.dtype());
  }
  Tensor shares = safe_softmax(scores).to(query.dtype());
  return matmul(options.dropout_p > 0 ? dropout(shares, options.dropout_p) : shares, v);
}

}  // namespace fuselet::nn::functional
