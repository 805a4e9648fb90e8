#include "backends/reference/promotion.h"

#include <optional>

#include "core/dispatch_state.h"

namespace fuselet::reference {
namespace {

DType default_dtype() { return dispatch_state().default_dtype; }

std::optional<DType> joined(std::optional<DType> a, DType b) { return a ? wider(*a, b) : b; }

}  // namespace

DType wider(DType a, DType b) {
  if (a == b) return a;
  if (category_of(a) != category_of(b)) return category_of(a) > category_of(b) ? a : b;
  auto pair_is = [&](DType x, DType y) { return (a == x && b == y) || (a == y && b == x); };
  if (pair_is(DType::Float16, DType::BFloat16)) return DType::Float32;
  if (pair_is(DType::Int8, DType::UInt8)) return DType::Int32;
  return size_of(a) > size_of(b) ? a : b;
}

DType common_dtype(const RefCall& call) {
  std::optional<DType> dimensioned, zero_dim, number;
  for (size_t i = static_cast<size_t>(call.op->promote_from); i < call.args.size(); ++i) {
    if (call.is_tensor(i)) {
      const RefTensor& t = call.tensor(i);
      std::optional<DType>& of = t.sizes.empty() ? zero_dim : dimensioned;
      of = joined(of, t.dtype);
    } else if (std::holds_alternative<Scalar>(call.args[i])) {
      Category c = call.scalar(i).category();
      number = joined(number, c == Category::Float ? default_dtype() : c == Category::Int ? DType::Int64 : DType::Bool);
    }
  }
  std::optional<DType> result = dimensioned;
  for (std::optional<DType> weaker : {zero_dim, number}) {
    if (weaker && (!result || category_of(*weaker) > category_of(*result))) result = weaker;
  }
  return result.value_or(DType::Bool);
}

DType pointwise_dtype(const RefCall& call, DType common) {
  for (const RefArg& arg : call.args) {
    if (const DType* given = std::get_if<DType>(&arg)) return *given;
  }
  switch (call.op->promotion) {
    case Promotion::Bool:
      return DType::Bool;
    case Promotion::Float:
      return is_float(common) ? common : default_dtype();
    case Promotion::Same:
      return common;
    case Promotion::None:
      return call.tensor(0).dtype;
  }
  return common;
}

}  // namespace fuselet::reference
