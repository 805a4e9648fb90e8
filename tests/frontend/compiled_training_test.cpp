// The whole training steps of the examples, compiled, equal eager ones bit for bit: with kernels that have just been
// compiled, and again with kernels from the disk.
#include <doctest/doctest.h>
#include <fuselet/compile.h>
#include <stdlib.h>

#include <filesystem>

#include "backends/cpu/jit/kernel_library.h"
#include "tests/frontend/small_trainings.h"

namespace fuselet::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kSteps = 20;
constexpr uint64_t kSeed = 7;

// An empty folder as the cache of compiled kernels, removed on exit; memory starts empty.
class FreshCache {
 public:
  FreshCache() {
    std::string pattern = (fs::temp_directory_path() / "fuselet-training-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()));
    path_ = pattern;
    if (const char* old = std::getenv("FUSELET_CACHE_DIR")) before_ = old;
    setenv("FUSELET_CACHE_DIR", path_.c_str(), 1);
    cpu::jit::forget_built_kernels();
  }
  ~FreshCache() {
    before_.empty() ? unsetenv("FUSELET_CACHE_DIR") : setenv("FUSELET_CACHE_DIR", before_.c_str(), 1);
    fs::remove_all(path_);
    cpu::jit::forget_built_kernels();
  }
  FreshCache(const FreshCache&) = delete;

 private:
  std::string path_, before_;
};

struct Trained {
  std::vector<Tensor> results;  // loss and norm of each step
  nn::NamedTensors everything;
  State optimizer;
  GeneratorState generator;
};

template <class Step>
Trained train(const SmallTraining& t, const std::vector<Batch>& batches, const Step& step) {
  Trained out;
  for (size_t i = 0; i < batches.size(); ++i) {
    t.optimizer->set_lr(0.01 / static_cast<double>(1 + i / 4));  // a schedule between the steps
    for (const Tensor& r : step(batches[i])) out.results.push_back(r);
  }
  out.everything = t.everything();
  out.optimizer = t.optimizer->state_dict();
  out.generator = default_generator().state();
  return out;
}

void check_same(const Trained& want, const Trained& got) {
  REQUIRE(want.results.size() == got.results.size());
  for (size_t i = 0; i < want.results.size(); ++i) {
    CAPTURE(i);
    CHECK(same_bits(want.results[i], got.results[i]));
  }
  REQUIRE(want.everything.size() == got.everything.size());
  for (size_t i = 0; i < want.everything.size(); ++i) {
    CAPTURE(want.everything[i].first);
    CHECK(want.everything[i].first == got.everything[i].first);
    CHECK(same_bits(want.everything[i].second, got.everything[i].second));
  }
  CHECK(want.optimizer.values == got.optimizer.values);
  CHECK(want.generator == got.generator);
}

// `origin`: of the kernels; one that occurs several times in a program is taken from memory then.
Trained train_compiled(Example example, const std::vector<Batch>& batches, const std::string& origin) {
  SmallTraining t(example, kSeed);
  CompileSettings exact;
  exact.numerics = Numerics::Exact;
  auto step = compile([&](const Batch& b) { return t.step(b); }, exact);
  Trained got = train(t, batches, step);
  const Ledger ledger = step.ledger();
  CHECK(ledger.compiled == kSteps);
  CHECK(ledger.eager + ledger.segmented + ledger.graph_replayed == 0);
  REQUIRE(ledger.compilations.size() == 1);
  const report::CompileReport report = step.report();
  size_t fresh = 0;
  for (const report::KernelReport& k : report.kernels) {
    CAPTURE(k.name);
    CHECK((k.origin == origin || k.origin == "memory cache"));
    CHECK(k.remark == "");
    fresh += k.origin == origin;
  }
  CHECK(fresh > 0);
  MESSAGE(name_of(example), ": ", report.kernels.size(), " kernels, ", fresh, " of them ", origin, ", ",
          report.calls.size(), " calls, ", static_cast<int>(ledger.compilations[0].milliseconds), " ms");
  return got;
}

}  // namespace

TEST_CASE("20 compiled steps of the examples' trainings equal eager ones bit for bit, cold and from the disk cache") {
  for (Example example : kExamples) {
    CAPTURE(name_of(example));
    const std::vector<Batch> batches = batches_of(example, kSteps);
    SmallTraining t(example, kSeed);
    const Trained eager = train(t, batches, [&](const Batch& b) { return t.step(b); });
    CHECK(eager.results[2 * kSteps - 2].item() < eager.results[0].item());
    FreshCache cache;
    check_same(eager, train_compiled(example, batches, "compiled"));
    cpu::jit::forget_built_kernels();
    check_same(eager, train_compiled(example, batches, "disk cache"));
  }
}

}  // namespace fuselet::testing
