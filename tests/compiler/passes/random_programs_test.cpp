// Random programs of pointwise operators, views, reductions and writes through views: recorded, decomposed and cleaned,
// they compute the bits, shapes and strides of the recording.
#include <doctest/doctest.h>

#include <cstring>

#include "compiler/decompose/decompose.h"
#include "compiler/ir/legality.h"
#include "compiler/passes/run_passes.h"
#include "compiler/replay/interpret.h"
#include "compiler/trace/record.h"
#include "core/ops/functions.h"
#include "tests/sample_tensors.h"

using namespace fuselet;

namespace {

constexpr int kPrograms = 600;

class Program {
 public:
  explicit Program(uint64_t seed) : numbers_(seed) {}

  // The same steps for the same seed, whatever the tensors hold.
  std::vector<Tensor> run(const std::vector<Tensor>& args) {
    pool_ = args;
    for (int step = 0; step < 14; ++step) {
      Tensor made = next(pick());
      if (made.dim() <= 4 && made.numel() <= 400) pool_.push_back(made);
    }
    std::vector<Tensor> results;
    for (size_t i = pool_.size() > 4 ? pool_.size() - 4 : 0; i < pool_.size(); ++i) results.push_back(pool_[i]);
    return results;
  }

 private:
  int64_t choose(int64_t count) { return numbers_.whole(0, count - 1); }
  const Tensor& pick() { return pool_[static_cast<size_t>(choose(static_cast<int64_t>(pool_.size())))]; }
  int64_t dim_of(const Tensor& t) { return choose(t.dim()); }

  Tensor next(const Tensor& x) {
    switch (choose(4)) {
      case 0:
        return unary(x);
      case 1:
        return binary(x);
      case 2:
        return x.dim() > 0 ? view(x) : x.unsqueeze(0);
      default:
        return x.dim() > 0 ? other(x) : x + 1;
    }
  }
  Tensor unary(const Tensor& x) {
    switch (choose(10)) {
      case 0:
        return -x;
      case 1:
        return x.relu();
      case 2:
        return x * 1;
      case 3:
        return x - 0.0;
      case 4:
        return x.abs();
      case 5:
        return x.cast(DType::BFloat16) * 3;
      case 6:
        return x.cast(DType::Float32).cast(DType::Float64).cast(DType::Float32);
      case 7:
        return x / 4;
      case 8:
        return x * full({}, 0.1, DType::Float32);
      default:
        return where(x > 0, x, x * 0.5);
    }
  }
  Tensor binary(const Tensor& x) {
    Tensor y = pick();
    if (!same_sizes(x.sizes(), y.sizes())) y = y.cast(DType::Float32).sum();
    switch (choose(4)) {
      case 0:
        return x + y;
      case 1:
        return x * -y;
      case 2:
        return x - (-y);
      default:
        return maximum(x, y);
    }
  }
  Tensor view(const Tensor& x) {
    int64_t d = dim_of(x), n = x.sizes()[static_cast<size_t>(d)].concrete();
    switch (choose(7)) {
      case 0:
        return x.transpose(0, d);
      case 1:
        return x.slice(d, 0, (n + 1) / 2);
      case 2:
        return x.slice(d, 0, n, 2);
      case 3:
        return n > 0 ? x.select(d, -1) : x;
      case 4:
        return x.reshape({-1});
      case 5:
        return x.unsqueeze(d).transpose(0, d);
      default: {
        Dims sizes(x.sizes());
        sizes.insert(0, 2);
        return x.expand(sizes);
      }
    }
  }
  Tensor other(const Tensor& x) {
    int64_t d = dim_of(x);
    switch (choose(6)) {
      case 0:
        return x.sum(d, choose(2) == 1);
      case 1:
        return softmax(x, d);
      case 2:
        return dropout(x, 0.3);
      case 3: {
        Tensor written = x.clone();
        view(written).mul_(2.0);
        return written;
      }
      case 4: {
        Tensor written = x + 1, seen = view(written);
        Tensor before = seen * 2;
        if (choose(2) == 1) written.slice(d, 0, 1).add_(3);
        return same_sizes(before.sizes(), seen.sizes()) ? before + seen : seen;
      }
      default:
        return cat({x, x}, d);
    }
  }

  testing::SampleNumbers numbers_;
  std::vector<Tensor> pool_;
};

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !same_sizes(a.sizes(), b.sizes())) return false;
  Tensor x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.numel()) * size_of(x.dtype())) == 0;
}

// The stride of a dimension of one element is nobody's.
bool same_layout(const Tensor& a, const Tensor& b) {
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] != 1 && a.strides()[d] != b.strides()[d] && a.numel() > 0) return false;
  }
  return true;
}

std::string check_program(uint64_t seed) {
  testing::SampleNumbers numbers(seed + 1000);
  std::vector<Tensor> args = {
      testing::sample_tensor({4, 6}, DType::Float32, numbers),
      testing::sample_tensor({3, 4, 2}, DType::Float32, numbers, {}, testing::Layout::Permuted)};
  RecordedFunction recorded;
  try {
    recorded = record([&](const std::vector<Tensor>& in) { return Program(seed).run(in); }, args);
  } catch (const Error&) {
    return "skipped";  // a write through an expanded view, or a reduction of nothing
  }
  const ir::Graph& g = recorded.graph();
  ir::Graph prims = decompose(g);
  ir::verify(prims, ir::Stage::Decompose);
  ir::Graph clean = prims;
  run_passes(clean, [](std::string_view, const ir::Graph& after, bool) { ir::verify(after, ir::Stage::Decompose); });
  ir::verify(clean, ir::Stage::Passes);
  NoGradGuard no_grad;
  std::vector<Tensor> inputs = recorded.lifted();
  std::copy(args.begin(), args.end(), inputs.begin());
  GeneratorState base{seed, 5};
  std::vector<Tensor> want = replay::interpret(g, inputs, recorded.cells(), base, g.outputs);
  for (const ir::Graph* other : {&prims, &clean}) {
    std::vector<Tensor> got = replay::interpret(*other, inputs, recorded.cells(), base, other->outputs);
    for (size_t i = 0; i < want.size(); ++i) {
      if (!same_bits(want[i], got[i]) || !same_layout(want[i], got[i]))
        return concat("result ", i, " differs\n", ir::print(g), ir::print(*other));
    }
  }
  return "";
}

}  // namespace

TEST_CASE("random programs keep their bits through decompose and passes") {
  int skipped = 0, failed = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    std::string wrong;
    try {
      wrong = check_program(seed);
    } catch (const std::exception& e) {
      wrong = concat("throws: ", e.what());
    }
    skipped += wrong == "skipped";
    if (wrong.empty() || wrong == "skipped") continue;
    if (++failed <= 2) FAIL_CHECK("program ", seed, ": ", wrong);
  }
  CHECK(failed == 0);
  CHECK(skipped < kPrograms / 4);
  MESSAGE(skipped, " of ", kPrograms, " programs end in an error of their own");
}
