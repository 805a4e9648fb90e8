// Random kernels of every structure: generated code has the bits of the interpreter, on one thread and on two.
#include <doctest/doctest.h>

#include <random>

#include "backends/cpu/interpret_kernel.h"
#include "backends/threads.h"
#include "tests/backends/cpu/tensors.h"
#include "tests/kernel_builder.h"

namespace fuselet::test {
namespace {

using kernel::Combine;
using kernel::Structure;

struct FormulaChoice {
  const char* op;
  int arity;
  bool floats_only, gives_bool;
};
constexpr FormulaChoice kFormulas[] = {
    {"add", 2, false, false},        {"sub", 2, false, false},     {"mul", 2, false, false},
    {"neg", 1, false, false},        {"maximum", 2, false, false}, {"exp", 1, true, false},
    {"tanh", 1, true, false},        {"gelu_erf", 1, true, false}, {"sigmoid", 1, true, false},
    {"where", 3, false, false},      {"lt", 2, false, true},       {"eq", 2, false, true},
    {"logical_not", 1, false, true}, {"relu", 1, false, false},    {"square", 1, false, false},
    {"sin", 1, true, false},
};
constexpr DType kDTypes[] = {kFloat32, kFloat32, kFloat32, kFloat64, kFloat16, kBFloat16,
                             kInt64,   kInt32,   kInt8,    kUInt8,   kBool};
constexpr int64_t kEdges[] = {1, 2, 3, 7, 15, 16, 17, 33, 64, 65, 511, 512, 513, 1027};

class KernelMaker {
 public:
  KernelMaker(uint32_t seed, bool floats) : random_(seed), floats_(floats) {}

  void add_nest(Structure structure) {
    std::vector<int64_t> dims;
    const int rank = structure == Structure::Columns ? 2 + pick(2) : 1 + pick(3);
    int64_t total = 1;
    for (int d = rank; d-- > 0;) {
      const bool long_one = d == rank - 1 || (d == rank - 2 && structure != Structure::Rows && total < 200);
      const int64_t n = long_one ? kEdges[pick(std::size(kEdges))] : kEdges[pick(5)];
      dims.insert(dims.begin(), n);
      total *= n;
    }
    if (pick(12) == 0) dims[static_cast<size_t>(pick(rank))] = 0;
    NestBuilder b(structure, dims);
    pool_.clear();
    for (int k = 0; k < 3; ++k) pool_.push_back(load(b, kDTypes[pick(floats_ ? 3 : std::size(kDTypes))]));
    pool_.push_back(b.constant(0.5));
    pool_.push_back(b.scalar(0));
    if (!floats_ && pick(2)) pool_.push_back(b.position(dense(dims, ~0u)));
    if (pick(3) == 0) pool_.push_back(random_values(b));
    if (!floats_ && pick(3) == 0) pool_.push_back(gathered(b));
    for (int k = 0; k < 4; ++k) pool_.push_back(formula(b));
    if (structure != Structure::Pointwise) {
      for (int round = 0; round < 2; ++round) {
        std::vector<int> args;
        for (int k = 0; k <= pick(2); ++k) args.push_back(any());
        for (int arg : args) pool_.push_back(b.reduce(static_cast<Combine>(pick(3)), arg));
        // Split rows have one pass.
        if (structure == Structure::SplitRows) break;
        for (int k = 0; k < 3; ++k) pool_.push_back(formula(b));
      }
    }
    const std::vector<int> in_rows = pool_;
    if (structure == Structure::RowsAndColumns) {
      const int sum = b.column_sum(Combine::Sum, any()), most = b.column_sum(Combine::Max, any());
      pool_ = {b.convert(sum, kFloat32), b.convert(most, kFloat32)};
      pool_.push_back(b.formula("add", {pool_[0], pool_[1]}));
      const uint32_t last = 1u << (dims.size() - 1);
      store(b, pool_[2], last);
      if (!b.nest.body[static_cast<size_t>(most)].args.empty()) store(b, most, last);
    }
    const uint32_t all = (1u << dims.size()) - 1;
    for (int k = 0; k < 3; ++k) {
      const int value = in_rows[in_rows.size() - 1 - static_cast<size_t>(pick(5))];
      uint32_t over = all;
      if (depends_on_reduce(b, value) && structure != Structure::Pointwise) {
        const uint32_t axis = 1u << (dims.size() - (structure == Structure::Columns ? 2 : 1));
        if (!(b.nest.body[static_cast<size_t>(value)].varies & axis)) over &= ~axis;
        if (structure == Structure::SplitRows && (over & axis)) continue;
      }
      store(b, value, over);
    }
    nests_.push_back(b.nest);
  }

