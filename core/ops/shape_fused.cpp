// Shape rules of fused operators and of optimizer steps.
#include "core/ops/functions.h"
#include "core/ops/shape_rule.h"

namespace fuselet::shape {
namespace {

void like(const Tensor& t, TensorMeta* out) { set_dense(out, Dims(t.sizes()), t.dtype()); }

void check_float(const Call& call, DType dtype) {
  FUSELET_CHECK(is_float(dtype), call.op->name, ": expected a floating dtype, got ", name_of(dtype));
}

size_t check_trailing(const Tensor& x, DimsView normalized) {
  size_t lead = x.sizes().size() - normalized.size();
  FUSELET_CHECK(
      !normalized.empty() && normalized.size() <= x.sizes().size() && same_sizes(x.sizes().subspan(lead), normalized),
      "layer_norm: input of shape ", to_string(x.sizes()), " does not end in normalized_shape ", to_string(normalized));
  return lead;
}

}  // namespace

void softmax(const Call& call, TensorMeta* out) {
  wrap_dim(call.integer(1), call.tensor(0).dim(), call.op->name);
  like(call.tensor(0), out);
  out->dtype = call.dtype_or(2, out->dtype);
  check_float(call, out->dtype);
}

void same_as_first(const Call& call, TensorMeta* out) { like(call.tensor(0), out); }

void dropout_forward(const Call& call, TensorMeta* out) {
  double p = call.number(1);
  FUSELET_CHECK(p >= 0 && p <= 1, "dropout: the probability must lie in [0, 1], got ", p);
  check_float(call, call.tensor(0).dtype());
  like(call.tensor(0), &out[0]);
  like(call.tensor(0), &out[1]);
  out[1].dtype = DType::Bool;
}

void dropout_grad(const Call& call, TensorMeta* out) { like(call.tensor(0), out); }

void layer_norm_forward(const Call& call, TensorMeta* out) {
  const Tensor& x = call.tensor(0);
  check_float(call, x.dtype());
  size_t lead = check_trailing(x, call.ints(1));
  for (int i : {2, 3}) {
    FUSELET_CHECK(!call.has(i) || same_sizes(call.tensor(i).sizes(), call.ints(1)),
                  "layer_norm: ", i == 2 ? "weight" : "bias", " must have shape ", to_string(call.ints(1)), ", got ",
                  to_string(call.tensor(i).sizes()));
  }
  like(x, &out[0]);
  for (int i : {1, 2}) {
    Dims sizes(x.sizes().first(lead));
    for (size_t d = lead; d < x.sizes().size(); ++d) sizes.push_back(1);
    set_dense(&out[i], std::move(sizes), x.dtype() == DType::Float64 ? DType::Float64 : DType::Float32);
  }
}

void layer_norm_grad(const Call& call, TensorMeta* out) {
  like(call.tensor(1), &out[0]);
  for (int i : {1, 2}) {
    set_dense(&out[i], Dims(call.ints(5)), call.has(4) ? call.tensor(4).dtype() : call.tensor(1).dtype());
  }
}

void cross_entropy_forward(const Call& call, TensorMeta* out) {
  const Tensor &x = call.tensor(0), &target = call.tensor(1);
  check_float(call, x.dtype());
  FUSELET_CHECK(x.dim() == 2, "cross_entropy: expected logits (N, C), got ", to_string(x.sizes()));
  FUSELET_CHECK(category_of(target.dtype()) == Category::Int, "cross_entropy: targets must be integer classes, got ",
                name_of(target.dtype()));
  FUSELET_CHECK(target.dim() == 1 && target.sizes()[0] == x.sizes()[0], "cross_entropy: logits of shape ",
                to_string(x.sizes()), " need targets of shape [", to_string(x.sizes()[0]), "], got ",
                to_string(target.sizes()));
  if (call.has(2)) {
    FUSELET_CHECK(
        call.tensor(2).dim() == 1 && call.tensor(2).sizes()[0] == x.sizes()[1] && call.tensor(2).dtype() == x.dtype(),
        "cross_entropy: weight must have shape [", to_string(x.sizes()[1]), "] and the logits' dtype ",
        name_of(x.dtype()), ", got ", to_string(call.tensor(2).sizes()), " and ", name_of(call.tensor(2).dtype()));
  }
  std::string_view reduction = call.text(3);
  FUSELET_CHECK(reduction == "mean" || reduction == "sum" || reduction == "none",
                "cross_entropy: reduction must be 'mean', 'sum' or 'none', got '", reduction, "'");
  double smoothing = call.number(5);
  FUSELET_CHECK(smoothing >= 0 && smoothing <= 1, "cross_entropy: label_smoothing must lie in [0, 1], got ", smoothing);
  if (reduction == "none") out->sizes = {x.sizes()[0]};
  out->strides = contiguous_strides(out->sizes);
  out->dtype = x.dtype();
}

void cross_entropy_grad(const Call& call, TensorMeta* out) { like(call.tensor(1), out); }

namespace {

// Outputs of an optimizer's step are its mutated lists, one after another.
int list_metas(const Call& call, std::initializer_list<int> lists, TensorMeta* out) {
  size_t n = call.tensors(0).size();
  int written = 0;
  for (int arg : lists) {
    std::span<const Tensor> list = call.tensors(arg);
    FUSELET_CHECK(list.size() == n || (list.empty() && arg > 1), call.op->name, ": ",
                  call.op->args[static_cast<size_t>(arg)].name, " has ", list.size(), " tensors for ", n,
                  " parameters");
    for (size_t i = 0; i < list.size(); ++i) {
      FUSELET_CHECK(same_sizes(list[i].sizes(), call.tensors(0)[i].sizes()), call.op->name, ": ",
                    call.op->args[static_cast<size_t>(arg)].name, "[", i, "] of shape ", to_string(list[i].sizes()),
                    " does not fit a parameter of shape ", to_string(call.tensors(0)[i].sizes()));
      if (!call.op->args[static_cast<size_t>(arg)].mutated) continue;
      out[written].sizes = Dims(list[i].sizes());
      out[written].strides = strides_like(list[i].sizes(), list[i].sizes(), list[i].strides());
      out[written].dtype = list[i].dtype();
      check_float(call, list[i].dtype());
      ++written;
    }
  }
  return written;
}

}  // namespace

void sgd_step(const Call& call, TensorMeta* out) { list_metas(call, {0, 1, 2}, out); }
void adam_step(const Call& call, TensorMeta* out) { list_metas(call, {0, 1, 2, 3}, out); }

void clip_grad_norm(const Call& call, TensorMeta* out) {
  FUSELET_CHECK(call.number(2) == 2.0 || call.number(2) == 1.0 || call.number(2) > 1e300,
                "clip_grad_norm_: norm_type must be 1, 2 or inf, got ", call.number(2));
  FUSELET_CHECK(call.number(1) >= 0, "clip_grad_norm_: max_norm must not be negative, got ", call.number(1));
  int n = list_metas(call, {0}, out);
  out[n].sizes.clear();
  out[n].dtype = DType::Float32;
}

}  // namespace fuselet::shape
