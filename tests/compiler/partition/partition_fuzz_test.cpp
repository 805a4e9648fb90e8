// Random programs with views, draws, cells that advance and inputs that are overwritten: whatever is saved, recomputed
// or computed twice, the parts give the bits of the whole.
#include <doctest/doctest.h>

#include <random>

#include "compiler/decompose/decompose.h"
#include "compiler/partition/joint_analysis.h"
#include "tests/compiler/partition/run_partition.h"

using namespace fuselet;

namespace {

constexpr int64_t kRows = 5, kColumns = 6;

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {
    manual_seed(seed);
    for (int i = 0; i < 2; ++i) arguments.push_back(randn({kRows, kColumns}).requires_grad_(i == 0 || below(2)));
    square_ = randn({kColumns, kColumns}).requires_grad_(true);
    bias_ = randn({kColumns}).requires_grad_(true);
    state_ = randn({kRows, kColumns});
    steps_ = 3 + below(14);
    program_ = random_;
  }

  // The same program each time it is called.
  std::vector<Tensor> operator()(const std::vector<Tensor>& args) {
    random_ = program_;
    std::vector<Tensor> pool = args;
    pool.push_back(state_.clone());  // the tape refuses to keep what is written later
    for (int i = 0; i < steps_; ++i) pool.push_back(step(pool));
    std::vector<Tensor> outputs = {pool.back()};
    for (int i = below(3); i > 0; --i) outputs.push_back(any(pool));
    return outputs;
  }

  std::vector<Tensor> arguments;

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  const Tensor& any(const std::vector<Tensor>& pool) {
    // Late values more often than early ones.
    int n = static_cast<int>(pool.size());
    return pool[static_cast<size_t>(std::max(below(n), below(n)))];
  }

  Tensor step(const std::vector<Tensor>& pool) {
    const Tensor &a = any(pool), &b = any(pool);
    switch (below(16)) {
      case 0:
        return a + b;
      case 1:
        return a * b;
      case 2:
        return sin(a);
      case 3:
        return tanh(a) * cell_;
      case 4:
        return gelu(a);
      case 5:
        return matmul(a, square_) + bias_;
      case 6:
        return dropout(a, 0.4);
      case 7:
        return layer_norm(a, {kColumns}, bias_, bias_);
      case 8:
        return softmax(a, 1);
      case 9:
        return a - a.sum({1}, true) * 0.1;
      case 10:
        return cat({a.slice(0, 0, 2), b.slice(0, 2, kRows)}, 0);
      case 11:
        return matmul(a.transpose(0, 1).contiguous(), b).slice(0, 0, kRows) * 0.1;
      case 12:
        return a.select(0, below(kRows)).expand({kRows, kColumns}) * b;
      case 13:
        return rand({kRows, kColumns}) * a;
      case 14: {
        cell_->advance(0.25);
        return a * cell_;
      }
      default: {
        NoGradGuard no_grad;
        state_.mul_(0.5);
        state_.add_(a.detach());
        return state_ + 1;
      }
    }
  }

  std::mt19937 random_, program_;
  int steps_ = 0;
  Tensor square_, bias_, state_;
  CellPtr cell_ = make_intrusive<HostCell>(1.5, "scale");
};

// What no budget gets below: overwritten inputs, or values that come from them.
int64_t fewest_bytes_saved(const ir::Graph& g, size_t num_forward_outputs) {
  partition::Sides sides = partition::sides_of(g, num_forward_outputs);
  return partition::fewest_bytes(partition::joint_problem(g, sides, partition::Policy::Pressed).cut).bytes;
}

}  // namespace

TEST_CASE("random programs keep their bits over policies and budgets") {
  int with_draws = 0, with_writes = 0, with_scalars = 0, repeated = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomProgram program(seed);
    Recorded r(program.arguments, program);
    for (const ir::Graph& g : {r.joint.graph, cleaned(decompose(r.joint.graph))}) {
      std::vector<Tensor> expected = run_joint(r, g);
      size_t n = r.joint.num_forward_outputs;
      Partition all = partition_save_all(g, n), free = partition_min_cut(g, n);
      check_same(run_parts(r, all), expected);
      check_same(run_parts(r, free), expected);
      CHECK(free.saved_bytes <= all.saved_bytes);
      int64_t fewest = fewest_bytes_saved(g, n);
      if (fewest > 0)
        CHECK_THROWS_WITH_AS(partition_min_cut(g, n, fewest - 1),
                             doctest::Contains(concat("must save at least ", fewest, " bytes").c_str()), Error);
      int64_t peak = free.planned_peak, peak_of_fewest = partition_min_cut(g, n, fewest).planned_peak;
      for (int64_t step = 4; step >= 0; --step) {
        Partition p = partition_min_cut(g, n, fewest + (free.saved_bytes - fewest) * step / 5);
        ir::verify(p.forward);
        ir::verify(p.backward);
        check_same(run_parts(r, p), expected);
        CHECK(p.saved_bytes <= *p.budget);
        CHECK(p.planned_peak <= std::max(peak, peak_of_fewest));
        peak = std::min(peak, p.planned_peak);
        with_draws += p.backward.draws_of_whole;
        with_scalars += !p.scalars.empty();
        for (const RecomputedNode& node : p.recomputed) repeated += node.runs > 1;
      }
      with_writes += !g.writes.empty();
    }
  }
  CHECK(with_draws > 50);
  CHECK(with_writes > 50);
  CHECK(with_scalars > 50);
  CHECK(repeated > 0);
}
