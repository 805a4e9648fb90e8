// Whole training steps, decomposed and cleaned, run primitive by primitive on the CPU: the bits of eager mode, step
// after step.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <cstring>

#include "compiler/decompose/decompose.h"
#include "compiler/ir/legality.h"
#include "compiler/passes/run_passes.h"
#include "compiler/replay/interpret.h"
#include "compiler/trace/record.h"

using namespace fuselet;

namespace {

constexpr int kSteps = 4;

bool same_bits(const Tensor& a, const Tensor& b) {
  Tensor x = a.contiguous(), y = b.contiguous();
  return same_sizes(a.sizes(), b.sizes()) && a.dtype() == b.dtype() &&
         std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.numel()) * size_of(x.dtype())) == 0;
}

struct Results {
  std::vector<Tensor> outputs, writes, grads;
};

Results run(const ir::Graph& g, const std::vector<Tensor>& inputs, const std::vector<CellPtr>& cells,
            GeneratorState base) {
  std::vector<ir::ValueId> wanted = g.outputs;
  for (const ir::Write& w : g.writes) wanted.push_back(w.value);
  for (const ir::Write& w : g.grads) wanted.push_back(w.value);
  std::vector<CellPtr> own;
  for (const CellPtr& c : cells) own.push_back(make_intrusive<HostCell>(c->get(), c->name()));
  std::vector<Tensor> values = replay::interpret(g, inputs, own, base, wanted);
  auto at = values.begin();
  auto take = [&](size_t n) {
    std::vector<Tensor> part(at, at + static_cast<std::ptrdiff_t>(n));
    at += static_cast<std::ptrdiff_t>(n);
    return part;
  };
  Results r;
  r.outputs = take(g.outputs.size());
  r.writes = take(g.writes.size());
  r.grads = take(g.grads.size());
  return r;
}

void check_same(const std::vector<Tensor>& want, const std::vector<Tensor>& got) {
  REQUIRE(want.size() == got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(same_bits(want[i], got[i]));
    CHECK(same_sizes(want[i].strides(), got[i].strides()));
  }
}

// Records a step, and compares the graph's replay (which is eager mode, kernel by kernel) with the decomposed graph,
// before each of several steps that go on from each other.
void check_training(const RecordedBody& step, const std::vector<std::vector<Tensor>>& batches) {
  RecordedFunction recorded = record(step, batches[0]);
  const ir::Graph& g = recorded.graph();
  ir::Graph prims = decompose(g);
  ir::verify(prims, ir::Stage::Decompose);
  ir::Graph clean = prims;
  run_passes(clean, [](std::string_view pass, const ir::Graph& after, bool) {
    CAPTURE(pass);
    CHECK_NOTHROW(ir::verify(after, ir::Stage::Decompose));
  });
  ir::verify(clean, ir::Stage::Passes);
  CHECK(ir::print(ir::parse(ir::print(clean))) == ir::print(clean));
  MESSAGE(g.nodes.size(), " nodes recorded, ", prims.nodes.size(), " primitives, ", clean.nodes.size(),
          " after passes");
  NoGradGuard no_grad;
  for (int i = 1; i <= kSteps; ++i) {
    const std::vector<Tensor>& batch = batches[static_cast<size_t>(i) % batches.size()];
    std::vector<Tensor> inputs = recorded.lifted();
    std::copy(batch.begin(), batch.end(), inputs.begin());
    GeneratorState base = default_generator().state();
    Results want = run(g, inputs, recorded.cells(), base);
    for (const ir::Graph* other : {&prims, &clean}) {
      Results got = run(*other, inputs, recorded.cells(), base);
      check_same(want.outputs, got.outputs);
      check_same(want.writes, got.writes);
      check_same(want.grads, got.grads);
    }
    recorded(batch);
  }
}

// A transformer block of the size that fits a test: embeddings, causal attention, layer norm, an MLP with gelu,
// dropout.
struct SmallGpt {
  static constexpr int64_t kVocabulary = 11, kTime = 6, kWidth = 8, kHeads = 2;
  nn::Embedding tokens = nn::Embedding(kVocabulary, kWidth), positions = nn::Embedding(kTime, kWidth);
  nn::LayerNorm norm1 = nn::LayerNorm({kWidth}), norm2 = nn::LayerNorm({kWidth});
  nn::Linear qkv = nn::Linear(kWidth, 3 * kWidth), out = nn::Linear(kWidth, kWidth);
  nn::Linear up = nn::Linear(kWidth, 4 * kWidth), down = nn::Linear(4 * kWidth, kWidth);

