// Multi-head attention (Vaswani et al. 2017): num_heads attentions over parts of E / num_heads features each.
//
// Parameters: in_proj_weight (3 E, E), or q_proj_weight (E, E), k_proj_weight (E, kdim) and v_proj_weight (E, vdim)
// where kdim or vdim differ from E, start by Xavier's rule; in_proj_bias (3 E) and the bias of the layer out_proj as 0.
#pragma once
#include "frontend/cpp/nn/linear.h"

namespace fuselet::nn {

struct MultiheadAttentionOptions {
  double dropout = 0;  // of the weights, while training
  bool bias = true;
  std::optional<int64_t> kdim = std::nullopt, vdim = std::nullopt;  // absent: E
  bool batch_first = false;
};

// How one call attends. Masks exclude: a bool one is true where a key is not seen, a floating one is added to the
// scores.
struct AttendOptions {
  Tensor key_padding_mask = {};  // (N, S)
  bool need_weights = true;
  Tensor attn_mask = {};             // (T, S) or (N num_heads, T, S)
  bool average_attn_weights = true;  // over the heads
  bool is_causal = false;            // without attn_mask: query t sees the keys up to t
};

class MultiheadAttention : public Module {
 public:
  struct Result {
    Tensor output;   // (T, N, E)
    Tensor weights;  // (N, T, S), or (N, num_heads, T, S) if not averaged; undefined without need_weights
  };

  // Error unless num_heads divides embed_dim.
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, const MultiheadAttentionOptions& options = {});
  // query (T, N, E), key (S, N, kdim), value (S, N, vdim); batch_first puts N first, and N may be absent. A query that
  // sees nothing gives 0 before the output projection.
  Result operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttendOptions& how = {},
                    Location line = Location::current());

 private:
  std::vector<Tensor> projected(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Tensor additive_mask(const AttendOptions& how, const Tensor& q, const Tensor& k) const;

  int64_t embed_dim_, num_heads_;
  MultiheadAttentionOptions options_;
  Linear out_proj_;
};

}  // namespace fuselet::nn