  kernel::Kernel kernel(const char* name) { return make_kernel(name, buffers_, nests_, 1, 1); }
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> copies;
    for (const Tensor& t : tensors_) copies.push_back(cpu::copy_of(t));
    return copies;
  }

 private:
  int pick(size_t n) { return static_cast<int>(random_() % n); }
  int pick(int n) { return pick(static_cast<size_t>(n)); }
  int any() { return pool_[static_cast<size_t>(pick(pool_.size()))]; }

  static NestBuilder::Strides dense(const std::vector<int64_t>& dims, uint32_t over) {
    NestBuilder::Strides strides(dims.size());
    int64_t step = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      if (!(over >> d & 1)) continue;
      strides[d] = step;
      step *= std::max<int64_t>(dims[d], 1);
    }
    return strides;
  }
  static int64_t reach(const std::vector<int64_t>& dims, const NestBuilder::Strides& strides) {
    int64_t n = 1;
    for (size_t d = 0; d < dims.size(); ++d) n += std::max<int64_t>(dims[d] - 1, 0) * strides[d];
    return n;
  }
  int add_buffer(DType dtype, int64_t elements, bool written) {
    const int64_t seed = static_cast<int64_t>(random_() % 1000);
    tensors_.push_back(varied({elements}, dtype, seed));
    buffers_.push_back({dtype, elements, written});
    return static_cast<int>(buffers_.size()) - 1;
  }
  int load(NestBuilder& b, DType dtype) {
    const std::vector<int64_t>& dims = b.nest.dims;
    NestBuilder::Strides strides = dense(dims, pick(3) ? ~0u : static_cast<uint32_t>(pick(8)));
    if (dims.size() > 1 && pick(4) == 0) {  // along another dim
      strides = dense({dims.rbegin(), dims.rend()}, ~0u);
      std::reverse(strides.begin(), strides.end());
    } else if (pick(4) == 0) {
      for (int64_t& s : strides) s *= 2;
    }
    const int64_t offset = pick(3);
    return b.load(add_buffer(dtype, reach(dims, strides) + offset, false), dtype, strides, offset);
  }
  int random_values(NestBuilder& b) {
    const auto kind = static_cast<kernel::Distribution>(pick(3));
    const DType dtype = kind == kernel::Distribution::Bernoulli ? kBool : floats_ ? kFloat32 : kDTypes[pick(6)];
    NestBuilder::Strides strides = dense(b.nest.dims, pick(3) ? ~0u : static_cast<uint32_t>(pick(8)));
    if (pick(4) == 0) strides.back() *= 3;
    return b.random(0, kind, dtype, strides, 20000);
  }
  // 16-element rows, by an index of 5 values.
  int gathered(NestBuilder& b) {
    NestBuilder::Strides strides = dense(b.nest.dims, ~0u);
    const int at = b.position(strides), five = b.constant(5, kInt64);
    const int index = b.convert(b.formula("lt", {at, five}, kBool, kInt64), kInt64);
    return b.load_at(add_buffer(kFloat32, 64, false), kFloat32, NestBuilder::Strides(b.nest.dims.size()),
                     {{index, 7, 3}});
  }
  int formula(NestBuilder& b) {
    const FormulaChoice& f = kFormulas[pick(std::size(kFormulas))];
    std::vector<int> args;
    bool all_floats = true, doubles = false;
    for (int k = 0; k < f.arity; ++k) {
      args.push_back(any());
      const DType t = b.nest.body[static_cast<size_t>(args.back())].dtype;
      all_floats = all_floats && is_float(t);
      doubles = doubles || t == kFloat64;
    }
    const DType compute = doubles ? kFloat64 : f.floats_only || all_floats ? kFloat32 : pick(2) ? kInt64 : kFloat32;
    return b.formula(f.op, args, f.gives_bool ? kBool : compute, compute);
  }
  static bool depends_on_reduce(const NestBuilder& b, int value) {
    const kernel::Statement& s = b.nest.body[static_cast<size_t>(value)];
    if (s.kind == kernel::Kind::Reduce) return true;
    for (int32_t a : s.args) {
      if (depends_on_reduce(b, a)) return true;
    }
    return false;
  }
  void store(NestBuilder& b, int value, uint32_t over) {
    const NestBuilder::Strides strides = dense(b.nest.dims, over);
    const DType dtype = b.nest.body[static_cast<size_t>(value)].dtype;
    b.store(add_buffer(dtype, reach(b.nest.dims, strides), true), value, strides);
  }

