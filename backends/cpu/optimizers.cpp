// sgd_step, adam_step, clip_grad_norm: one pass over lists of tensors.
//
// An element's update reads its own places only, so lists are cut into tiles that threads take as they come. 16-bit
// parameters and states are read into float, updated, and rounded once.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/convert_blocks.h"
#include "backends/cpu/dense.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/reduce.h"
#include "backends/cpu/rows.h"
#include "core/formulas/optimizer.h"

namespace fuselet::cpu {
namespace {

// Elements: long enough to amortise a tile's bookkeeping, short enough to spread a list of middling tensors.
constexpr int64_t kTile = 1 << 16;
constexpr int64_t kStepBlock = 1024;

// One operand of an update: read from one tensor, written to another or to itself, or only read.
struct Stream {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  int64_t from_size = 0, to_size = 0;
  DType from_type = DType::Float32, to_type = DType::Float32;
};

// What updates a parameter: streams[0] is the parameter, [1] the gradient, then the states.
constexpr int kMaxStreams = 4;
struct Parameter {
  int64_t n;
  DType dtype;
  Stream streams[kMaxStreams];
  // Dense stand-ins for tensors that are not dense, and where they go back to.
  std::vector<std::pair<Tensor, Tensor>> write_back;
};

void read_from(Stream& s, const Tensor& t, std::vector<Tensor>& kept) {
  Tensor dense = t.is_contiguous() ? t : copy_of(t);
  kept.push_back(dense);
  s.from = static_cast<const std::byte*>(dense.impl()->data());
  s.from_type = t.dtype();
  s.from_size = static_cast<int64_t>(size_of(t.dtype()));
}

void write_to(Stream& s, Parameter& p, const Tensor& t) {
  Tensor dense = t;
  if (!t.is_contiguous()) {
    dense = make_tensor(t.sizes(), t.dtype());
    p.write_back.emplace_back(t, dense);
  }
  s.to = static_cast<std::byte*>(dense.impl()->data());
  s.to_type = t.dtype();
  s.to_size = static_cast<int64_t>(size_of(t.dtype()));
}

// update(x[0 … streams)) changes vectors in place.
template <class T, class Update>
void run_tile(const Parameter& p, int streams, int64_t begin, int64_t end, const Update& update) {
  using V = typename LanesOf<T>::Type;
  constexpr int64_t kLanes = formula::kLanes<V>;
  alignas(64) T blocks[kMaxStreams][kStepBlock];
  const DType own = storage_of(kComputeType<T>);
  for (int64_t at = begin; at < end; at += kStepBlock) {
    const int64_t n = std::min(kStepBlock, end - at);
    const T* from[kMaxStreams];
    T* to[kMaxStreams];
    for (int k = 0; k < streams; ++k) {
      const Stream& s = p.streams[k];
      from[k] = reinterpret_cast<const T*>(s.from + at * s.from_size);
      if (s.from_type != own) {
        load_block(s.from_type, kComputeType<T>)(from[k], 1, blocks[k], n);
        from[k] = blocks[k];
      }
      to[k] = s.to && s.to_type == own ? reinterpret_cast<T*>(s.to + at * s.to_size) : blocks[k];
    }
    for (int64_t i = 0; i < n; i += kLanes) {
      const size_t bytes = static_cast<size_t>(std::min(kLanes, n - i)) * sizeof(T);
      V x[kMaxStreams];
      for (int k = 0; k < streams; ++k) {
        x[k] = V{};
        std::memcpy(&x[k], from[k] + i, bytes);
      }
      update(x);
      for (int k = 0; k < streams; ++k) {
        if (p.streams[k].to) std::memcpy(to[k] + i, &x[k], bytes);
      }
    }
    for (int k = 0; k < streams; ++k) {
      const Stream& s = p.streams[k];
      if (s.to && s.to_type != own) store_block(kComputeType<T>, s.to_type)(blocks[k], s.to + at * s.to_size, 1, n);
    }
  }
}

// Streams of the i-th parameter are the i-th tensors of the lists `args`; outs follow the mutated lists' order.
template <class MakeUpdate>
void run_step(const Call& call, std::initializer_list<int> args, const MakeUpdate& make_update) {
  const size_t count = call.tensors(0).size();
  std::vector<Parameter> parameters(count);
  std::vector<Tensor> kept;
  int streams = 0;
  size_t lists_written = 0;
  for (int arg : args) {
    const bool mutated = call.op->args[static_cast<size_t>(arg)].mutated;
    for (size_t i = 0; i < count; ++i) {
      const Tensor& t = call.tensors(arg)[i];
      Parameter& p = parameters[i];
      p.n = t.numel();
      if (streams == 0) p.dtype = t.dtype();
      read_from(p.streams[streams], t, kept);
      if (mutated) write_to(p.streams[streams], p, call.outs[lists_written * count + i]);
    }
    lists_written += mutated;
    ++streams;
  }

  std::vector<std::pair<size_t, int64_t>> tiles;
  for (size_t i = 0; i < count; ++i) {
    for (int64_t at = 0; at < parameters[i].n; at += kTile) tiles.emplace_back(i, at);
  }
  auto run = [&](int64_t tile) {
    const auto [i, at] = tiles[static_cast<size_t>(tile)];
    const Parameter& p = parameters[i];
    with_float_type(p.dtype, [&, at = at](auto zero) {
      using T = decltype(zero);
      run_tile<T>(p, streams, at, std::min(p.n, at + kTile), make_update(zero));
    });
  };
  int64_t elements = 0;
  for (const Parameter& p : parameters) elements += p.n;
  if (elements <= kTile) {
    for (size_t k = 0; k < tiles.size(); ++k) run(static_cast<int64_t>(k));
  } else {
    parallel_tiles(static_cast<int64_t>(tiles.size()), run);
  }
  for (const Parameter& p : parameters) {
    for (const auto& [target, dense] : p.write_back) copy_into(target, dense);
  }
}

}  // namespace

void sgd_step(const Call& call) {
  const double lr = call.scalar(3).to_double(), momentum = call.number(5), decay = call.number(7);
  const bool first = call.scalar(4).to_double() <= 1, nesterov = call.flag(8), maximize = call.flag(9);
  const bool has_momentum = momentum != 0;
  FUSELET_CHECK(!has_momentum || call.tensors(2).size() == call.tensors(0).size(),
                "sgd_step: momentum needs a buffer for each parameter");
  auto make_update = [&](auto zero) {
    using T = decltype(zero);
    using V = typename LanesOf<T>::Type;
    const formula::SgdNumbers<T> numbers{static_cast<T>(lr),
                                         static_cast<T>(momentum),
                                         static_cast<T>(1 - call.number(6)),
                                         static_cast<T>(decay),
                                         first,
                                         has_momentum,
                                         decay != 0,
                                         nesterov,
                                         maximize};
    return [numbers](V* x) { formula::sgd_update(numbers, x[0], x[1], x[2]); };
  };
  if (call.tensors(2).empty()) {
    run_step(call, {0, 1}, make_update);
  } else {
    run_step(call, {0, 1, 2}, make_update);
  }
}

void adam_step(const Call& call) {
  const double lr = call.scalar(4).to_double(), step = call.scalar(5).to_double();
  const double beta1 = call.scalar(6).to_double(), beta2 = call.scalar(7).to_double();
  const double eps = call.number(8), decay = call.number(9);
  const bool decoupled = call.flag(10), maximize = call.flag(11);
  run_step(call, {0, 1, 2, 3}, [&](auto zero) {
    using T = decltype(zero);
    using V = typename LanesOf<T>::Type;
    formula::AdamNumbers<T> numbers;
    numbers.beta1 = static_cast<T>(beta1);
    numbers.one_minus_beta1 = static_cast<T>(1 - beta1);
    numbers.beta2 = static_cast<T>(beta2);
    numbers.one_minus_beta2 = static_cast<T>(1 - beta2);
    numbers.eps = static_cast<T>(eps);
    numbers.step_size = static_cast<T>(lr / (1 - std::pow(beta1, step)));
    numbers.root_scale = static_cast<T>(1 / std::sqrt(1 - std::pow(beta2, step)));
    numbers.decay = static_cast<T>(decoupled ? 1 - lr * decay : decay);
    numbers.has_decay = decay != 0;
    numbers.decoupled = decoupled;
    numbers.maximize = maximize;
    return [numbers](V* x) { formula::adam_update(numbers, x[0], x[1], x[2], x[3]); };
  });
}

namespace {

// |x|^p of loaded elements, for p = 1 or 2.
struct PowerPolicy : SumPolicy<double> {
  static constexpr bool kPrepares = true;
  double power;
  void prepare(double* block, int64_t n, int64_t, int64_t) const {
    for (int64_t i = 0; i < n; ++i) block[i] = power == 2 ? block[i] * block[i] : formula::abs(block[i]);
  }
};
struct LargestPolicy {
  static constexpr bool kPrepares = true;
  double identity = 0;
  Larger combine;
  void prepare(double* block, int64_t n, int64_t, int64_t) const {
    for (int64_t i = 0; i < n; ++i) block[i] = formula::abs(block[i]);
  }
};

// Sum of |x|^p, or with p = inf the largest |x|; in double, so that squares of float neither overflow nor lose digits.
double power_sum(const Tensor& t, double norm_type) {
  const Reduction r(*t.impl(), reduced_dims({}, t.dim(), "clip_grad_norm_"), ComputeType::f64);
  double result;
  if (norm_type > 2) {
    const LargestPolicy policy;
    Reducer<double, LargestPolicy>(r, policy).run(&result);
  } else {
    PowerPolicy policy;
    policy.power = norm_type;
    Reducer<double, PowerPolicy>(r, policy).run(&result);
  }
  return result;
}

}  // namespace

void clip_grad_norm(const Call& call) {
  std::span<const Tensor> grads = call.tensors(0);
  const double max_norm = call.number(1), norm_type = call.number(2);
  double norm = 0;
  for (const Tensor& g : grads) {
    const double part = power_sum(g, norm_type);
    norm = norm_type > 2 ? formula::maximum(norm, part) : norm + part;
  }
  if (norm_type == 2) norm = std::sqrt(norm);
  const double ratio = max_norm / (norm + 1e-6), scale = ratio >= 1 ? 1.0 : ratio;  // NaN goes on
  for (size_t i = 0; i < grads.size() && !(call.in_place && scale == 1); ++i) {
    Scalar factor(scale);
    Arg args[] = {Arg(grads[i]), Arg(factor)};
    Tensor target = call.outs[i];
    pointwise(Call{&op_of(OpId::mul), args, 2, &target, 1, true});
  }
  const float total = static_cast<float>(norm);
  std::memcpy(call.outs[grads.size()].impl()->data(), &total, sizeof total);
}

}  // namespace fuselet::cpu
