#include "core/dispatch.h"

#include <utility>

#include "core/copy_across.h"

namespace fuselet {
namespace {

void run_on_backend(Call& call);

template <Layer kLayer>
void pass_through(Call& call) {
  dispatch_below(kLayer, call);
}

// A layer that nobody has registered hands every call on.
LayerFunction g_layers[kNumLayers] = {pass_through<Layer::Match>,    pass_through<Layer::Autocast>,
                                      pass_through<Layer::Autograd>, pass_through<Layer::Functionalise>,
                                      pass_through<Layer::Trace>,    run_on_backend};
const Kernel* g_kernels[kNumDeviceTypes] = {};
Runner g_runners[kNumDeviceTypes] = {};

constexpr uint8_t bit(Layer layer) { return static_cast<uint8_t>(1u << static_cast<int>(layer)); }
constexpr uint8_t kAlwaysOn = bit(Layer::Autograd) | bit(Layer::Backend);

// Match compares calls as the user made them, so it sees none of those that a composite makes.
void unfold(Call& call) {
  LayerGuard outside_match(Layer::Match, false);
  call.op->composite(call);
}

void enter(int first, Call& call) {
  unsigned active = static_cast<unsigned>(dispatch_state().layers | kAlwaysOn) >> first << first;
  int layer = __builtin_ctz(active);
  if (call.op->composite && layer > static_cast<int>(Layer::Autocast)) return unfold(call);
  g_layers[layer](call);
}

[[gnu::cold, noreturn]] void fail_devices(const Call& call, Device a, Device b) {
  fail(call.op->name, ": all tensors must be on one device, got ", to_string(a), " and ", to_string(b),
       "; move one with .to()");
}

Tensor make_empty(const Call& call, const TensorMeta& meta) {
  size_t bytes;
  FUSELET_CHECK(
      !__builtin_mul_overflow(static_cast<size_t>(numel_of(meta.sizes).concrete()), size_of(meta.dtype), &bytes) &&
          bytes < size_t{1} << 62,
      call.op->name, ": a result of shape ", to_string(meta.sizes), " has too many bytes for any memory");
  return Tensor(
      make_intrusive<TensorImpl>(make_intrusive<Storage>(bytes, meta.device), meta.sizes, meta.strides, 0, meta.dtype));
}

constexpr int kInlineOutputs = 4;

// transfer(self, device, non_blocking) or copy(self, source).
void copy_between_devices(const Call& call) {
  const bool is_transfer = call.op->id == OpId::transfer;
  copy_across(call.outs[0], call.tensor(is_transfer ? 0 : 1), is_transfer && call.flag(2));
}

void run_with_metas(Call& call, TensorMeta* metas) {
  call.op->shape(call, metas);
  if (call.op->kind == OpKind::View) {
    call.outs[0] = make_view(call, metas[0]);
    return;
  }
  const Device device = device_of(call), result_device = result_device_of(call);
  const bool crosses = crosses_devices(call);
  for (int i = 0; i < call.num_outs; ++i) {
    metas[i].device = result_device;
    if (call.in_place && call.outs[i].defined()) check_writable(call, call.outs[i], metas[i]);
  }
  Runner run = crosses ? nullptr : g_runners[static_cast<int>(device.type)];
  if (!run || !run(call, device, metas)) {
    const Kernel kernel = crosses ? copy_between_devices : kernel_of(*call.op, device.type);
    for (int i = 0; i < call.num_outs; ++i) {
      if (!call.in_place || !call.outs[i].defined()) call.outs[i] = make_empty(call, metas[i]);
    }
    kernel(call);
    if (call.in_place) {
      for (const Tensor& t : mutated_tensors(call)) t.impl()->storage()->bump_version();
    }
  }
}

void run_on_backend(Call& call) {
  for_each_tensor(call, [&](const Tensor& t) {
    FUSELET_CHECK(!t.impl()->is_deferred(), call.op->name, ": a value of a recording is used outside that recording");
  });
  if (call.num_outs <= kInlineOutputs) {
    TensorMeta metas[kInlineOutputs];
    run_with_metas(call, metas);
  } else {
    std::vector<TensorMeta> metas(static_cast<size_t>(call.num_outs));
    run_with_metas(call, metas.data());
  }
}

}  // namespace

const char* name_of(Layer layer) {
  constexpr const char* kNames[kNumLayers] = {"match", "autocast", "autograd", "functionalise", "trace", "backend"};
  return kNames[static_cast<int>(layer)];
}

const char* reason_not_writable(const Tensor& target) {
  if (target.impl()->storage()->is_read_only()) return "the tensor is read-only memory of another library";
  if (!target.is_contiguous() && has_overlap(target.sizes(), target.strides()))
    return "several elements of the written tensor share one memory cell (an expanded dimension); clone() it first";
  return nullptr;
}

void check_writable(const Call& call, const Tensor& target, const TensorMeta& meta) {
  FUSELET_CHECK(same_sizes(target.sizes(), meta.sizes), call.op->name, "_: the result has shape ",
                to_string(meta.sizes), " but the tensor to be written has shape ", to_string(target.sizes()));
  FUSELET_CHECK(category_of(meta.dtype) <= category_of(target.dtype()), call.op->name, "_: a result of dtype ",
                name_of(meta.dtype), " cannot be written into a tensor of dtype ", name_of(target.dtype()));
  const char* reason = reason_not_writable(target);
  FUSELET_CHECK(!reason, call.op->name, "_: ", reason);
}

Tensor make_view(const Call& call, const TensorMeta& meta) {
  TensorImpl* base = call.tensor(0).impl();
  return Tensor(make_intrusive<TensorImpl>(base->storage(), meta.sizes, meta.strides, meta.offset, meta.dtype));
}

LayerFunction register_layer(Layer layer, LayerFunction run) {
  return std::exchange(g_layers[static_cast<int>(layer)], run);
}

void dispatch(Call& call) {
  LineScope scope(call.line);
  enter(0, call);
}

void dispatch_below(Layer layer, Call& call) { enter(static_cast<int>(layer) + 1, call); }

void register_kernels(DeviceType device, const Kernel* by_op) { g_kernels[static_cast<int>(device)] = by_op; }

void register_runner(DeviceType device, Runner run) { g_runners[static_cast<int>(device)] = run; }

Kernel kernel_of(const Op& op, DeviceType device) {
  const Kernel* kernels = g_kernels[static_cast<int>(device)];
  FUSELET_CHECK(kernels, op.name, ": no backend of this build serves the device '", to_string(Device{device}), "'");
  Kernel kernel = kernels[static_cast<int>(op.id)];
  FUSELET_INTERNAL_CHECK(kernel, concat("operator ", op.name, " has no kernel on ", to_string(Device{device})));
  return kernel;
}

Device device_of(const Call& call) {
  if (call.op->crosses_devices) return call.tensor(0).device();
  Device device;
  bool found = false, weak = false;
  for_each_tensor(call, [&](const Tensor& t) {
    Device d = t.device();
    bool is_weak = t.dim() == 0 && d.type == DeviceType::CPU;
    if (!found || (weak && !is_weak)) {
      device = d;
      weak = is_weak;
      found = true;
    } else if (!is_weak && d != device) {
      fail_devices(call, device, d);
    }
  });
  if (found) return device;
  for (int i = 0; i < call.num_args; ++i) {
    if (call.args[i].tag == Arg::Tag::Device) return call.args[i].device;
  }
  return dispatch_state().default_device;
}

Device result_device_of(const Call& call) {
  if (call.op->crosses_devices) {
    for (int i = 0; i < call.num_args; ++i) {
      if (call.args[i].tag == Arg::Tag::Device) return call.args[i].device;
    }
  }
  return device_of(call);
}

bool crosses_devices(const Call& call) {
  if (!call.op->crosses_devices) return false;
  const Device result = result_device_of(call);
  bool crosses = false;
  for_each_tensor(call, [&](const Tensor& t) { crosses |= t.device() != result; });
  return crosses;
}

std::vector<Tensor> call_operator(const Op& op, std::span<Arg> args, bool in_place, const Location& line) {
  Call call{&op, args.data(), static_cast<int>(args.size()), nullptr, 0, in_place, &line};
  call.num_outs = count_outputs(call);
  std::vector<Tensor> outs(static_cast<size_t>(call.num_outs));
  if (in_place) {
    std::vector<Tensor> targets = mutated_tensors(call);
    std::copy(targets.begin(), targets.end(), outs.begin());
  }
  call.outs = outs.data();
  dispatch(call);
  if (call.outs != outs.data()) outs.assign(call.outs, call.outs + call.num_outs);
  return outs;
}

}  // namespace fuselet
