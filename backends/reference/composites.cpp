// Composite operators: written directly where that is a line, else through the reference of the operators that their
// definition in the table names.
#include "backends/reference/composites.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/dispatch_state.h"

namespace fuselet::reference {
namespace {

std::vector<RefTensor> run(const char* name, const RefCall& call, std::vector<RefArg> args) {
  return evaluate(*find_op(name), args, call.draw);
}

RefTensor copy_of(const RefTensor& x, std::vector<int64_t> sizes) {
  RefTensor out = make(std::move(sizes), x.dtype);
  out.values = x.values;
  return out;
}

// ---- making and rearranging
// ------------------------------------------------------------------------------------------
void filled(RefCall& call, double value) {
  call.outs = {make(call.ints(0), call.dtype_or(1, dispatch_state().default_dtype), value)};
}
void zeros(RefCall& call) { filled(call, 0); }
void ones(RefCall& call) { filled(call, 1); }

void filled_like(RefCall& call, double value, size_t dtype_arg) {
  call.outs = {make(call.tensor(0).sizes, call.dtype_or(dtype_arg, call.tensor(0).dtype), value)};
}
void zeros_like(RefCall& call) { filled_like(call, 0, 1); }
void ones_like(RefCall& call) { filled_like(call, 1, 1); }
void full_like(RefCall& call) { filled_like(call, call.scalar(1).to_double(), 2); }

void random_like(RefCall& call, const char* name) {
  call.outs = run(name, call, {call.tensor(0).sizes, call.dtype_or(1, call.tensor(0).dtype), std::monostate()});
}
void rand_like(RefCall& call) { random_like(call, "rand"); }
void randn_like(RefCall& call) { random_like(call, "randn"); }

void reshape(RefCall& call) { call.outs = run("view", call, {call.tensor(0), call.ints(1)}); }

void flatten(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  if (x.rank() == 0) {
    call.outs = {copy_of(x, {1})};
    return;
  }
  int64_t first = wrap(call.integer(1), x.rank()), last = wrap(call.integer(2), x.rank());
  std::vector<int64_t> sizes(x.sizes.begin(), x.sizes.begin() + first);
  sizes.push_back(count_of({x.sizes.begin() + first, x.sizes.begin() + last + 1}));
  sizes.insert(sizes.end(), x.sizes.begin() + last + 1, x.sizes.end());
  call.outs = {copy_of(x, sizes)};
}

void t(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  call.outs =
      x.rank() < 2 ? std::vector<RefTensor>{copy_of(x, x.sizes)} : run("transpose", call, {x, int64_t{0}, int64_t{1}});
}

void itself(RefCall& call) { call.outs = {copy_of(call.tensor(0), call.tensor(0).sizes)}; }
void expand_as(RefCall& call) { call.outs = run("expand", call, {call.tensor(0), call.tensor(1).sizes}); }
void broadcast_to(RefCall& call) { call.outs = run("expand", call, {call.tensor(0), call.ints(1)}); }

void narrow(RefCall& call) {
  int64_t start = call.integer(2);
  call.outs = run("slice", call, {call.tensor(0), call.integer(1), start, start + call.integer(3), int64_t{1}});
}

void sum_to_size(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  const std::vector<int64_t>& to = call.ints(1);
  RefTensor out = make(to, x.dtype);
  for_each_index(x.sizes, [&](const Index& index) {
    Index target(index.end() - static_cast<std::ptrdiff_t>(to.size()), index.end());
    for (size_t d = 0; d < to.size(); ++d) target[d] = to[d] == 1 ? 0 : target[d];
    out.at(target) += x.at(index);
  });
  call.outs = {out};
}

void stack(RefCall& call) {
  std::vector<RefTensor> parts = call.tensors(0);
  int64_t dim = wrap(call.integer(1), parts[0].rank() + 1);
  for (RefTensor& part : parts) part.sizes.insert(part.sizes.begin() + dim, 1);
  call.outs = run("cat", call, {parts, dim});
}

void index(RefCall& call) {
  const RefTensor &x = call.tensor(0), &which = call.tensor(1);
  std::vector<int64_t> sizes = which.sizes;
  sizes.insert(sizes.end(), x.sizes.begin() + 1, x.sizes.end());
  RefTensor out = make(sizes, x.dtype);
  for_each_index(sizes, [&](const Index& at) {
    auto split = at.begin() + which.rank();
    Index from(split, at.end());
    from.insert(from.begin(), wrap(static_cast<int64_t>(which.at(Index(at.begin(), split))), x.sizes[0]));
    out.at(at) = x.at(from);
  });
  call.outs = {out};
}

void masked_fill(RefCall& call) {
  call.outs = run("where", call, {call.tensor(1), call.args[2], call.tensor(0)});
  if (!call.is_tensor(2)) call.outs = run("cast", call, {call.outs[0], call.tensor(0).dtype});
}

void clamp(RefCall& call) {
  call.outs = {call.tensor(0)};
  if (call.has(1)) call.outs = run("clamp_min", call, {call.outs[0], call.args[1]});
  if (call.has(2)) call.outs = run("clamp_max", call, {call.outs[0], call.args[2]});
}

// ---- neural networks
// -------------------------------------------------------------------------------------------------
void matrix_product(RefCall& call) { call.outs = run("matmul", call, {call.tensor(0), call.tensor(1)}); }

void gelu(RefCall& call) { call.outs = run(call.text(1) == "tanh" ? "gelu_tanh" : "gelu_erf", call, {call.tensor(0)}); }

void dropout(RefCall& call) {
  if (!call.flag(2) || call.number(1) == 0) return itself(call);
  call.outs = {run("dropout_forward", call, {call.tensor(0), call.number(1)})[0]};
}

void max_pool2d(RefCall& call) {
  call.outs = {run("max_pool2d_with_indices", call, {call.args.begin(), call.args.end()})[0]};
}

void layer_norm(RefCall& call) {
  call.outs = {run("layer_norm_forward", call, {call.args.begin(), call.args.end()})[0]};
}

// Logits with classes in dimension 1 (0 of a vector), as rows in the order of the targets.
void cross_entropy(RefCall& call) {
  const RefTensor &logits = call.tensor(0), &target = call.tensor(1);
  int64_t class_dim = logits.rank() == 1 ? 0 : 1, classes = logits.sizes[static_cast<size_t>(class_dim)];
  RefTensor rows = make({target.count(), classes}, logits.dtype);
  int64_t row = 0;
  for_each_index(target.sizes, [&](const Index& at) {
    for (int64_t c = 0; c < classes; ++c) {
      Index from = at;
      from.insert(from.begin() + class_dim, c);
      rows.at({row, c}) = logits.at(from);
    }
    ++row;
  });
  std::vector<RefArg> args(call.args.begin(), call.args.end());
  args[0] = rows;
  args[1] = copy_of(target, {target.count()});
  call.outs = run("cross_entropy_forward", call, args);
  if (call.text(3) == "none") call.outs[0].sizes = target.sizes;
}

void mse_loss(RefCall& call) {
  const RefTensor &x = call.tensor(0), &y = call.tensor(1);
  RefTensor squares = make(x.sizes, x.dtype);
  long double sum = 0;
  for (size_t i = 0; i < squares.values.size(); ++i) {
    squares.values[i] = (x.values[i] - y.values[i]) * (x.values[i] - y.values[i]);
    sum += squares.values[i];
  }
  if (call.text(2) == "none") {
    call.outs = {squares};
  } else {
    call.outs = {make({}, x.dtype,
                      static_cast<double>(call.text(2) == "sum" ? sum : sum / static_cast<long double>(x.count())))};
  }
}

// ---- scans, and reductions in terms of others
// ------------------------------------------------------------------------
DType sum_dtype(const RefCall& call, size_t dtype_arg) {
  return call.dtype_or(dtype_arg, is_float(call.tensor(0).dtype) ? call.tensor(0).dtype : DType::Int64);
}
void scan(RefCall& call, const char* name) {
  RefTensor x = run("cast", call, {call.tensor(0), sum_dtype(call, 2)})[0];
  call.outs = run(name, call, {x, call.integer(1), false});
}
void cumsum(RefCall& call) { scan(call, "scan_sum"); }
void cumprod(RefCall& call) { scan(call, "scan_product"); }
void logcumsumexp(RefCall& call) { call.outs = run("scan_logaddexp", call, {call.tensor(0), call.integer(1), false}); }

// For every element of the result of a sum over the dims, how much of `term` belongs to it.
template <class F>
RefTensor summed(const RefCall& call, RefArg dims, bool keepdim, F&& term) {
  RefTensor x = call.tensor(0);
  x.dtype = DType::Float64;
  for (double& v : x.values) v = term(v);
  return run("sum", call, {x, std::move(dims), keepdim, std::monostate()})[0];
}
RefTensor as_bool(const RefTensor& counts, bool zero_is_true) {
  RefTensor out = make(counts.sizes, DType::Bool);
  for (size_t i = 0; i < out.values.size(); ++i) out.values[i] = (counts.values[i] == 0) == zero_is_true;
  return out;
}
void all(RefCall& call) {
  call.outs = {as_bool(summed(call, call.ints(1), call.flag(2), [](double v) { return v == 0; }), true)};
}
void any(RefCall& call) {
  call.outs = {as_bool(summed(call, call.ints(1), call.flag(2), [](double v) { return v != 0; }), false)};
}
void count_nonzero(RefCall& call) {
  RefTensor counts = summed(call, call.ints(1), false, [](double v) { return v != 0; });
  counts.dtype = DType::Int64;
  call.outs = {counts};
}
void argmin(RefCall& call) {
  RefTensor x = call.tensor(0);
  x.dtype = DType::Float64;
  for (double& v : x.values) v = -v;
  call.outs = run("argmax", call, {x, call.args[1], call.flag(2)});
}
void nansum(RefCall& call) {
  RefTensor sum = summed(call, call.ints(1), call.flag(2), [](double v) { return std::isnan(v) ? 0 : v; });
  sum.dtype = sum_dtype(call, 3);
  call.outs = {sum};
}
void nanmean(RefCall& call) {
  RefTensor sum = summed(call, call.ints(1), call.flag(2), [](double v) { return std::isnan(v) ? 0 : v; });
  const RefTensor count = summed(call, call.ints(1), call.flag(2), [](double v) { return !std::isnan(v); });
  for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] /= count.values[i];
  sum.dtype = call.dtype_or(3, call.tensor(0).dtype);
  call.outs = {sum};
}
void prod(RefCall& call) {
  RefTensor x = call.tensor(0);
  const DType to = sum_dtype(call, 3);
  x = run("cast", call, {x, to})[0];
  const bool whole = !call.has(1) || x.rank() == 0;
  const size_t dim = whole ? 0 : static_cast<size_t>(wrap(call.integer(1), x.rank()));
  std::vector<int64_t> sizes = x.sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (whole || d == dim) sizes[d] = 1;
  }
  RefTensor out = make(sizes, to, 1);
  for_each_index(x.sizes, [&](const Index& at) {
    Index kept = at;
    for (size_t d = 0; d < kept.size(); ++d) {
      if (whole || d == dim) kept[d] = 0;
    }
    out.at(kept) *= x.at(at);
  });
  if (!call.flag(2)) {
    if (whole) {
      out.sizes = {};
    } else {
      out.sizes.erase(out.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    }
  }
  call.outs = {out};
}

void nan_to_num(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  if (!is_float(x.dtype)) return itself(call);
  const double largest = x.dtype == DType::Float64   ? std::numeric_limits<double>::max()
                         : x.dtype == DType::Float16 ? 65504
                         : x.dtype == DType::Float32 ? static_cast<double>(std::numeric_limits<float>::max())
                                                     : 0x1.fep127;
  call.outs = run("replace_nonfinite", call,
                  {x, call.scalar(1), call.has(2) ? call.scalar(2) : Scalar(largest),
                   call.has(3) ? call.scalar(3) : Scalar(-largest)});
}
void bitwise_not(RefCall& call) {
  RefTensor out = call.tensor(0);
  for (double& v : out.values) {
    v = out.dtype == DType::Bool ? static_cast<double>(v == 0) : out.dtype == DType::UInt8 ? 255 - v : -1 - v;
  }
  call.outs = {out};
}

void glu(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  const int64_t dim = wrap(call.integer(1), x.rank()), half = x.sizes[static_cast<size_t>(dim)] / 2;
  const RefTensor a = run("slice", call, {x, dim, int64_t{0}, half, int64_t{1}})[0];
  const RefTensor b = run("slice", call, {x, dim, half, 2 * half, int64_t{1}})[0];
  call.outs = run("mul", call, {a, run("sigmoid", call, {b})[0]});
}
void prelu(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  RefTensor weight = call.tensor(1);
  if (weight.count() > 1) weight.sizes.insert(weight.sizes.end(), static_cast<size_t>(x.rank() - 2), 1);
  if (weight.count() == 1) weight.sizes = {};
  call.outs = run("prelu_channels", call, {x, weight});
}

struct Entry {
  std::string_view name;
  RefRule rule;
};

constexpr Entry kRules[] = {
    {"zeros", {nullptr, zeros}},
    {"ones", {nullptr, ones}},
    {"zeros_like", {nullptr, zeros_like}},
    {"ones_like", {nullptr, ones_like}},
    {"full_like", {nullptr, full_like}},
    {"rand_like", {nullptr, rand_like}},
    {"randn_like", {nullptr, randn_like}},
    {"reshape", {nullptr, reshape}},
    {"flatten", {nullptr, flatten}},
    {"t", {nullptr, t}},
    {"contiguous", {nullptr, itself}},
    {"expand_as", {nullptr, expand_as}},
    {"broadcast_to", {nullptr, broadcast_to}},
    {"narrow", {nullptr, narrow}},
    {"sum_to_size", {nullptr, sum_to_size}},
    {"stack", {nullptr, stack}},
    {"index", {nullptr, index}},
    {"masked_fill", {nullptr, masked_fill}},
    {"clamp", {nullptr, clamp}},
    {"bmm", {nullptr, matrix_product}},
    {"mm", {nullptr, matrix_product}},
    {"gelu", {nullptr, gelu}},
    {"dropout", {nullptr, dropout}},
    {"max_pool2d", {nullptr, max_pool2d}},
    {"layer_norm", {nullptr, layer_norm}},
    {"cross_entropy", {nullptr, cross_entropy}},
    {"mse_loss", {nullptr, mse_loss}},
    {"cumsum", {nullptr, cumsum}},
    {"cumprod", {nullptr, cumprod}},
    {"logcumsumexp", {nullptr, logcumsumexp}},
    {"prod", {nullptr, prod}},
    {"all", {nullptr, all}},
    {"any", {nullptr, any}},
    {"count_nonzero", {nullptr, count_nonzero}},
    {"argmin", {nullptr, argmin}},
    {"nansum", {nullptr, nansum}},
    {"nanmean", {nullptr, nanmean}},
    {"nan_to_num", {nullptr, nan_to_num}},
    {"bitwise_not", {nullptr, bitwise_not}},
    {"glu", {nullptr, glu}},
    {"prelu", {nullptr, prelu}},
};

}  // namespace

const RefRule* composite_rule_of(const Op& op) {
  auto found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Entry& e) { return e.name == op.name; });
  return found == std::end(kRules) ? nullptr : &found->rule;
}

}  // namespace fuselet::reference
