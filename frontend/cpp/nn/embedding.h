// Embedding: rows of a table (V, D) looked up by integer indices of any shape.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

struct EmbeddingOptions {
  // This row starts as zeros and gets no gradient; negative counts from the end. It is looked up as stored.
  std::optional<int64_t> padding_idx = std::nullopt;
};

class Embedding : public Module {
 public:
  // The table starts normal, of mean 0 and variance 1.
  Embedding(int64_t num_embeddings, int64_t embedding_dim, EmbeddingOptions options = {});
  Tensor forward(const Tensor& indices) override;
  const Tensor& weight() const { return parameter("weight"); }

 private:
  std::optional<int64_t> padding_idx_;
};

}  // namespace fuselet::nn
