#include "tests/frontend/small_trainings.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace fuselet::testing {
namespace {

constexpr int64_t kVocabulary = 24, kContext = 16, kWidth = 32, kHeads = 4, kLayers = 2;
constexpr double kDropout = 0.1;
constexpr int64_t kDigitsBatch = 8, kTextBatch = 4;

// x: (B, T, C) to the same; place t sees the places up to t.
struct Attention : nn::Module {
  nn::Linear query_key_value = register_module("query_key_value", nn::Linear(kWidth, 3 * kWidth));
  nn::Linear output = register_module("output", nn::Linear(kWidth, kWidth));
  nn::Dropout dropout = register_module("dropout", nn::Dropout(kDropout));
  Tensor future = arange(kContext).unsqueeze(0) > arange(kContext).unsqueeze(1);

  Attention() : Module("Attention") {}
  Tensor forward(const Tensor& x) override {
    const int64_t batch = x.size(0), head_width = kWidth / kHeads;
    Tensor all = query_key_value(x).view({batch, kContext, 3, kHeads, head_width}).permute({2, 0, 3, 1, 4});
    Tensor scores = matmul(all[0], all[1].transpose(-2, -1)) * (1 / std::sqrt(static_cast<double>(head_width)));
    Tensor weights = scores.masked_fill(future, -std::numeric_limits<double>::infinity()).softmax(-1);
    return output(matmul(dropout(weights), all[2]).transpose(1, 2).reshape({batch, kContext, kWidth}));
  }
};

struct Block : nn::Module {
  nn::LayerNorm before_attention = register_module("before_attention", nn::LayerNorm({kWidth}));
  Attention attention = register_module("attention", Attention());
  nn::LayerNorm before_mlp = register_module("before_mlp", nn::LayerNorm({kWidth}));
  nn::Sequential mlp = register_module("mlp", nn::Sequential(nn::Linear(kWidth, 4 * kWidth), nn::GELU(),
                                                             nn::Linear(4 * kWidth, kWidth), nn::Dropout(kDropout)));

  Block() : Module("Block") {}
  Tensor forward(const Tensor& x) override {
    Tensor y = x + attention(before_attention(x));
    return y + mlp(before_mlp(y));
  }
};

// tokens: (B, T) int64; logits: (B * T, V). The head shares the weight of the embedding.
struct CharGpt : nn::Module {
  nn::Embedding characters = register_module("characters", nn::Embedding(kVocabulary, kWidth));
  nn::Embedding places = register_module("places", nn::Embedding(kContext, kWidth));
  nn::ModuleList<Block> blocks = register_module("blocks", nn::ModuleList<Block>());
  nn::LayerNorm last_norm = register_module("last_norm", nn::LayerNorm({kWidth}));
  nn::Linear head = register_module("head", nn::Linear(kWidth, kVocabulary, false));

  CharGpt() : Module("CharGpt") {
    for (int64_t i = 0; i < kLayers; ++i) blocks.push_back(Block());
    head.set_parameter("weight", characters.weight());
  }
  Tensor forward(const Tensor& tokens) override {
    Tensor x = characters(tokens) + places(arange(tokens.size(1)));
    for (Block& block : blocks) x = block(x);
    return head(last_norm(x)).view({-1, kVocabulary});
  }
};

std::unique_ptr<nn::Module> make_model(Example example) {
  switch (example) {
    case Example::DigitsMlp:
      return std::make_unique<nn::Sequential>(nn::Flatten(), nn::Linear(64, 32), nn::ReLU(), nn::Dropout(0.2),
                                              nn::Linear(32, 10));
    case Example::DigitsCnn:
      return std::make_unique<nn::Sequential>(nn::Conv2d(1, 4, 3, {.padding = 1}), nn::ReLU(),
                                              nn::Conv2d(4, 8, 3, {.padding = 1}), nn::ReLU(), nn::MaxPool2d(2),
                                              nn::Flatten(), nn::Dropout(0.25), nn::Linear(8 * 4 * 4, 16), nn::ReLU(),
                                              nn::Linear(16, 10));
    case Example::CharGpt:
      return std::make_unique<CharGpt>();
  }
  fail("no such example");
}

// Each character depends on the one before, so that there is something to learn.
Tensor made_up_text(int64_t length) {
  std::vector<int64_t> text{1};
  for (int64_t i = 1; i < length; ++i) text.push_back((5 * text.back() + i / 7 + 3) % kVocabulary);
  return from_vector(text);
}

}  // namespace

std::string name_of(Example example) {
  return example == Example::DigitsMlp ? "digits MLP" : example == Example::DigitsCnn ? "digits CNN" : "character GPT";
}

std::vector<Batch> batches_of(Example example, int count) {
  std::vector<Batch> out;
  if (example == Example::CharGpt) {
    const int64_t window = kTextBatch * kContext;
    const Tensor text = made_up_text(count * window + 1);
    for (int64_t i = 0; i < count; ++i) {
      out.push_back(
          {text.narrow(0, i * window, window).view({kTextBatch, kContext}), text.narrow(0, i * window + 1, window)});
    }
    return out;
  }
  const std::string folder = FUSELET_SOURCE_DIR "/examples/data/";
  const Tensor images = data::read_idx(folder + "digits-images.idx3-ubyte").cast(kFloat32).unsqueeze(1) / 16.0,
               labels = data::read_idx(folder + "digits-labels.idx1-ubyte").cast(kInt64);
  for (int64_t i = 0; i < count; ++i) {
    out.push_back({images.narrow(0, i * kDigitsBatch, kDigitsBatch), labels.narrow(0, i * kDigitsBatch, kDigitsBatch)});
  }
  return out;
}

SmallTraining::SmallTraining(Example example, uint64_t seed) {
  manual_seed(seed);
  model = make_model(example);
  optimizer = std::make_unique<optim::AdamW>(model->parameters(), optim::AdamWOptions{.lr = 0.01});
}

std::vector<Tensor> SmallTraining::step(const Batch& batch) {
  optimizer->zero_grad();
  Tensor loss = nn::functional::cross_entropy((*model)(batch.inputs), batch.targets);
  loss.backward();
  Tensor norm = nn::utils::clip_grad_norm_(model->parameters(), 1.0);
  optimizer->step();
  return {loss, norm};
}

nn::NamedTensors SmallTraining::everything() const {
  nn::NamedTensors all = model->named_parameters();
  for (const auto& [name, p] : model->named_parameters()) all.emplace_back(name + ".grad", p.grad());
  const State state = optimizer->state_dict();
  all.insert(all.end(), state.tensors.begin(), state.tensors.end());
  return all;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (!same_sizes(a.sizes(), b.sizes()) || a.dtype() != b.dtype()) return false;
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.numel()) * size_of(x.dtype())) == 0;
}

}  // namespace fuselet::testing
