#include "tests/pointwise_samples.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace fuselet::testing {
namespace {

using Sizes = std::vector<int64_t>;

// The shapes and layouts of up to three operands; operands past the end take the last.
struct Pattern {
  const char* what;
  std::vector<Sizes> sizes;
  std::vector<Layout> layouts = {Layout::Contiguous};
};

const std::vector<Pattern> kPatterns = {
    {"same shape", {{2, 3}}},
    {"0-d", {{}}},
    {"empty", {{0, 3}}},
    {"empty by broadcast", {{0, 3}, {1, 3}, {}}},
    {"vector body and tail", {{5, 37}}},
    {"broadcast", {{2, 3, 4}, {3, 1}, {4}}},
    {"broadcast row", {{6, 33}, {33}, {6, 1}}},
    {"0-d operand", {{3, 4}, {}, {}}},
    {"sliced", {{3, 20}}, {Layout::Sliced}},
    {"permuted", {{4, 3, 5}}, {Layout::Permuted}},
    {"mixed layouts", {{4, 5}}, {Layout::Contiguous, Layout::Permuted, Layout::Sliced}},
    {"expanded", {{4, 20}}, {Layout::Expanded, Layout::Contiguous}},
};

template <class T>
const T& at_or_last(const std::vector<T>& list, size_t i) {
  return list[std::min(i, list.size() - 1)];
}

// A number for an operand: exact in every dtype.
Scalar number_in(const Op& op, bool whole) {
  if (whole) return Scalar(int64_t{op.domain_low > 1 ? 2 : 1});
  return Scalar(1.5);
}

// The default; without one, a number inside the domain.
Scalar scalar_of(const ArgSpec& spec) {
  if (!spec.default_text) return Scalar(0.5);
  const std::string_view text = spec.default_text;
  const double value = std::stod(std::string(text));
  return text.find('.') == std::string_view::npos ? Scalar(static_cast<int64_t>(value)) : Scalar(value);
}

class Builder {
 public:
  Builder(const Op& op, DType dtype)
      : op_(op), dtype_(dtype), elements_{op.domain_low, op.domain_high, op.promotion == Promotion::Bool} {}

  // Operand i as a tensor; a condition, which takes no part in promotion, is bool.
  Tensor tensor(size_t i, const Sizes& sizes, Layout layout, DType dtype) {
    if (static_cast<int>(i) < op_.promote_from) return sample_tensor(sizes, DType::Bool, numbers_, {0, 1}, layout);
    return sample_tensor(sizes, dtype, numbers_, elements_, layout);
  }

  // The call with operand i given by f(i); the other arguments are their defaults, or `dtype`, the CPU and false.
  template <class F>
  void add(std::string what, F&& operand, DType to = DType::Float32, bool flag = false) {
    std::vector<OwnedArg> args;
    for (size_t i = 0; i < op_.args.size(); ++i) {
      ArgType type = op_.args[i].type;
      if (type == ArgType::Bool) {
        args.push_back(flag);
      } else if (type == ArgType::DType) {
        args.push_back(to);
      } else if (type == ArgType::Device) {
        args.push_back(Device{});
      } else if (type == ArgType::Scalar) {
        args.push_back(scalar_of(op_.args[i]));
      } else {
        args.push_back(operand(i));
      }
    }
    samples_.push_back({std::move(what), std::move(args)});
  }

  void add_patterns() {
    for (const Pattern& p : kPatterns) {
      add(p.what, [&](size_t i) { return tensor(i, at_or_last(p.sizes, i), at_or_last(p.layouts, i), dtype_); });
    }
  }

  // One operand a number, the others tensors, for every operand that may be one.
  void add_numbers() {
    for (size_t k = 0; k < op_.args.size(); ++k) {
      if (op_.args[k].type != ArgType::Operand || op_.args.size() < 2) continue;
      for (bool whole : {true, false}) {
        if (!whole && op_.integers_only) continue;
        add(whole ? "whole number" : "fraction", [&](size_t i) -> OwnedArg {
          if (i == k) return number_in(op_, whole);
          return tensor(i, {3, 5}, Layout::Contiguous, dtype_);
        });
      }
    }
  }

  // The last operand of another dtype, with dimensions and without.
  void add_promotions() {
    size_t last = op_.args.size() - 1;
    if (op_.args[last].type != ArgType::Operand) return;
    for (DType other : {DType::Float64, DType::BFloat16, DType::Int64, DType::UInt8}) {
      if (other == dtype_ || (op_.integers_only && is_float(other))) continue;
      for (const Sizes& sizes : {Sizes{3, 5}, Sizes{}}) {
        add(concat("with ", name_of(other)), [&](size_t i) {
          return tensor(i, i == last ? sizes : Sizes{3, 5}, Layout::Contiguous, i == last ? other : dtype_);
        });
      }
    }
  }

  // Rows with a dtype or a flag: each value of it.
  void add_attributes() {
    auto permuted = [&](size_t i) { return tensor(i, {4, 7}, Layout::Permuted, dtype_); };
    for (const ArgSpec& arg : op_.args) {
      if (arg.type == ArgType::Bool) add("flag set", permuted, DType::Float32, true);
      if (arg.type != ArgType::DType) continue;
      for (int t = 0; t < kNumDTypes; ++t)
        add(concat("to ", name_of(static_cast<DType>(t))), permuted, static_cast<DType>(t));
    }
  }

  std::vector<OpSample> take() { return std::move(samples_); }

 private:
  const Op& op_;
  DType dtype_;
  Elements elements_;
  SampleNumbers numbers_{1};
  std::vector<OpSample> samples_;
};

}  // namespace

std::vector<OpSample> pointwise_samples(const Op& op, DType dtype) {
  Builder builder(op, dtype);
  builder.add_patterns();
  builder.add_numbers();
  builder.add_promotions();
  builder.add_attributes();
  return builder.take();
}

}  // namespace fuselet::testing
