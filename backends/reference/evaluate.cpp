// Runs one call: pointwise rows by broadcasting their formula here, the others by their own loop.
#include <algorithm>

#include "backends/reference/composites.h"
#include "backends/reference/promotion.h"
#include "backends/reference/reference.h"
#include "core/error.h"

namespace fuselet::reference {
namespace {

// The operand's element that stands under `index` of the result: dimensions align at the end, a size of 1 repeats.
double broadcast_at(const RefTensor& t, const Index& index) {
  Index own(t.sizes.size());
  size_t shift = index.size() - own.size();
  for (size_t d = 0; d < own.size(); ++d) own[d] = t.sizes[d] == 1 ? 0 : index[d + shift];
  return t.at(own);
}

std::vector<int64_t> broadcast_sizes_of(const RefCall& call) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (!call.is_tensor(i)) continue;
    std::vector<int64_t> own = call.tensor(i).sizes;
    if (own.size() > sizes.size()) sizes.insert(sizes.begin(), own.size() - sizes.size(), 1);
    for (size_t d = 0; d < own.size(); ++d) {
      int64_t& size = sizes[d + sizes.size() - own.size()];
      if (size == 1) size = own[d];
    }
  }
  return sizes;
}

void run_pointwise(RefCall& call, double (*point)(const double*)) {
  std::vector<size_t> operands;
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.is_tensor(i) || std::holds_alternative<Scalar>(call.args[i])) operands.push_back(i);
  }
  DType common = common_dtype(call);
  RefTensor out = make(broadcast_sizes_of(call), pointwise_dtype(call, common));
  std::vector<double> x(operands.size());
  for_each_index(out.sizes, [&](const Index& index) {
    for (size_t k = 0; k < operands.size(); ++k) {
      size_t i = operands[k];
      x[k] = call.is_tensor(i) ? broadcast_at(call.tensor(i), index) : call.scalar(i).to_double();
    }
    out.at(index) = point(x.data());
  });
  call.outs.push_back(std::move(out));
}

}  // namespace

bool has_reference(const Op& op) { return !op.composite || composite_rule_of(op); }

RefArg to_reference(const OwnedArg& arg) {
  return std::visit(
      [](const auto& value) -> RefArg {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          return to_reference(value);
        } else if constexpr (std::is_same_v<T, SymInt>) {
          return value.concrete();
        } else if constexpr (std::is_same_v<T, Dims>) {
          std::vector<int64_t> numbers;
          for (SymInt s : value) numbers.push_back(s.concrete());
          return numbers;
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          std::vector<RefTensor> list;
          for (const Tensor& t : value) list.push_back(to_reference(t));
          return list;
        } else {
          return value;
        }
      },
      arg);
}

std::vector<RefArg> to_reference(std::span<const OwnedArg> args) {
  std::vector<RefArg> out;
  for (const OwnedArg& arg : args) out.push_back(to_reference(arg));
  return out;
}

std::vector<RefTensor> evaluate(const Op& op, std::span<const RefArg> args, GeneratorState draw) {
  RefCall call{&op, args, {}, draw};
  const RefRule* composite = op.composite ? composite_rule_of(op) : nullptr;
  const RefRule& rule = composite ? *composite : rule_of(op);
  bool from_integers = false;
  if (rule.point) {
    run_pointwise(call, rule.point);
    from_integers = !is_float(common_dtype(call));
  } else {
    FUSELET_INTERNAL_CHECK(rule.run, concat("operator ", op.name, " has no reference"));
    rule.run(call);
  }
  for (RefTensor& out : call.outs) {
    for (double& v : out.values) v = stored_as(v, out.dtype, from_integers);
  }
  return std::move(call.outs);
}

}  // namespace fuselet::reference
