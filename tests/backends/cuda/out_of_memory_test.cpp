// A training step that runs out of memory at any of its allocations: an error arrives, nothing is lost, nothing has
// changed, and the next step computes what it would have computed otherwise.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

using namespace fuselet;

namespace {

constexpr Device kCuda{DeviceType::CUDA, 0};

// The device's allocator, one allocation of which fails.
class FailingMemory final : public Allocator {
 public:
  FailingMemory() : inner_(allocator_of(DeviceType::CUDA)) { register_allocator(DeviceType::CUDA, this); }
  ~FailingMemory() override { register_allocator(DeviceType::CUDA, &inner_); }

  // The n-th allocation from now on, counted from 0; -1: none.
  void fail_at(int n) { left_ = n; }
  void* allocate(size_t bytes, Device device) override {
    if (bytes > 0 && left_-- == 0) throw cuda::OutOfMemoryError(to_string(device), {bytes});
    return inner_.allocate(bytes, device);
  }
  void deallocate(void* data, size_t bytes, Device device) noexcept override { inner_.deallocate(data, bytes, device); }

 private:
  Allocator& inner_;
  int left_ = -1;
};

struct Batch {
  Tensor inputs, targets;
  explicit Batch(int64_t n) : inputs((arange(6 * n) * 0.1).sin().view({n, 6})), targets(zeros({n}, kInt64)) {
    for (int64_t i = 0; i < n; ++i) targets[i].copy_(full({}, i % 3, kInt64));
  }
};

class Training {
 public:
  explicit Training(bool compiled) {
    manual_seed(5);
    first_ = std::make_unique<nn::Linear>(6, 8);
    second_ = std::make_unique<nn::Linear>(8, 3);
    for (const nn::Module* m : {static_cast<nn::Module*>(first_.get()), static_cast<nn::Module*>(second_.get())}) {
      for (const Tensor& p : m->parameters()) parameters_.push_back(p);
    }
    optimizer_ = std::make_unique<optim::AdamW>(parameters_);
    auto eager = [this](const Batch& batch) {
      optimizer_->zero_grad();
      Tensor loss = nn::functional::cross_entropy((*second_)(gelu((*first_)(batch.inputs))), batch.targets);
      loss.backward();
      optimizer_->step();
      return loss;
    };
    step_ = eager;
    if (compiled) step_ = compile(eager);
  }
  double step(const Batch& batch) { return step_(batch).item(); }
  void drop_gradients() { optimizer_->zero_grad(); }
  std::vector<std::vector<double>> values() const {
    std::vector<std::vector<double>> out;
    for (const Tensor& p : parameters_) out.push_back(p.to_vector());
    return out;
  }

 private:
  std::unique_ptr<nn::Linear> first_, second_;
  std::vector<Tensor> parameters_;
  std::unique_ptr<optim::AdamW> optimizer_;
  std::function<Tensor(const Batch&)> step_;
};

int64_t allocated() { return cuda::memory_stats(0).allocated_bytes.all.current; }

// Fails the k-th allocation of a step, for every k; returns how many there were.
int fail_everywhere(bool compiled, bool is_first_step) {
  DefaultDeviceGuard on_cuda(kCuda);
  const Batch whole(16), half(8);
  auto warmed = [&] {
    auto training = std::make_unique<Training>(compiled);
    if (!is_first_step) training->step(half);
    return training;
  };
  auto failing = warmed(), twin = warmed();
  FailingMemory memory;
  for (int k = 0;; ++k) {
    REQUIRE(k < 1000);
    CAPTURE(k);
    if (is_first_step) failing = warmed(), twin = warmed();
    failing->drop_gradients();
    const int64_t before = allocated();
    const auto values = failing->values();
    bool failed = false;
    memory.fail_at(k);
    try {
      failing->step(whole);
    } catch (const cuda::OutOfMemoryError& e) {
      failed = true;
      CHECK(std::string(e.what()).find("out of memory") != std::string::npos);
    }
    memory.fail_at(-1);
    if (!failed) return k;
    CHECK(failing->values() == values);
    failing->drop_gradients();
    // Of a first step, moments may have been made. A compiled function's arena goes with the call that failed.
    if (!is_first_step && compiled) CHECK(allocated() <= before);
    if (!is_first_step && !compiled) CHECK(allocated() == before);
    CHECK(failing->step(half) == twin->step(half));
    CHECK(failing->values() == twin->values());
  }
}

bool has_device() {
  if (cuda::is_available()) return true;
  MESSAGE("skipped: ", std::string(cuda::why_not_available()));
  return false;
}

}  // namespace

TEST_CASE("gpu: memory that runs out at any allocation of a training step changes nothing") {
  if (!has_device()) return;
  for (bool compiled : {false, true}) {
    for (bool is_first_step : {false, true}) {
      CAPTURE(compiled);
      CAPTURE(is_first_step);
      const int allocations = fail_everywhere(compiled, is_first_step);
      INFO("allocations: ", allocations);
      CHECK(allocations >= (compiled ? 4 : 12));
    }
  }
}
