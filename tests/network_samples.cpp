// Samples of contractions, pooling, normalizations, losses and optimizers.
#include <limits>
#include <string_view>

#include "tests/structured_samples.h"

namespace fuselet::testing {
namespace {

void matmul(SampleList& s) {
  s.add("matrices", {s.x({3, 4}), s.x({4, 5})});
  s.add("transposed", {s.x({3, 4}, Layout::Permuted), s.x({4, 5}, Layout::Permuted)});
  s.add("sliced", {s.x({3, 4}, Layout::Sliced), s.x({4, 5}, Layout::Sliced)});
  s.add("expanded", {s.x({3, 4}, Layout::Expanded), s.x({4, 5}, Layout::Expanded)});
  s.add("vector first", {s.x({4}), s.x({4, 5})});
  s.add("vector last", {s.x({3, 4}), s.x({4}, Layout::Sliced)});
  s.add("vectors", {s.x({7}), s.x({7})});
  s.add("batches", {s.x({2, 1, 3, 4}), s.x({3, 4, 2})});
  s.add("batch by matrix", {s.x({2, 3, 4}, Layout::Permuted), s.x({4, 5})});
  s.add("vector by batch", {s.x({4}), s.x({2, 4, 3})});
  s.add("larger", {s.x({33, 70}), s.x({70, 19})});
  s.add("no inner", {s.x({3, 0}), s.x({0, 5})});
  s.add("no rows", {s.x({0, 4}), s.x({4, 5})});
}

void mm(SampleList& s) {
  s.add("matrices", {s.x({3, 4}), s.x({4, 5}, Layout::Permuted)});
  s.add("no inner", {s.x({3, 0}), s.x({0, 5})});
}

void bmm(SampleList& s) {
  s.add("batches", {s.x({2, 3, 4}), s.x({2, 4, 5})});
  s.add("permuted", {s.x({2, 3, 4}, Layout::Permuted), s.x({2, 4, 5}, Layout::Sliced)});
  s.add("no batch", {s.x({0, 3, 4}), s.x({0, 4, 5})});
}

void addmm(SampleList& s) {
  s.add("row", {s.x({5}), s.x({3, 4}), s.x({4, 5})});
  s.add("column", {s.x({3, 1}), s.x({3, 4}, Layout::Permuted), s.x({4, 5})});
  s.add("matrix", {s.x({3, 5}, Layout::Permuted), s.x({3, 4}), s.x({4, 5})});
  s.add("no inner", {s.x({5}), s.x({3, 0}), s.x({0, 5})});
}

void linear(SampleList& s) {
  s.add("matrix", {s.x({3, 4}), s.x({5, 4}), s.x({5})});
  s.add("no bias", {s.x({3, 4}, Layout::Permuted), s.x({5, 4}), kNone});
  s.add("batch", {s.x({2, 3, 4}, Layout::Sliced), s.x({5, 4}, Layout::Permuted), s.x({5}, Layout::Sliced)});
  s.add("vector", {s.x({4}), s.x({5, 4}), s.x({5})});
  s.add("nothing", {s.x({0, 4}), s.x({5, 4}), s.x({5})});
}

void conv2d(SampleList& s) {
  const auto add = [&](const char* what, Tensor x, Tensor w, OwnedArg bias, auto stride, auto padding,
                       OwnedArg dilation = ints({1, 1}), int64_t groups = 1) {
    s.add(what, {x, w, bias, ints(stride), ints(padding), dilation, integer(groups)});
  };
  using List = std::initializer_list<int64_t>;
  const List none = {0, 0}, one = {1, 1};
  add("3x3", s.x({2, 3, 6, 5}), s.x({4, 3, 3, 3}), s.x({4}), one, none);
  add("stride and padding", s.x({2, 3, 6, 5}), s.x({2, 3, 3, 2}), kNone, List{2, 1}, one);
  add("one number", s.x({1, 1, 5, 5}, Layout::Permuted), s.x({2, 1, 2, 2}, Layout::Permuted), s.x({2}), List{2},
      List{1});
  add("1x1", s.x({2, 3, 4, 4}, Layout::Sliced), s.x({5, 3, 1, 1}), kNone, one, none);
  add("no batch", s.x({0, 3, 4, 4}), s.x({5, 3, 1, 1}), s.x({5}), one, none);
  add("dilation", s.x({2, 2, 7, 8}), s.x({3, 2, 3, 2}), s.x({3}), List{1, 2}, List{2, 0}, ints({2, 3}));
  add("groups", s.x({2, 4, 5, 4}), s.x({6, 2, 3, 2}), s.x({6}), one, one, ints({1}), 2);
  add("depthwise", s.x({2, 3, 5, 5}, Layout::Permuted), s.x({3, 1, 3, 3}), kNone, List{2}, List{1}, ints({1, 1}), 3);
  add("1x1 groups", s.x({2, 4, 3, 3}), s.x({2, 2, 1, 1}), kNone, one, none, ints({1, 1}), 2);
}

void conv2d_input_grad(SampleList& s) {
  const OwnedArg one = ints({1, 1});
  s.add("3x3", {s.x({2, 4, 4, 3}), s.x({4, 3, 3, 3}), ints({2, 3, 6, 5}), ints({1, 1}), ints({0, 0}), one, integer(1)});
  s.add("stride and padding",
        {s.x({2, 2, 3, 6}), s.x({2, 3, 3, 2}), ints({2, 3, 6, 5}), ints({2, 1}), ints({1, 1}), one, integer(1)});
  s.add("rows left over", {s.x({1, 2, 2, 2}, Layout::Permuted), s.x({2, 1, 2, 2}), ints({1, 1, 5, 5}), ints({2}),
                           ints({0}), one, integer(1)});
  s.add("dilation", {s.x({2, 3, 7, 3}), s.x({3, 2, 3, 2}), ints({2, 2, 7, 8}), ints({1, 2}), ints({2, 0}), ints({2, 3}),
                     integer(1)});
  s.add("groups",
        {s.x({2, 6, 5, 5}), s.x({6, 2, 3, 2}), ints({2, 4, 5, 4}), ints({1, 1}), ints({1, 1}), one, integer(2)});
  s.add("1x1 groups",
        {s.x({2, 2, 3, 3}), s.x({2, 2, 1, 1}), ints({2, 4, 3, 3}), ints({1, 1}), ints({0, 0}), one, integer(2)});
}

void conv2d_weight_grad(SampleList& s) {
  const OwnedArg one = ints({1, 1});
  s.add("3x3", {s.x({2, 4, 4, 3}), s.x({2, 3, 6, 5}), ints({4, 3, 3, 3}), ints({1, 1}), ints({0, 0}), one, integer(1)});
  s.add("stride and padding",
        {s.x({2, 2, 3, 6}), s.x({2, 3, 6, 5}), ints({2, 3, 3, 2}), ints({2, 1}), ints({1, 1}), one, integer(1)});
  s.add("rows left over", {s.x({1, 2, 2, 2}, Layout::Permuted), s.x({1, 1, 5, 5}), ints({2, 1, 2, 2}), ints({2}),
                           ints({0}), one, integer(1)});
  s.add("dilation", {s.x({2, 3, 7, 3}), s.x({2, 2, 7, 8}), ints({3, 2, 3, 2}), ints({1, 2}), ints({2, 0}), ints({2, 3}),
                     integer(1)});
  s.add("groups",
        {s.x({2, 6, 5, 5}), s.x({2, 4, 5, 4}), ints({6, 2, 3, 2}), ints({1, 1}), ints({1, 1}), one, integer(2)});
}

void max_pool2d(SampleList& s) {
  const OwnedArg one = ints({1, 1});
  s.add("2x2", {s.x({2, 3, 4, 6}), ints({2, 2}), ints({}), ints({0, 0}), one, false});
  s.add("overlapping", {s.x({1, 2, 5, 5}, Layout::Permuted), ints({3}), ints({1}), ints({1}), one, false});
  s.add("stride", {s.x({1, 2, 5, 6}, Layout::Sliced), ints({2, 3}), ints({2, 1}), ints({0, 1}), one, false});
  s.add("no batch", {s.x({0, 2, 4, 4}), ints({2}), ints({}), ints({0, 0}), one, false});
  s.add("dilation", {s.x({1, 2, 7, 8}), ints({3, 2}), ints({1, 2}), ints({2, 1}), ints({2, 3}), false});
  s.add("ceil_mode", {s.x({2, 1, 6, 7}), ints({3, 2}), ints({2, 2}), ints({1, 0}), one, true});
}

void max_pool2d_with_indices(SampleList& s) {
  max_pool2d(s);
  if (!is_float(s.dtype())) s.add("ties", {s.x({1, 2, 6, 6}), ints({3}), ints({2}), ints({1})});
}

void softmax(SampleList& s) {
  s.add("rows", {s.x({3, 7}), integer(1), kNone});
  s.add("columns", {s.x({5, 3}), integer(0), kNone});
  s.add("middle", {s.x({2, 5, 3}, Layout::Permuted), integer(-2), kNone});
  s.add("sliced", {s.x({3, 7}, Layout::Sliced), integer(-1), kNone});
  s.add("single columns", {s.x({2, 37, 1}), integer(1), kNone});
  s.add("0-d", {s.x({}), integer(0), kNone});
  s.add("nothing", {s.x({0, 3}), integer(1), kNone});
  s.add("long", {s.x({2, 600}), integer(1), kNone});
  s.add("dtype", {s.x({3, 4}), integer(1), DType::Float64});
}

void softmax_grad(SampleList& s) {
  s.add("rows", {s.x({3, 7}), s.x({3, 7}, Layout::Contiguous, {-2, 0.4}), integer(1)});
  s.add("columns", {s.x({5, 3}, Layout::Permuted), s.x({5, 3}, Layout::Contiguous, {-2, 0.4}), integer(0)});
  s.add("long", {s.x({2, 300}), s.x({2, 300}, Layout::Contiguous, {-2, 0.4}), integer(-1)});
  s.add("single columns", {s.x({2, 37, 1}), s.x({2, 37, 1}, Layout::Contiguous, {-2, 0.4}), integer(1)});
}

void layer_norm(SampleList& s) {
  s.add("rows", {s.x({4, 6}), ints({6}), s.x({6}), s.x({6}), 1e-5});
  s.add("two dimensions", {s.x({2, 3, 4}), ints({3, 4}), s.x({3, 4}), s.x({3, 4}), 1e-3});
  s.add("no weight", {s.x({4, 6}, Layout::Permuted), ints({6}), kNone, kNone, 1e-5});
  s.add("weight alone", {s.x({4, 6}, Layout::Sliced), ints({6}), s.x({6}), kNone, 1e-5});
  s.add("long", {s.x({2, 700}), ints({700}), s.x({700}), s.x({700}), 1e-5});
  s.add("nothing", {s.x({0, 6}), ints({6}), s.x({6}), s.x({6}), 1e-5});
}

void layer_norm_grad(SampleList& s) {
  SampleNumbers numbers(7);
  DType statistics = s.dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  auto mean = [&](std::vector<int64_t> sizes) { return sample_tensor(sizes, statistics, numbers, {-1, 1}); };
  auto rstd = [&](std::vector<int64_t> sizes) { return sample_tensor(sizes, statistics, numbers, {0.5, 1.5}); };
  s.add("rows", {s.x({4, 6}), s.x({4, 6}), mean({4, 1}), rstd({4, 1}), s.x({6}), ints({6})});
  s.add("no weight", {s.x({4, 6}, Layout::Permuted), s.x({4, 6}), mean({4, 1}), rstd({4, 1}), kNone, ints({6})});
  s.add("two dimensions",
        {s.x({5, 3, 4}), s.x({5, 3, 4}), mean({5, 1, 1}), rstd({5, 1, 1}), s.x({3, 4}), ints({3, 4})});
  s.add("tall", {s.x({70, 3}), s.x({70, 3}), mean({70, 1}), rstd({70, 1}), s.x({3}), ints({3})});
  s.add("one row", {s.x({6}), s.x({6}), mean({1}), rstd({1}), s.x({6}), ints({6})});
}

struct LossOptions {
  const char* what;
  bool weighted;
  const char* reduction;
  double smoothing;
};
constexpr LossOptions kLossOptions[] = {{"mean", false, "mean", 0},
                                        {"sum", false, "sum", 0},
                                        {"none", false, "none", 0},
                                        {"weighted mean", true, "mean", 0},
                                        {"smooth mean", false, "mean", 0.2},
                                        {"weighted smooth", true, "mean", 0.2},
                                        {"weighted smooth sum", true, "sum", 0.1},
                                        {"weighted smooth none", true, "none", 0.3}};

OwnedArg class_weights(SampleList& s, bool weighted, int64_t classes) {
  return weighted ? OwnedArg(s.x({classes}, Layout::Contiguous, {0.5, 2})) : kNone;
}

void cross_entropy_forward(SampleList& s) {
  Tensor targets = tensor_of({4}, DType::Int64, {2, 0, -100, 5});
  for (const LossOptions& o : kLossOptions) {
    s.add(o.what,
          {s.x({4, 6}), targets, class_weights(s, o.weighted, 6), text(o.reduction), integer(-100), o.smoothing});
  }
  s.add("permuted",
        {s.x({5, 3}, Layout::Permuted), s.indices({5}, 3, DType::Int32), kNone, text("mean"), integer(1), 0.0});
  s.add("all ignored", {s.x({2, 3}), tensor_of({2}, DType::Int64, {1, 1}), kNone, text("sum"), integer(1), 0.0});
  s.add("long", {s.x({3, 500}), s.indices({3}, 500), kNone, text("mean"), integer(-100), 0.0});
}

void cross_entropy_grad(SampleList& s) {
  Tensor targets = tensor_of({4}, DType::Int64, {2, 0, -100, 5});
  for (const LossOptions& o : kLossOptions) {
    Tensor grad = std::string_view(o.reduction) == "none" ? s.x({4}) : s.x({});
    s.add(o.what,
          {grad, s.x({4, 6}), targets, class_weights(s, o.weighted, 6), text(o.reduction), integer(-100), o.smoothing});
  }
}

void cross_entropy(SampleList& s) {
  cross_entropy_forward(s);
  s.add("one row", {s.x({5}), s.indices({}, 5), kNone, text("mean"), integer(-100), 0.0});
  s.add("one row", {s.x({5}), s.indices({}, 5), kNone, text("none"), integer(-100), 0.1});
  s.add("plane", {s.x({2, 3, 4}), s.indices({2, 4}, 3), class_weights(s, true, 3), text("mean"), integer(-100), 0.0});
  s.add("plane", {s.x({2, 3, 2, 2}, Layout::Permuted), s.indices({2, 2, 2}, 3), kNone, text("none"), integer(1), 0.0});
}

void gelu(SampleList& s) {
  for (const char* form : {"none", "tanh"}) s.add(form, {s.x({3, 7}, Layout::Permuted), text(form)});
}

void mse_loss(SampleList& s) {
  for (const char* how : {"mean", "sum", "none"}) s.add(how, {s.x({3, 7}), s.x({3, 7}, Layout::Permuted), text(how)});
}

using List = std::vector<Tensor>;

List parameters(SampleList& s, Elements e = {}) {
  return {s.x({3, 5}, Layout::Contiguous, e), s.x({7}, Layout::Contiguous, e), s.x({}, Layout::Contiguous, e), s.x({0}),
          s.x({70}, Layout::Contiguous, e)};
}

void sgd_step(SampleList& s) {
  auto step = [&](const char* what, bool buffers, int64_t count, double momentum, double dampening, double decay,
                  bool nesterov, bool maximize) {
    s.add(what, {parameters(s), parameters(s), buffers ? parameters(s) : List{}, number(0.1),
                 number(static_cast<double>(count)), momentum, dampening, decay, nesterov, maximize});
  };
  step("plain", false, 1, 0, 0, 0, false, false);
  step("decay", false, 3, 0, 0, 0.1, false, true);
  step("first", true, 1, 0.9, 0.5, 0, false, false);
  step("momentum", true, 2, 0.9, 0.5, 0.01, false, false);
  step("nesterov", true, 5, 0.8, 0, 0, true, true);
}

void adam_step(SampleList& s) {
  auto step = [&](const char* what, double count, double decay, bool decoupled, bool maximize) {
    s.add(what, {parameters(s), parameters(s), parameters(s), parameters(s, {0.5, 2}), number(0.1), number(count),
                 number(0.9), number(0.99), 1e-8, decay, decoupled, maximize});
  };
  step("first", 1, 0, false, false);
  step("decay", 3, 0.1, false, false);
  step("decoupled", 10, 0.1, true, true);
}

void clip_grad_norm(SampleList& s) {
  s.add("shrinks", {parameters(s), 2.0, 2.0});
  s.add("leaves", {parameters(s), 1e3, 2.0});
  s.add("sum", {parameters(s), 5.0, 1.0});
  s.add("largest", {parameters(s), 1.0, std::numeric_limits<double>::infinity()});
}

}  // namespace

std::vector<SamplerRow> network_samplers() {
  return {{"matmul", matmul},
          {"matmul_wide", matmul},
          {"mm", mm},
          {"bmm", bmm},
          {"addmm", addmm},
          {"linear", linear},
          {"conv2d", conv2d},
          {"conv2d_input_grad", conv2d_input_grad},
          {"conv2d_weight_grad", conv2d_weight_grad},
          {"max_pool2d_with_indices", max_pool2d_with_indices},
          {"max_pool2d", max_pool2d},
          {"softmax", softmax},
          {"log_softmax", softmax},
          {"softmax_grad", softmax_grad},
          {"log_softmax_grad", softmax_grad},
          {"layer_norm_forward", layer_norm},
          {"layer_norm", layer_norm},
          {"layer_norm_grad", layer_norm_grad},
          {"cross_entropy_forward", cross_entropy_forward},
          {"cross_entropy_grad", cross_entropy_grad},
          {"cross_entropy", cross_entropy},
          {"gelu", gelu},
          {"mse_loss", mse_loss},
          {"sgd_step", sgd_step},
          {"adam_step", adam_step},
          {"clip_grad_norm", clip_grad_norm}};
}

}  // namespace fuselet::testing
