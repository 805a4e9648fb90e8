// Shape rules of matrix products, convolutions and pooling.
#include "core/ops/functions.h"
#include "core/ops/shape_rule.h"
#include "core/ops/window.h"

namespace fuselet {

WindowSpec window_of(DimsView kernel, DimsView stride, DimsView padding, DimsView dilation, const char* op) {
  auto pair = [&](DimsView v, const char* what) {
    FUSELET_CHECK(v.size() == 1 || v.size() == 2, op, ": ", what, " must have one or two numbers, got ", to_string(v));
    return std::array<int64_t, 2>{v[0].concrete(), v.back().concrete()};
  };
  WindowSpec w;
  w.kernel = pair(kernel, "kernel_size");
  w.stride = stride.empty() ? w.kernel : pair(stride, "stride");
  w.padding = pair(padding, "padding");
  w.dilation = pair(dilation, "dilation");
  for (int i : {0, 1}) {
    size_t k = static_cast<size_t>(i);
    FUSELET_CHECK(w.kernel[k] > 0 && w.stride[k] > 0 && w.padding[k] >= 0 && w.dilation[k] > 0, op,
                  ": kernel, stride and dilation must be positive and padding not negative");
  }
  return w;
}

SymInt WindowSpec::out_size(SymInt in, int axis, const char* op) const {
  size_t k = static_cast<size_t>(axis);
  SymInt room = in + 2 * padding[k] - reach(k);
  FUSELET_CHECK(room >= 0, op, ": a window of ", reach(k), " does not fit into ", to_string(in), " elements padded by ",
                padding[k]);
  if (!ceil_mode) return room / stride[k] + 1;
  SymInt count = (room + stride[k] - 1) / stride[k] + 1;
  return (count - 1) * stride[k] >= in + padding[k] ? count - 1 : count;
}

namespace shape {
namespace {

[[noreturn]] void fail_inner(const Call& call, const Tensor& a, const Tensor& b) {
  fail(call.op->name, ": shapes ", to_string(a.sizes()), " and ", to_string(b.sizes()),
       " cannot be multiplied: the inner sizes differ");
}

}  // namespace

void matmul(const Call& call, TensorMeta* out) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  check_same_dtype(call, a, b);
  FUSELET_CHECK(a.dim() > 0 && b.dim() > 0, "matmul: expected tensors of at least one dimension, got ",
                to_string(a.sizes()), " and ", to_string(b.sizes()));
  size_t ra = a.sizes().size(), rb = b.sizes().size();
  SymInt inner_b = rb == 1 ? b.sizes()[0] : b.sizes()[rb - 2];
  if (a.sizes().back() != inner_b) fail_inner(call, a, b);
  Dims sizes = broadcast_sizes(a.sizes().first(ra > 2 ? ra - 2 : 0), b.sizes().first(rb > 2 ? rb - 2 : 0), "matmul");
  if (ra > 1) sizes.push_back(a.sizes()[ra - 2]);
  if (rb > 1) sizes.push_back(b.sizes()[rb - 1]);
  set_dense(out, std::move(sizes), a.dtype());
}

void matmul_wide(const Call& call, TensorMeta* out) {
  matmul(call, out);
  FUSELET_CHECK(is_float(out->dtype) && size_of(out->dtype) == 2, "matmul_wide: expected 16-bit floats, got ",
                name_of(out->dtype));
  out->dtype = DType::Float32;
}

void addmm(const Call& call, TensorMeta* out) {
  const Tensor &self = call.tensor(0), &a = call.tensor(1), &b = call.tensor(2);
  FUSELET_CHECK(a.dim() == 2 && b.dim() == 2, "addmm: expected matrices, got ", to_string(a.sizes()), " and ",
                to_string(b.sizes()));
  check_same_dtype(call, a, b);
  check_same_dtype(call, self, a);
  if (a.sizes()[1] != b.sizes()[0]) fail_inner(call, a, b);
  Dims sizes = {a.sizes()[0], b.sizes()[1]};
  FUSELET_CHECK(same_sizes(broadcast_sizes(sizes, self.sizes(), "addmm"), sizes), "addmm: self of shape ",
                to_string(self.sizes()), " does not broadcast to ", to_string(sizes));
  set_dense(out, std::move(sizes), a.dtype());
}

void linear(const Call& call, TensorMeta* out) {
  const Tensor &x = call.tensor(0), &w = call.tensor(1);
  check_same_dtype(call, x, w);
  FUSELET_CHECK(w.dim() == 2 && x.dim() >= 1, "linear: expected input (…, I) and weight (O, I), got ",
                to_string(x.sizes()), " and ", to_string(w.sizes()));
  FUSELET_CHECK(x.sizes().back() == w.sizes()[1], "linear: input of shape ", to_string(x.sizes()), " has ",
                to_string(x.sizes().back()), " features, weight of shape ", to_string(w.sizes()), " expects ",
                to_string(w.sizes()[1]));
  if (call.has(2)) {
    check_same_dtype(call, x, call.tensor(2));
    FUSELET_CHECK(call.tensor(2).dim() == 1 && call.tensor(2).sizes()[0] == w.sizes()[0],
                  "linear: bias must have shape [", to_string(w.sizes()[0]), "], got ",
                  to_string(call.tensor(2).sizes()));
  }
  Dims sizes(x.sizes());
  sizes.back() = w.sizes()[0];
  set_dense(out, std::move(sizes), x.dtype());
}

void conv2d(const Call& call, TensorMeta* out) {
  const Tensor &x = call.tensor(0), &w = call.tensor(1);
  check_same_dtype(call, x, w);
  FUSELET_CHECK(x.dim() == 4 && w.dim() == 4,
                "conv2d: expected input (N, C, H, W) and weight (O, C/groups, KH, KW), got ", to_string(x.sizes()),
                " and ", to_string(w.sizes()));
  const int64_t groups = call.integer(6);
  FUSELET_CHECK(groups > 0 && w.sizes()[0] % groups == 0, "conv2d: ", to_string(w.sizes()[0]),
                " outputs do not fall into ", groups, " groups");
  FUSELET_CHECK(x.sizes()[1] == w.sizes()[1] * groups, "conv2d: input of shape ", to_string(x.sizes()), " has ",
                to_string(x.sizes()[1]), " channels, weight of shape ", to_string(w.sizes()), " expects ",
                to_string(w.sizes()[1] * groups));
  if (call.has(2)) {
    check_same_dtype(call, x, call.tensor(2));
    FUSELET_CHECK(call.tensor(2).dim() == 1 && call.tensor(2).sizes()[0] == w.sizes()[0],
                  "conv2d: bias must have shape [", to_string(w.sizes()[0]), "], got ",
                  to_string(call.tensor(2).sizes()));
  }
  WindowSpec window = window_of(w.sizes().subspan(2), call.ints(3), call.ints(4), call.ints(5), "conv2d");
  set_dense(out,
            {x.sizes()[0], w.sizes()[0], window.out_size(x.sizes()[2], 0, "conv2d"),
             window.out_size(x.sizes()[3], 1, "conv2d")},
            x.dtype());
}

namespace {

// Error unless conv2d of `input` and `weight` (sizes) has the shape of the gradient, the call's first argument.
void check_conv2d_grad(const Call& call, DimsView input, DimsView weight) {
  const DimsView grad = call.tensor(0).sizes();
  FUSELET_CHECK(grad.size() == 4 && input.size() == 4 && weight.size() == 4, call.op->name,
                ": expected four dimensions each, got ", to_string(grad), ", ", to_string(input), " and ",
                to_string(weight));
  const int64_t groups = call.integer(6);
  const WindowSpec window = window_of(weight.subspan(2), call.ints(3), call.ints(4), call.ints(5), call.op->name);
  const Dims expected = {input[0], weight[0], window.out_size(input[2], 0, call.op->name),
                         window.out_size(input[3], 1, call.op->name)};
  FUSELET_CHECK(groups > 0 && weight[0] % groups == 0 && input[1] == weight[1] * groups && same_sizes(grad, expected),
                call.op->name, ": input of shape ", to_string(input), " and weight of shape ", to_string(weight),
                " in ", groups, " groups give ", to_string(expected), ", not ", to_string(grad));
}

}  // namespace

void conv2d_input_grad(const Call& call, TensorMeta* out) {
  check_conv2d_grad(call, call.ints(2), call.tensor(1).sizes());
  set_dense(out, Dims(call.ints(2)), call.tensor(0).dtype());
}
void conv2d_weight_grad(const Call& call, TensorMeta* out) {
  check_conv2d_grad(call, call.tensor(1).sizes(), call.ints(2));
  set_dense(out, Dims(call.ints(2)), call.tensor(0).dtype());
}

void max_pool2d_with_indices(const Call& call, TensorMeta* out) {
  const Tensor& x = call.tensor(0);
  FUSELET_CHECK(x.dim() == 4, "max_pool2d: expected (N, C, H, W), got ", to_string(x.sizes()));
  WindowSpec window = window_of(call.ints(1), call.ints(2), call.ints(3), call.ints(4), "max_pool2d");
  window.ceil_mode = call.flag(5);
  for (size_t i : {0, 1}) {
    FUSELET_CHECK(2 * window.padding[i] <= window.reach(i), "max_pool2d: padding must be at most half of the window");
    FUSELET_CHECK(window.padding[i] == 0 || window.dilation[i] == 1 || x.sizes()[i + 2] >= window.dilation[i],
                  "max_pool2d: a dilated window would miss every one of ", to_string(x.sizes()[i + 2]), " elements");
  }
  Dims sizes = {x.sizes()[0], x.sizes()[1], window.out_size(x.sizes()[2], 0, "max_pool2d"),
                window.out_size(x.sizes()[3], 1, "max_pool2d")};
  set_dense(&out[1], sizes, DType::Int64);
  set_dense(&out[0], std::move(sizes), x.dtype());
}

}  // namespace shape
}  // namespace fuselet