  std::mt19937 random_;
  bool floats_;
  std::vector<int> pool_;
  std::vector<Tensor> tensors_;
  std::vector<kernel::Buffer> buffers_;
  std::vector<kernel::Nest> nests_;
};

bool same_or_nan(const Tensor& a, const Tensor& b) {
  if (same_bits(a, b)) return true;
  if (!is_float(a.dtype())) return false;
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::memcmp(&x[i], &y[i], sizeof(double)) != 0 && !(std::isnan(x[i]) && std::isnan(y[i]))) {
      MESSAGE("element ", i, ": ", x[i], " and ", y[i]);
      return false;
    }
  }
  return true;
}

void run_random_kernels(Structure structure) {
  std::vector<kernel::Kernel> kernels;
  std::vector<KernelMaker> makers;
  for (uint32_t k = 0; k < 4; ++k) {
    KernelMaker maker(1000 * static_cast<uint32_t>(structure) + k, k % 2 == 0);
    for (int n = 0; n < 4; ++n) maker.add_nest(structure);
    makers.push_back(maker);
    kernels.push_back(maker.kernel("random_kernel"));
    kernel::verify(kernels.back());
  }
  const auto compiled = target_of(DeviceType::CPU).compile(kernels);
  for (size_t k = 0; k < kernels.size(); ++k) {
    CAPTURE(k);
    CHECK(compiled[k]->remark == "");
    KernelRun want{makers[k].tensors(), {0.75}, {{7, 3}}}, one = want, two = want;
    one.buffers = makers[k].tensors();
    two.buffers = makers[k].tensors();
    std::vector<void*> pointers;
    for (const Tensor& t : want.buffers) pointers.push_back(t.impl()->data());
    const int expected = cpu::interpret(kernels[k], {pointers.data(), want.scalars.data(), want.draws.data()});
    const int threads = get_num_threads();
    set_num_threads(1);
    CHECK(launch(*compiled[k], kernels[k], one) == expected);
    set_num_threads(2);
    CHECK(launch(*compiled[k], kernels[k], two) == expected);
    set_num_threads(threads);
    for (size_t i = 0; i < want.buffers.size(); ++i) {
      if (!kernels[k].buffers[i].written) continue;
      CAPTURE(i);
      CHECK(same_or_nan(want.buffers[i], one.buffers[i]));
      CHECK(same_bits(one.buffers[i], two.buffers[i]));
    }
  }
}

}  // namespace

TEST_CASE("random pointwise kernels have the interpreter's bits") { run_random_kernels(Structure::Pointwise); }
TEST_CASE("random row kernels have the interpreter's bits") { run_random_kernels(Structure::Rows); }
TEST_CASE("random split row kernels have the interpreter's bits") { run_random_kernels(Structure::SplitRows); }
TEST_CASE("random column kernels have the interpreter's bits") { run_random_kernels(Structure::Columns); }
TEST_CASE("random kernels of rows and columns have the interpreter's bits") {
  run_random_kernels(Structure::RowsAndColumns);
}

}  // namespace fuselet::test
