// The whole training step of the digits MLP on real data, recorded: forward with dropout, backward, clipping, AdamW.
// It verifies, prints, parses back, and replays: on the CPU bit for bit, in double precision within rounding.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>

#include "backends/reference/interpret_graph.h"
#include "compiler/trace/record.h"

using namespace fuselet;

namespace {

constexpr int64_t kBatch = 32;
constexpr int kSteps = 20;

struct Digits {
  Tensor images, labels;
  Digits() {
    std::string folder = FUSELET_SOURCE_DIR "/examples/data/";
    Tensor raw = data::read_idx(folder + "digits-images.idx3-ubyte");
    images = raw.cast(kFloat32).reshape({raw.size(0), 64}) / 16.0;
    labels = data::read_idx(folder + "digits-labels.idx1-ubyte").cast(kInt64);
  }
  std::vector<Tensor> batch(int64_t i) const {
    return {images.narrow(0, i * kBatch, kBatch).clone(), labels.narrow(0, i * kBatch, kBatch).clone()};
  }
};

struct Training {
  nn::Sequential model = nn::Sequential(nn::Linear(64, 32), nn::ReLU(), nn::Dropout(0.2), nn::Linear(32, 10));
  optim::AdamW optimizer = optim::AdamW(model.parameters(), {.lr = 0.01});

  std::vector<Tensor> step(const std::vector<Tensor>& batch) {
    optimizer.zero_grad();
    Tensor loss = nn::functional::cross_entropy(model(batch[0]), batch[1]);
    loss.backward();
    Tensor norm = nn::utils::clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();
    return {loss, norm};
  }
  RecordOptions names() const {
    RecordOptions options{"digits_step", {}};
    for (const auto& [name, p] : model.named_parameters()) options.names.emplace_back(name, p);
    return options;
  }
};

bool same_bits(const Tensor& a, const Tensor& b) {
  return same_sizes(a.sizes(), b.sizes()) &&
         std::memcmp(a.raw_data(), b.raw_data(), static_cast<size_t>(a.numel()) * size_of(a.dtype())) == 0;
}

std::vector<Tensor> state_of(const Training& t) {
  std::vector<Tensor> out;
  for (const Tensor& p : t.model.parameters()) {
    out.push_back(p);
    out.push_back(p.grad());
  }
  return out;
}

// Lines of the user's program move with every edit of this file.
std::string without_lines(const std::string& text) { return std::regex_replace(text, std::regex("  #[^\n]*"), ""); }

void check_close(const std::vector<reference::RefTensor>& expected, const std::vector<Tensor>& got, double relative) {
  REQUIRE(expected.size() == got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    std::vector<double> values = got[i].to_vector();
    REQUIRE(values.size() == expected[i].values.size());
    double scale = 0, worst = 0;
    for (double v : expected[i].values) scale = std::max(scale, std::abs(v));
    for (size_t k = 0; k < values.size(); ++k) worst = std::max(worst, std::abs(values[k] - expected[i].values[k]));
    CHECK_MESSAGE(worst <= relative * scale, "tensor ", i, ": off by ", worst, " at a scale of ", scale);
  }
}

}  // namespace

TEST_CASE("20 recorded steps on real digits equal 20 eager ones bit for bit") {
  Digits digits;
  manual_seed(1);
  Training eager;
  manual_seed(1);
  Training recorded;
  GeneratorState start = default_generator().state();
  std::vector<std::vector<Tensor>> expected;
  for (int i = 0; i < kSteps; ++i) expected.push_back(eager.step(digits.batch(i)));
  GeneratorState end = default_generator().state();
  default_generator().set_state(start);
  auto body = [&](const std::vector<Tensor>& batch) { return recorded.step(batch); };
  RecordedFunction step = record(body, digits.batch(0), recorded.names());
  for (int i = 0; i < kSteps; ++i) {
    std::vector<Tensor> got = i == 0 ? step.first_outputs() : step(digits.batch(i));
    CHECK(same_bits(got[0], expected[static_cast<size_t>(i)][0]));
    CHECK(same_bits(got[1], expected[static_cast<size_t>(i)][1]));
  }
  std::vector<Tensor> a = state_of(eager), b = state_of(recorded);
  for (size_t i = 0; i < a.size(); ++i) CHECK(same_bits(a[i], b[i]));
  CHECK(default_generator().state() == end);
  CHECK(expected.back()[0].item() < expected.front()[0].item());
}

TEST_CASE("the recorded digits step verifies, prints, and parses back to the same text") {
  Digits digits;
  manual_seed(1);
  Training training;
  auto body = [&](const std::vector<Tensor>& batch) { return training.step(batch); };
  RecordedFunction step = record(body, digits.batch(0), training.names());
  const ir::Graph& g = step.graph();
  CHECK_NOTHROW(ir::verify(g));
  std::string text = ir::print(g);
  CHECK(ir::print(ir::parse(text)) == text);
  // Two arguments, four parameters with two moments each; one dropout; the optimizer's step is one node.
  CHECK(g.inputs.size() == 14);
  CHECK(g.draws == 1);
  CHECK(g.writes.size() == 12);
  CHECK(g.grads.size() == 4);
  for (const ir::Node& node : g.nodes) CHECK(node.origin.line.find("recorded_digits_test.cpp:") == 0);

  std::string path = FUSELET_SOURCE_DIR "/tests/golden/digits_step.graph";
  if (std::getenv("FUSELET_UPDATE_GOLDEN")) std::ofstream(path) << without_lines(text);
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  CHECK_MESSAGE(without_lines(text) == golden.str(),
                "the recording of the digits step has changed; look at it, then run with FUSELET_UPDATE_GOLDEN=1");
}

TEST_CASE("the recorded digits step in double precision gives what eager float32 gives, within rounding") {
  Digits digits;
  manual_seed(1);
  Training training;
  auto body = [&](const std::vector<Tensor>& batch) { return training.step(batch); };
  RecordedFunction step = record(body, digits.batch(0), training.names());
  // The state before the next step, for the oracle; then the step itself.
  std::vector<Tensor> batch = digits.batch(1);
  std::vector<reference::RefTensor> inputs;
  size_t given = 0;
  for (size_t i = 0; i < step.graph().inputs.size(); ++i) {
    bool argument = step.graph().inputs[i].kind == ir::InputKind::Argument;
    inputs.push_back(reference::to_reference(argument ? batch[given++] : step.lifted()[i]));
  }
  std::vector<double> cells;
  for (const CellPtr& c : step.cells()) cells.push_back(c->get());
  reference::GraphResult expected =
      reference::interpret(ir::parse(ir::print(step.graph())), inputs, cells, default_generator().state());
  std::vector<Tensor> got = step(batch), written, grads;
  for (const ir::Write& w : step.graph().writes) written.push_back(step.lifted()[static_cast<size_t>(w.input)]);
  for (const ir::Write& w : step.graph().grads) grads.push_back(step.lifted()[static_cast<size_t>(w.input)].grad());
  check_close(expected.outputs, got, 1e-5);
  check_close(expected.grads, grads, 1e-4);
  // Adam divides by sqrt(v), which is tiny where a gradient is, so single elements round more coarsely.
  check_close(expected.writes, written, 1e-3);
  for (size_t i = 0; i < cells.size(); ++i) CHECK(step.cells()[i]->get() == expected.cells[i]);
}
