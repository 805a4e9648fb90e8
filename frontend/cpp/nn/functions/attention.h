// Attention in terms of matmul and softmax. Scores of 16-bit inputs are masked and normalised in float32.
#pragma once
#include <optional>

#include "core/tensor.h"

namespace fuselet::nn::functional {

// softmax, but 0 for a slice of -inf alone, as attention wants of a row that sees nothing. NaN stays NaN.
Tensor safe_softmax(const Tensor& input, int64_t dim = -1, Location line = Location::current());

struct AttentionOptions {
  Tensor attn_mask = {};  // broadcasts to (…, T, S): bool, true where a key is seen, or floating, added to the scores
  double dropout_p = 0;   // takes place whenever it is above 0
  bool is_causal = false;                      // row t sees the keys up to t; without a mask beside it
  std::optional<double> scale = std::nullopt;  // of the scores; absent: 1 / sqrt(D)
  bool enable_gqa = false;  // key and value have fewer heads (dimension -3), each for as many heads of query in a row
};

// softmax(query @ key.T * scale) @ value (Vaswani et al. 2017): query (…, T, D), key (…, S, D), value (…, S, E) ->
// (…, T, E). A row that sees nothing gives 0. Error where shapes do not fit, or for a mask beside is_causal.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {}, Location line = Location::current());

// (T, S), true where query t sees key s: s <= t.
Tensor causal_mask(int64_t queries, int64_t keys, Device device = {});

}  // namespace fuselet::nn::functional