  std::vector<Tensor> parameters() {
    std::vector<Tensor> all;
    for (nn::Module* m :
         std::initializer_list<nn::Module*>{&tokens, &positions, &norm1, &norm2, &qkv, &out, &up, &down}) {
      for (const Tensor& p : m->parameters()) all.push_back(p);
    }
    return all;
  }
  // idx: (B, T) -> logits (B * T, V)
  Tensor operator()(const Tensor& idx) {
    int64_t batch = idx.size(0), head = kWidth / kHeads;
    Tensor x = dropout(tokens(idx) + positions(arange(kTime)), 0.1);
    Tensor h = qkv(norm1(x));
    auto part = [&](int64_t i) {
      return h.narrow(2, i * kWidth, kWidth).view({batch, kTime, kHeads, head}).transpose(1, 2);
    };
    Tensor scores = matmul(part(0), part(1).transpose(2, 3)) * (1 / std::sqrt(static_cast<double>(head)));
    Tensor row = arange(kTime).unsqueeze(1), column = arange(kTime).unsqueeze(0);
    Tensor weights = dropout(softmax(scores.masked_fill(column > row, -INFINITY), -1), 0.1);
    Tensor mixed = matmul(weights, part(2)).transpose(1, 2).reshape({batch, kTime, kWidth});
    x = x + out(mixed);
    x = x + down(gelu(up(norm2(x)), "tanh"));
    return matmul(x.reshape({batch * kTime, kWidth}), tokens.parameters()[0].t());
  }
};

}  // namespace

TEST_CASE("decomposed digits steps compute the bits of eager ones") {
  manual_seed(1);
  nn::Sequential model(nn::Linear(64, 32), nn::ReLU(), nn::Dropout(0.2), nn::Linear(32, 10));
  optim::AdamW optimizer(model.parameters(), {.lr = 0.01});
  std::string folder = FUSELET_SOURCE_DIR "/examples/data/";
  Tensor images = data::read_idx(folder + "digits-images.idx3-ubyte").cast(kFloat32).reshape({-1, 64}) / 16.0;
  Tensor labels = data::read_idx(folder + "digits-labels.idx1-ubyte").cast(kInt64);
  std::vector<std::vector<Tensor>> batches;
  for (int64_t i = 0; i < 3; ++i)
    batches.push_back({images.narrow(0, 32 * i, 32).clone(), labels.narrow(0, 32 * i, 32).clone()});
  check_training(
      [&](const std::vector<Tensor>& batch) {
        optimizer.zero_grad();
        Tensor loss = nn::functional::cross_entropy(model(batch[0]), batch[1]);
        loss.backward();
        Tensor norm = nn::utils::clip_grad_norm_(model.parameters(), 1.0);
        optimizer.step();
        return std::vector<Tensor>{loss, norm};
      },
      batches);
}

TEST_CASE("decomposed GPT steps compute the bits of eager ones") {
  manual_seed(2);
  SmallGpt model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  std::vector<std::vector<Tensor>> batches;
  for (int i = 0; i < 3; ++i)
    batches.push_back({randint(0, SmallGpt::kVocabulary, {3, SmallGpt::kTime}),
                       randint(0, SmallGpt::kVocabulary, {3 * SmallGpt::kTime})});
  check_training(
      [&](const std::vector<Tensor>& batch) {
        optimizer.zero_grad();
        Tensor loss = cross_entropy(model(batch[0]), batch[1], {}, "mean", -100, 0.1);
        loss.backward();
        optimizer.step();
        return std::vector<Tensor>{loss};
      },
      batches);
}

TEST_CASE("decomposed bfloat16 steps compute the bits of eager ones") {
  manual_seed(3);
  auto parameter = [](std::initializer_list<SymInt> sizes) {
    return (randn(sizes) * 0.3).cast(kBFloat16).requires_grad_();
  };
  Tensor w1 = parameter({16, 12}), b1 = parameter({16}), gain = parameter({16}), w2 = parameter({5, 16}),
         b2 = parameter({5});
  optim::AdamW optimizer({w1, b1, gain, w2, b2}, {.lr = 0.02});
  std::vector<std::vector<Tensor>> batches;
  for (int i = 0; i < 3; ++i) batches.push_back({randn({7, 12}).cast(kBFloat16), randint(0, 5, {7})});
  check_training(
      [&](const std::vector<Tensor>& batch) {
        optimizer.zero_grad();
        Tensor h = layer_norm(silu(linear(batch[0], w1, b1)), {16}, gain);
        Tensor loss = cross_entropy(linear(dropout(h, 0.2), w2, b2), batch[1]);
        loss.backward();
        optimizer.step();
        return std::vector<Tensor>{loss, softmax(h, 1)};
      },
      batches);
}
