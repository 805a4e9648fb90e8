// The oracle: every operator of the table in double precision, from std:: alone, by the most direct loop there is.
//
// Shares nothing with the formulas, the shape rules or the CPU backend: sizes, dtypes and values of the results are
// worked out here a second time. Results of floating dtype are not rounded to it (a test's tolerance stands for that);
// integer and bool results are, by the cast rule. Entry: a call that the operator accepts; nothing is checked here.
#pragma once
#include <span>

#include "backends/reference/ref_tensor.h"
#include "core/generator.h"
#include "core/op.h"

namespace fuselet::reference {

// Arguments as in Arg, owned.
using RefArg = std::variant<std::monostate, RefTensor, Scalar, int64_t, std::vector<int64_t>, std::vector<RefTensor>,
                            double, bool, std::string, DType, Device>;

struct RefCall {
  const Op* op;
  std::span<const RefArg> args;
  std::vector<RefTensor> outs;
  // The seed and draw number that a random operator takes.
  GeneratorState draw;

  bool has(size_t i) const { return !std::holds_alternative<std::monostate>(args[i]); }
  bool is_tensor(size_t i) const { return std::holds_alternative<RefTensor>(args[i]); }
  const RefTensor& tensor(size_t i) const { return std::get<RefTensor>(args[i]); }
  const std::vector<RefTensor>& tensors(size_t i) const { return std::get<std::vector<RefTensor>>(args[i]); }
  const Scalar& scalar(size_t i) const { return std::get<Scalar>(args[i]); }
  int64_t integer(size_t i) const { return std::get<int64_t>(args[i]); }
  const std::vector<int64_t>& ints(size_t i) const { return std::get<std::vector<int64_t>>(args[i]); }
  double number(size_t i) const { return std::get<double>(args[i]); }
  bool flag(size_t i) const { return std::get<bool>(args[i]); }
  const std::string& text(size_t i) const { return std::get<std::string>(args[i]); }
  DType dtype_or(size_t i, DType otherwise) const { return has(i) ? std::get<DType>(args[i]) : otherwise; }
};

// Exactly one of the two. In the generated table, which rule_of reads, composites have neither; composites.h has
// theirs.
struct RefRule {
  double (*point)(const double* operands) = nullptr;
  void (*run)(RefCall&) = nullptr;
};
const RefRule& rule_of(const Op& op);
bool has_reference(const Op& op);

// The results of one call; of an operator that mutates arguments, their new values first. InternalError if the row has
// no rule.
std::vector<RefTensor> evaluate(const Op& op, std::span<const RefArg> args, GeneratorState draw = {});

// Copies of arguments whose tensors lie on the CPU.
RefArg to_reference(const OwnedArg& arg);
std::vector<RefArg> to_reference(std::span<const OwnedArg> args);

}  // namespace fuselet::reference
