#include "tests/op_samples.h"

#include <algorithm>
#include <string_view>

#include "core/dispatch.h"
#include "tests/pointwise_samples.h"
#include "tests/structured_samples.h"

namespace fuselet::testing {
namespace {

const std::vector<DType> kAll = {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16, DType::Int64,
                                 DType::Int32,   DType::Int8,    DType::UInt8,   DType::Bool};
const std::vector<DType> kNumbers(kAll.begin(), kAll.end() - 1);
const std::vector<DType> kFloats(kAll.begin(), kAll.begin() + 4);
const std::vector<DType> kHalves(kAll.begin() + 2, kAll.begin() + 4);
const std::vector<DType> kIntegers(kAll.begin() + 4, kAll.end());
const std::vector<DType> kFloatsAndInts = {DType::Float64,  DType::Float32, DType::Float16,
                                           DType::BFloat16, DType::Int64,   DType::Int32};

// Rows that take other dtypes than their kind does.
struct Exception {
  std::string_view op;
  const std::vector<DType>& dtypes;
};
const Exception kExceptions[] = {
    {"mean", kFloats},
    {"var", kFloats},
    {"randint", kNumbers},
    {"max_pool2d_with_indices", kFloats},
    {"scatter_add", kNumbers},
    {"index_add", kNumbers},
    {"embedding_grad", kFloats},
    {"as_strided_grad", kNumbers},
    {"matmul", kFloatsAndInts},
    {"mm", kFloatsAndInts},
    {"bmm", kFloatsAndInts},
    {"arange", kNumbers},
    {"rand_like", kFloats},
    {"randn_like", kFloats},
    {"gelu", kFloats},
    {"dropout", kFloats},
    {"max_pool2d", kFloats},
    {"layer_norm", kFloats},
    {"cross_entropy", kFloats},
    {"mse_loss", kFloats},
    {"sum_to_size", kNumbers},
    {"scan_logaddexp", kFloats},
    {"scan_sum", kFloatsAndInts},
    {"scan_product", kFloatsAndInts},
    {"logcumsumexp", kFloats},
    {"nanmean", kFloats},
    {"bitwise_not", kIntegers},
    {"glu", kFloats},
    {"prelu", kFloats},
    {"matmul_wide", kHalves},
    {"scatter_fold", kNumbers},
};

const std::vector<DType>& dtypes_of_kind(OpKind kind) {
  switch (kind) {
    case OpKind::Random:
    case OpKind::Contraction:
    case OpKind::Fused:
    case OpKind::Optimizer:
      return kFloats;
    default:
      return kAll;
  }
}

Sampler sampler_of(const Op& op) {
  for (const auto& table : {arranging_samplers(), indexing_samplers(), network_samplers(), scanning_samplers()}) {
    for (const SamplerRow& row : table) {
      if (std::string_view(row.op) == op.name) return row.fill;
    }
  }
  return nullptr;
}

void copy_tensors(OwnedArg& arg) {
  if (Tensor* t = std::get_if<Tensor>(&arg)) *t = copy_of(*t);
  if (auto* list = std::get_if<std::vector<Tensor>>(&arg)) {
    for (Tensor& t : *list) t = copy_of(t);
  }
}

void print(std::string& out, const OwnedArg& arg) {
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          out += "None";
        } else if constexpr (std::is_same_v<T, Tensor>) {
          out += concat(name_of(v.dtype()), " ", to_string(v.sizes()));
          if (!v.is_contiguous()) out += concat(" strides ", to_string(v.strides()));
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          out += concat("list of ", v.size());
        } else if constexpr (std::is_same_v<T, Scalar>) {
          out += concat(v.to_double(), v.category() == Category::Float ? " (float)" : " (int)");
        } else if constexpr (std::is_same_v<T, SymInt> || std::is_same_v<T, Dims> || std::is_same_v<T, Device>) {
          out += to_string(v);
        } else if constexpr (std::is_same_v<T, DType>) {
          out += name_of(v);
        } else {
          out += concat(v);
        }
      },
      arg);
}

}  // namespace

std::vector<DType> dtypes_of(const Op& op) {
  for (const Exception& e : kExceptions) {
    if (e.op == op.name) return e.dtypes;
  }
  return op.integers_only ? kIntegers : dtypes_of_kind(op.kind);
}

std::vector<OpSample> samples_of(const Op& op, DType dtype) {
  if (op.kind == OpKind::Pointwise) return pointwise_samples(op, dtype);
  Sampler fill = sampler_of(op);
  if (!fill) return {};
  SampleList list(dtype);
  fill(list);
  return list.take();
}

std::vector<Tensor> run_sample(const Op& op, const OpSample& sample, bool in_place) {
  std::vector<OwnedArg> owned = sample.args;
  bool marked = std::any_of(op.args.begin(), op.args.end(), [](const ArgSpec& a) { return a.mutated; });
  for (size_t i = 0; i < owned.size(); ++i) {
    if (op.args[i].mutated || (in_place && !marked && i == 0)) copy_tensors(owned[i]);
  }
  return call_with(op, owned, in_place);
}

std::vector<Tensor> call_with(const Op& op, const std::vector<OwnedArg>& owned, bool in_place) {
  const bool marked = std::any_of(op.args.begin(), op.args.end(), [](const ArgSpec& a) { return a.mutated; });
  std::vector<Arg> args;
  for (const OwnedArg& arg : owned) args.push_back(view_of(arg));
  return call_operator(op, args, in_place || marked, Location::current());
}

std::string describe(const Op& op, const OpSample& sample) {
  std::string out = concat(op.name, "(");
  for (size_t i = 0; i < sample.args.size(); ++i) {
    if (i > 0) out += ", ";
    print(out, sample.args[i]);
  }
  return out + ")  [" + sample.what + "]";
}

}  // namespace fuselet::testing
