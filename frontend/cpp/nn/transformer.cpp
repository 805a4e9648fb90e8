#include "frontend/cpp/nn/transformer.h"

#include "core/ops/functions.h"
#include "frontend/cpp/nn/sequential.h"

namespace fuselet::nn {
namespace {

std::vector<MultiheadAttention> registered_attentions(Module& layer, const std::vector<const char*>& names,
                                                      int64_t d_model, int64_t nhead, const TransformerOptions& o) {
  const MultiheadAttentionOptions options = {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first};
  std::vector<MultiheadAttention> made;
  for (const char* name : names) {
    made.push_back(layer.register_module(name, MultiheadAttention(d_model, nhead, options)));
  }
  return made;
}

// Registers `layers.0`, `layers.1`, … and `norm` on a stack.
template <class Layer>
std::vector<Layer> stacked(Module& stack, const Layer& layer, int64_t num_layers,
                           const std::optional<LayerNorm>& norm) {
  FUSELET_CHECK(num_layers > 0, stack.kind(), ": expected a positive number of layers, got ", num_layers);
  ModuleList<Layer> list;
  for (int64_t i = 0; i < num_layers; ++i) list.push_back(layer.copy());
  stack.register_module("layers", list);
  if (norm) stack.register_module("norm", *norm);
  return {list.begin(), list.end()};
}

}  // namespace

TransformerLayer::TransformerLayer(std::string kind, int64_t d_model, int64_t nhead, const TransformerOptions& options,
                                   const std::vector<const char*>& attentions)
    : Module(std::move(kind)),
      d_model_(d_model),
      nhead_(nhead),
      options_(options),
      attentions_(registered_attentions(*this, attentions, d_model, nhead, options)),
      linear1_(register_module("linear1", Linear(d_model, options.dim_feedforward, options.bias))),
      dropout_(register_module("dropout", Dropout(options.dropout))),
      linear2_(register_module("linear2", Linear(options.dim_feedforward, d_model, options.bias))) {
  FUSELET_CHECK(options.activation == "relu" || options.activation == "gelu", this->kind(),
                ": activation must be 'relu' or 'gelu', got '", options.activation, "'");
  const LayerNormOptions norm = {.eps = options.layer_norm_eps, .bias = options.bias};
  for (size_t i = 1; i <= attentions.size() + 1; ++i) {
    norms_.push_back(register_module("norm" + std::to_string(i), LayerNorm({d_model}, norm)));
  }
  for (size_t i = 1; i <= attentions.size() + 1; ++i) {
    dropouts_.push_back(register_module("dropout" + std::to_string(i), Dropout(options.dropout)));
  }
}

Tensor TransformerLayer::residual(const Tensor& x, size_t number, const std::function<Tensor(const Tensor&)>& part) {
  LayerNorm& norm = norms_[number];
  Dropout& drop = dropouts_[number];
  return options_.norm_first ? x + drop(part(norm(x))) : norm(x + drop(part(x)));
}

Tensor TransformerLayer::attend(size_t attention, const Tensor& x, const Tensor& memory, const AttendOptions& how) {
  return attentions_[attention](x, memory, memory, how).output;
}

Tensor TransformerLayer::feed_forward(const Tensor& x) {
  Tensor inner = linear1_(x);
  return linear2_(dropout_(options_.activation == "relu" ? relu(inner) : gelu(inner)));
}

void TransformerLayer::take_values(const TransformerLayer& other) {
  const Tensor& like = other.linear1_.weight();
  to(like.dtype());
  to(like.device());
  load_state_dict(other.state_dict());
  train(other.is_training());
}

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead, const TransformerOptions& options)
    : TransformerLayer("TransformerEncoderLayer", d_model, nhead, options, {"self_attn"}) {}

TransformerEncoderLayer TransformerEncoderLayer::copy() const {
  TransformerEncoderLayer made(d_model_, nhead_, options_);
  made.take_values(*this);
  return made;
}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const SourceMasks& masks) {
  AttendOptions how = {.key_padding_mask = masks.src_key_padding_mask,
                       .need_weights = false,
                       .attn_mask = masks.src_mask,
                       .is_causal = masks.is_causal};
  Tensor x = residual(src, 0, [&](const Tensor& y) { return attend(0, y, y, how); });
  return residual(x, 1, [&](const Tensor& y) { return feed_forward(y); });
}

Tensor TransformerEncoderLayer::operator()(const Tensor& src, const SourceMasks& masks, Location line) {
  LineScope scope(&line);
  return forward(src, masks);
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t d_model, int64_t nhead, const TransformerOptions& options)
    : TransformerLayer("TransformerDecoderLayer", d_model, nhead, options, {"self_attn", "multihead_attn"}) {}

TransformerDecoderLayer TransformerDecoderLayer::copy() const {
  TransformerDecoderLayer made(d_model_, nhead_, options_);
  made.take_values(*this);
  return made;
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, const TargetMasks& masks) {
  AttendOptions own = {.key_padding_mask = masks.tgt_key_padding_mask,
                       .need_weights = false,
                       .attn_mask = masks.tgt_mask,
                       .is_causal = masks.tgt_is_causal};
  AttendOptions across = {.key_padding_mask = masks.memory_key_padding_mask,
                          .need_weights = false,
                          .attn_mask = masks.memory_mask,
                          .is_causal = masks.memory_is_causal};
  Tensor x = residual(tgt, 0, [&](const Tensor& y) { return attend(0, y, y, own); });
  x = residual(x, 1, [&](const Tensor& y) { return attend(1, y, memory, across); });
  return residual(x, 2, [&](const Tensor& y) { return feed_forward(y); });
}

Tensor TransformerDecoderLayer::operator()(const Tensor& tgt, const Tensor& memory, const TargetMasks& masks,
                                           Location line) {
  LineScope scope(&line);
  return forward(tgt, memory, masks);
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer, int64_t num_layers,
                                       const std::optional<LayerNorm>& norm)
    : Module("TransformerEncoder"), layers_(stacked(*this, layer, num_layers, norm)), norm_(norm) {}

Tensor TransformerEncoder::forward(const Tensor& src, const SourceMasks& masks) {
  Tensor x = src;
  for (TransformerEncoderLayer& layer : layers_) x = layer.forward(x, masks);
  return norm_ ? (*norm_)(x) : x;
}

Tensor TransformerEncoder::operator()(const Tensor& src, const SourceMasks& masks, Location line) {
  LineScope scope(&line);
  return forward(src, masks);
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer, int64_t num_layers,
                                       const std::optional<LayerNorm>& norm)
    : Module("TransformerDecoder"), layers_(stacked(*this, layer, num_layers, norm)), norm_(norm) {}

Tensor TransformerDecoder::operator()(const Tensor& tgt, const Tensor& memory, const TargetMasks& masks,
                                      Location line) {
  LineScope scope(&line);
  Tensor x = tgt;
  for (TransformerDecoderLayer& layer : layers_) x = layer.forward(x, memory, masks);
  return norm_ ? (*norm_)(x) : x;
}

}  // namespace fuselet::nn
