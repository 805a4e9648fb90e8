// Backward, and the backward of the backward, of every differentiable operator against central differences in float64.
#include "autograd/gradcheck.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/dispatch.h"
#include "core/generator.h"
#include "tests/op_samples.h"

using namespace fuselet;
using namespace fuselet::testing;

namespace {

// Differences cost two calls an element.
constexpr int64_t kMostElements = 250;

struct Excluded {
  std::string_view op;
  int arg;
  const char* reason;
};

// Float arguments that take part in the value but have no gradient by definition.
constexpr Excluded kNoGradient[] = {
    {"cross_entropy_forward", 2, "class weights are constants"},
    {"cross_entropy", 2, "class weights are constants"},
    {"cross_entropy_grad", 3, "class weights are constants"},
};

// Of several float results only the first is differentiable.
constexpr std::string_view kFirstResultOnly[] = {"layer_norm_forward"};

// Composites whose result does not depend on the elements of their arguments.
constexpr std::string_view kConstant[] = {"zeros",     "ones",      "zeros_like", "ones_like",
                                          "full_like", "rand_like", "randn_like"};

template <size_t N>
bool lists(const Excluded (&list)[N], std::string_view op, int arg) {
  return std::any_of(std::begin(list), std::end(list), [&](const Excluded& e) { return e.op == op && e.arg == arg; });
}

template <size_t N>
bool names(const std::string_view (&list)[N], const Op& op) {
  return std::find(std::begin(list), std::end(list), std::string_view(op.name)) != std::end(list);
}

bool is_checked(const Op& op) {
  const std::vector<DType> dtypes = dtypes_of(op);
  if (std::find(dtypes.begin(), dtypes.end(), DType::Float64) == dtypes.end()) return false;
  return op.composite ? !names(kConstant, op) : op.differentiable;
}

// Differences see what the gradient leaves out by definition: the row of padding_idx.
bool hides_gradient(const Op& op, const OpSample& sample) {
  return std::string_view(op.name) == "embedding" && !std::holds_alternative<std::monostate>(sample.args[2]);
}

// Differences of 1e-6 drown in the rounding of a narrower type, and tell nothing where there is no number.
bool can_differ(const std::vector<Tensor>& outputs) {
  bool any = false;
  for (const Tensor& t : outputs) {
    if (!is_float(t.dtype())) continue;
    if (t.dtype() != DType::Float64) return false;
    for (double v : t.to_vector()) {
      if (std::isnan(v)) return false;
    }
    any = any || t.requires_grad();
  }
  return any;
}

bool mixes_floats(const OpSample& sample) {
  return std::any_of(sample.args.begin(), sample.args.end(), [](const OwnedArg& arg) {
    const Tensor* t = std::get_if<Tensor>(&arg);
    return t && is_float(t->dtype()) && t->dtype() != DType::Float64;
  });
}

bool repeats_memory(const Tensor& t) {
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    if (t.strides()[d] == 0 && t.sizes()[d] > 1) return true;
  }
  return false;
}

// A sample as a function of its float64 tensors.
struct Differentiated {
  const Op& op;
  OpSample sample;
  std::vector<Tensor> inputs;
  int64_t elements = 0;

  Differentiated(const Op& o, const OpSample& s) : op(o), sample(s) {
    for (size_t i = 0; i < sample.args.size(); ++i) {
      bool wanted = !lists(kNoGradient, op.name, static_cast<int>(i));
      if (Tensor* t = std::get_if<Tensor>(&sample.args[i]); t && wanted) take(*t);
      if (auto* list = std::get_if<std::vector<Tensor>>(&sample.args[i])) {
        for (Tensor& t : *list) take(t);
      }
    }
  }

  // Differences move one element at a time, so each needs memory of its own, and a value of its own where there are
  // ties.
  void take(Tensor& t) {
    if (t.dtype() != DType::Float64) return;
    std::vector<double> values = t.to_vector();
    for (size_t i = 0; i < values.size(); ++i) values[i] += 1e-4 * static_cast<double>(i);
    t = repeats_memory(t) ? tensor_of(concrete(t), DType::Float64, values) : copy_of(t);
    t.requires_grad_();
    inputs.push_back(t);
    elements += t.numel();
  }

  static std::vector<int64_t> concrete(const Tensor& t) {
    return {concrete_words(t.sizes()), concrete_words(t.sizes()) + t.sizes().size()};
  }

  std::vector<Tensor> operator()(const std::vector<Tensor>& values) const {
    std::vector<OwnedArg> owned = sample.args;
    size_t next = 0;
    auto replace = [&](Tensor& t) {
      if (next < inputs.size() && t.is_same(inputs[next])) t = values[next++];
    };
    for (OwnedArg& arg : owned) {
      if (Tensor* t = std::get_if<Tensor>(&arg)) replace(*t);
      if (auto* list = std::get_if<std::vector<Tensor>>(&arg)) std::for_each(list->begin(), list->end(), replace);
    }
    std::vector<Arg> args;
    for (const OwnedArg& arg : owned) args.push_back(view_of(arg));
    manual_seed(5);  // the same mask on every call
    std::vector<Tensor> outs = call_operator(op, args, false, Location::current());
    if (names(kFirstResultOnly, op)) outs.resize(1);
    return outs;
  }
};

// The first failing sample of each operator.
template <class Check>
void check_all(bool twice, Check&& check) {
  int calls = 0;
  for (const Op& op : all_ops()) {
    if (!is_checked(op)) continue;
    std::string failure;
    for (const OpSample& sample : samples_of(op, DType::Float64)) {
      Differentiated f(op, sample);
      if (f.inputs.empty() || f.elements > kMostElements || !failure.empty() || hides_gradient(op, sample)) continue;
      // A rule may compute on the narrower operand in its own dtype, which shows in second differences.
      if (twice && mixes_floats(sample)) continue;
      try {
        ++calls;
        if (can_differ(f(f.inputs))) check(f);
      } catch (const std::exception& e) {
        failure = describe(op, sample) + ": " + e.what();
      }
    }
    CHECK_MESSAGE(failure.empty(), failure);
  }
  MESSAGE(calls, " calls differentiated");
}

}  // namespace

TEST_CASE("gradcheck: backward agrees with central differences") {
  check_all(false, [](const Differentiated& f) { gradcheck(f, f.inputs); });
}

TEST_CASE("gradcheck: backward of backward agrees with central differences") {
  check_all(true, [](const Differentiated& f) { gradgradcheck(f, f.inputs); });
}
