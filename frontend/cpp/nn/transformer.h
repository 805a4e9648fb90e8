// Transformer encoder and decoder (Vaswani et al. 2017); norm_first normalises before each part instead of after it.
//
// Sequences are (T, N, E), with batch_first (N, T, E). Masks are those of MultiheadAttention: true where a key is not
// seen, or added to the scores. Parameters are named as in Python: self_attn.in_proj_weight, linear1.weight, norm1.bias
// …
#pragma once
#include "frontend/cpp/nn/activations.h"
#include "frontend/cpp/nn/layer_norm.h"
#include "frontend/cpp/nn/multihead_attention.h"

namespace fuselet::nn {

struct TransformerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  std::string activation = "relu";  // or "gelu"
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;
};

// What an encoder's call takes beside its input.
struct SourceMasks {
  Tensor src_mask = {};              // (T, T) or (N nhead, T, T)
  Tensor src_key_padding_mask = {};  // (N, T)
  bool is_causal = false;            // without src_mask: each place sees those up to itself
};

// What a decoder's call takes beside its inputs.
struct TargetMasks {
  Tensor tgt_mask = {}, memory_mask = {};                          // (T, T) and (T, S)
  Tensor tgt_key_padding_mask = {}, memory_key_padding_mask = {};  // (N, T) and (N, S)
  bool tgt_is_causal = false, memory_is_causal = false;
};

// What both kinds of layers have: attentions, two linear maps with an activation between them, and for each part a
// residual, a dropout and a LayerNorm.
class TransformerLayer : public Module {
 protected:
  TransformerLayer(std::string kind, int64_t d_model, int64_t nhead, const TransformerOptions& options,
                   const std::vector<const char*>& attentions);
  // x + dropout(part(norm(x))), or norm(x + dropout(part(x))) with the norm and dropout of that number, from 0.
  Tensor residual(const Tensor& x, size_t number, const std::function<Tensor(const Tensor&)>& part);
  Tensor attend(size_t attention, const Tensor& x, const Tensor& memory, const AttendOptions& how);
  Tensor feed_forward(const Tensor& x);
  // The values, dtype, device and mode of another layer of the same options.
  void take_values(const TransformerLayer& other);

  int64_t d_model_, nhead_;
  TransformerOptions options_;

 private:
  // In the order of registration, which is Python's.
  std::vector<MultiheadAttention> attentions_;
  Linear linear1_;
  Dropout dropout_;
  Linear linear2_;
  std::vector<LayerNorm> norms_;
  std::vector<Dropout> dropouts_;
};

// Self-attention, then linear2(dropout(activation(linear1(x)))).
class TransformerEncoderLayer : public TransformerLayer {
 public:
  // Error for an activation other than "relu" and "gelu", and unless nhead divides d_model.
  TransformerEncoderLayer(int64_t d_model, int64_t nhead, const TransformerOptions& options = {});
  Tensor forward(const Tensor& src) override { return forward(src, {}); }
  Tensor forward(const Tensor& src, const SourceMasks& masks);
  Tensor operator()(const Tensor& src, const SourceMasks& masks = {}, Location line = Location::current());
  // A layer of the same options and values, with tensors of its own.
  TransformerEncoderLayer copy() const;
};

// Self-attention, attention to the encoder's memory, and the two linear maps.
class TransformerDecoderLayer : public TransformerLayer {
 public:
  TransformerDecoderLayer(int64_t d_model, int64_t nhead, const TransformerOptions& options = {});
  Tensor forward(const Tensor& tgt, const Tensor& memory, const TargetMasks& masks);
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const TargetMasks& masks = {},
                    Location line = Location::current());
  TransformerDecoderLayer copy() const;
};

// num_layers copies of a layer one after another, then the norm, if one is given.
class TransformerEncoder : public Module {
 public:
  TransformerEncoder(const TransformerEncoderLayer& layer, int64_t num_layers,
                     const std::optional<LayerNorm>& norm = std::nullopt);
  Tensor forward(const Tensor& src) override { return forward(src, {}); }
  Tensor forward(const Tensor& src, const SourceMasks& masks);
  Tensor operator()(const Tensor& src, const SourceMasks& masks = {}, Location line = Location::current());

 private:
  std::vector<TransformerEncoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

// The same of decoder layers.
class TransformerDecoder : public Module {
 public:
  TransformerDecoder(const TransformerDecoderLayer& layer, int64_t num_layers,
                     const std::optional<LayerNorm>& norm = std::nullopt);
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const TargetMasks& masks = {},
                    Location line = Location::current());

 private:
  std::vector<TransformerDecoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

}  // namespace fuselet::nn
