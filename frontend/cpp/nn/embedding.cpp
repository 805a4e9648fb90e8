#include "frontend/cpp/nn/embedding.h"

#include "core/ops/functions.h"
#include "frontend/cpp/nn/init.h"

namespace fuselet::nn {

Embedding::Embedding(int64_t num_embeddings, int64_t embedding_dim, EmbeddingOptions options)
    : Module("Embedding"), padding_idx_(options.padding_idx) {
  FUSELET_CHECK(num_embeddings > 0 && embedding_dim > 0, "Embedding: expected positive sizes, got ", num_embeddings,
                " and ", embedding_dim);
  Tensor weight = init::normal_(empty({num_embeddings, embedding_dim}));
  if (padding_idx_) {
    FUSELET_CHECK(*padding_idx_ >= -num_embeddings && *padding_idx_ < num_embeddings, "Embedding: padding_idx ",
                  *padding_idx_, " is outside a table of ", num_embeddings, " rows");
    if (*padding_idx_ < 0) *padding_idx_ += num_embeddings;
    init::zeros_(weight[*padding_idx_]);
  }
  register_parameter("weight", weight);
}

Tensor Embedding::forward(const Tensor& indices) { return embedding(weight(), indices, padding_idx_); }

}  // namespace fuselet::nn
