#include "backends/cpu/interpret_kernel.h"

#include <cstring>
#include <limits>

#include "backends/cpu/compute_type.h"
#include "backends/cpu/pointwise_loop.h"
#include "core/convert.h"
#include "core/element.h"
#include "core/random_integers.h"
#include "core/random_values.h"
#include "core/reduction_tree.h"

namespace fuselet::cpu {
namespace {

using kernel::Combine;
using kernel::Statement;
using kernel::Value;

template <class T>
Value held(T x) {
  if constexpr (kIsHalf<T>)
    return {static_cast<double>(to_float(x)), 0};
  else if constexpr (std::is_floating_point_v<T>)
    return {static_cast<double>(x), 0};
  else
    return {0, static_cast<int64_t>(x)};
}

// f(the value as its C++ type): float for float32 and 16-bit floats, double, int64_t for integers and bool.
template <class F>
auto with_number(DType t, Value v, F&& f) {
  if (t == DType::Float64) return f(v.number);
  if (is_float(t)) return f(static_cast<float>(v.number));
  return f(v.integer);
}

template <class T>
T take(Value v) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(v.number);
  else
    return static_cast<T>(v.integer);
}

template <class T>
T identity_of(Combine combine) {
  using Limits = std::numeric_limits<T>;
  if (combine == Combine::Sum) return 0;
  if constexpr (std::is_floating_point_v<T>)
    return combine == Combine::Max ? -Limits::infinity() : Limits::infinity();
  else
    return combine == Combine::Max ? Limits::min() : Limits::max();
}

// The kernels' arithmetic: float, double and int64.
struct NativeArithmetic {
  Value convert(Value v, DType from, DType to) const {
    return with_number(from, v, [to](auto x) {
      return visit_dtype(to, [x](auto zero) { return held(fuselet::convert<decltype(zero)>(x)); });
    });
  }
  Value constant(const Statement& s) const {
    return is_float(s.dtype) ? convert({s.number, 0}, DType::Float64, s.dtype) : Value{0, s.integer};
  }
  Value scalar(double x, DType dtype) const { return convert({x, 0}, DType::Float64, dtype); }
  Value load(DType t, const void* data, int64_t element) const {
    return is_float(t) ? Value{load_element(t, data, element), 0} : Value{0, load_element_int(t, data, element)};
  }
  void store(DType t, void* data, int64_t element, Value v) const {
    with_number(t, v, [=](auto x) {
      visit_dtype(t, [=](auto zero) {
        static_cast<decltype(zero)*>(data)[element] = fuselet::convert<decltype(zero)>(x);
        return 0;
      });
      return 0;
    });
  }
  Value formula(const Statement& s, const Value* args) const {
    return with_compute_type(s.compute, [&](auto zero) {
      using T = decltype(zero);
      T numbers[8], result;
      const void* in[8];
      for (size_t k = 0; k < s.args.size(); ++k) {
        numbers[k] = take<T>(args[k]);
        in[k] = &numbers[k];
      }
      loops_of(op_of(s.op)).by_type[static_cast<int>(kComputeType<T>)](&result, in, 1);
      return held(result);
    });
  }
  Value random(const Statement& s, GeneratorState draw, uint64_t element) const {
    const unsigned word = philox::random_word(draw.seed, draw.draws, element);
    switch (s.distribution) {
      case kernel::Distribution::Bernoulli:
        return {0, philox::random_halfword(draw.seed, draw.draws, element) < s.threshold};
      case kernel::Distribution::Uniform:
        if (s.dtype == DType::Float64) return {philox::uniform_double(word), 0};
        return held(philox::uniform_float<float>(word & (s.dtype == DType::Float16    ? philox::kUniformMaskFloat16
                                                         : s.dtype == DType::BFloat16 ? philox::kUniformMaskBFloat16
                                                                                      : ~0u)));
      case kernel::Distribution::Normal:
        break;
    }
    if (s.dtype != DType::Float64)
      return convert(held(philox::normal_float(draw.seed, draw.draws, element)), DType::Float32, s.dtype);
    const philox::Words<unsigned> block = philox::random_block(draw.seed, draw.draws, element / 4);
    const uint64_t pair = element % 4 & 2;
    const auto both = philox::normal_pair_double(block.word[pair], block.word[pair + 1]);
    return held(element % 2 == 0 ? both.even : both.odd);
  }
  Value reduce(const Statement& s, DType accumulator, const std::vector<Value>& terms) const {
    return with_compute_type(accumulator, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> x;
      for (const Value& v : terms) x.push_back(take<T>(v));
      const T identity = identity_of<T>(s.combine);
      auto combine = [&s]<class V>(V a, V b) {
        return s.combine == Combine::Sum   ? formula::add(a, b)
               : s.combine == Combine::Max ? formula::maximum(a, b)
                                           : formula::minimum(a, b);
      };
      const auto n = static_cast<long long>(x.size());
      if (s.tree == kernel::Tree::Column) {
        return held(reduce_column(
            n, identity, [&](long long i) { return x[static_cast<size_t>(i)]; }, combine));
      }
      return held(reduce_row(
          n, identity,
          [&]<class V>(long long i) {
            V v;
            std::memcpy(&v, x.data() + i, sizeof v);
            return v;
          },
          combine));
    });
  }
};

struct Interpreted {
  kernel::Kernel kernel;
};

int launch(const void* context, void* const* buffers, const double* scalars, const GeneratorState* randoms, void*) {
  return interpret(static_cast<const Interpreted*>(context)->kernel, {buffers, scalars, randoms});
}

}  // namespace

int interpret(const kernel::Kernel& kernel, const kernel::KernelArguments& arguments) {
  return kernel::interpret(NativeArithmetic(), kernel, arguments);
}

void make_interpreted(const kernel::Kernel& kernel, CompiledKernel& compiled) {
  auto copy = std::make_shared<Interpreted>(Interpreted{kernel});
  compiled.function = launch;
  compiled.context = copy.get();
  compiled.owner = std::move(copy);
  compiled.origin = KernelOrigin::Interpreted;
}

}  // namespace fuselet::cpu
