// Whole training steps inside a compiled function equal eager ones bit for bit.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <cstring>
#include <thread>

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
  Tensor x(int64_t i) const { return images.narrow(0, i * kBatch, kBatch); }
  Tensor y(int64_t i) const { return labels.narrow(0, i * kBatch, kBatch); }
};

struct Training {
  nn::Sequential model = nn::Sequential(nn::Linear(64, 32), nn::ReLU(), nn::Dropout(0.2), nn::Linear(32, 10));
  optim::AdamW optimizer = optim::AdamW(model.parameters(), {.lr = 0.01});

  Tensor loss_of(const Tensor& x, const Tensor& y) { return nn::functional::cross_entropy(model(x), y); }
  std::pair<Tensor, Tensor> step(const Tensor& x, const Tensor& y) {
    optimizer.zero_grad();
    Tensor loss = loss_of(x, y);
    loss.backward();
    Tensor norm = nn::utils::clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();
    return {loss, norm};
  }
};

bool same_bits(const Tensor& a, const Tensor& b) {
  return same_sizes(a.sizes(), b.sizes()) &&
         std::memcmp(a.raw_data(), b.raw_data(), static_cast<size_t>(a.numel()) * size_of(a.dtype())) == 0;
}

CompileSettings exact() {
  CompileSettings s;
  s.numerics = Numerics::Exact;
  return s;
}

void check_same_state(Training& a, Training& b) {
  std::vector<Tensor> p = a.model.parameters(), q = b.model.parameters();
  for (size_t i = 0; i < p.size(); ++i) {
    CHECK(same_bits(p[i], q[i]));
    CHECK(same_bits(p[i].grad(), q[i].grad()));
    CHECK(a.optimizer.steps_taken(p[i]) == b.optimizer.steps_taken(q[i]));
  }
}

}  // namespace

TEST_CASE("20 compiled training steps on digits equal eager ones bit for bit") {
  Digits digits;
  manual_seed(1);
  Training eager;
  manual_seed(1);
  Training compiled;
  auto step = compile([&](const Tensor& x, const Tensor& y) { return compiled.step(x, y); }, exact());
  for (int i = 0; i < kSteps; ++i) {
    // A schedule between the steps is no other program.
    for (Training* t : {&eager, &compiled}) t->optimizer.set_lr(0.01 / (1 + i / 4));
    GeneratorState state = default_generator().state();
    auto [loss, norm] = eager.step(digits.x(i), digits.y(i));
    GeneratorState end = default_generator().state();
    default_generator().set_state(state);
    auto [loss2, norm2] = step(digits.x(i), digits.y(i));
    CHECK(default_generator().state() == end);
    CHECK(same_bits(loss, loss2));
    CHECK(same_bits(norm, norm2));
    CHECK_THROWS_AS(loss2.backward(), Error);
  }
  check_same_state(eager, compiled);
  // The first call finds no gradients, the later ones drop theirs.
  CHECK(step.ledger().compilations.size() <= 2);
  CHECK(step.ledger().compiled == kSteps);
}

TEST_CASE("a compiled loss with backward and optimizer outside equals eager bit for bit") {
  Digits digits;
  manual_seed(2);
  Training eager;
  manual_seed(2);
  Training compiled;
  auto loss_of = compile([&](const Tensor& x, const Tensor& y) { return compiled.loss_of(x, y); }, exact());
  for (int i = 0; i < kSteps; ++i) {
    GeneratorState state = default_generator().state();
    auto run = [&](Training& t, Tensor loss) {
      t.optimizer.zero_grad();
      loss.backward();
      t.optimizer.step();
      return loss;
    };
    Tensor expected = run(eager, eager.loss_of(digits.x(i), digits.y(i)));
    default_generator().set_state(state);
    Tensor got = run(compiled, loss_of(digits.x(i), digits.y(i)));
    CHECK(same_bits(expected, got));
  }
  check_same_state(eager, compiled);
  CHECK(loss_of.ledger().compilations.size() == 1);
  // Evaluation is another path, and no gradient.
  compiled.model.eval();
  eager.model.eval();
  NoGradGuard no_grad;
  CHECK(same_bits(loss_of(digits.x(0), digits.y(0)), eager.loss_of(digits.x(0), digits.y(0))));
}

TEST_CASE("several threads call one compiled function") {
  auto f = compile([](const Tensor& x) { return (x * 2 + 1).sum(); }, exact());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        int64_t n = 1 + (t + i) % 3;
        if (f(ones({n}) * t).item() != static_cast<double>(n * (2 * t + 1))) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(f.ledger().compilations.size() == 3);
  CHECK(f.ledger().compiled == 200);
}
