// A call passes the layers that are switched on, outermost first:
//   match -> autocast -> autograd -> functionalise -> trace -> backend
// A layer does its part and hands the call on with `dispatch_below`. Composite operators unfold after autocast.
#pragma once
#include "core/dispatch_state.h"
#include "core/op.h"

namespace fuselet {

enum class Layer : uint8_t { Match, Autocast, Autograd, Functionalise, Trace, Backend };
inline constexpr int kNumLayers = 6;
const char* name_of(Layer layer);

using LayerFunction = void (*)(Call&);
// Returns the layer's function until now; at first one that hands every call on.
LayerFunction register_layer(Layer layer, LayerFunction run);

// Enters at the outermost layer. `call.outs` are filled in; on an exception nothing has been written.
void dispatch(Call& call);
// Enters at the first active layer below `layer`.
void dispatch_below(Layer layer, Call& call);

// Switches a layer on or off for this thread and scope. Autograd and backend are always on.
class LayerGuard {
 public:
  LayerGuard(Layer layer, bool on) : saved_(dispatch_state().layers) {
    uint8_t bit = static_cast<uint8_t>(1u << static_cast<int>(layer));
    dispatch_state().layers = on ? saved_ | bit : saved_ & static_cast<uint8_t>(~bit);
  }
  ~LayerGuard() { dispatch_state().layers = saved_; }
  LayerGuard(const LayerGuard&) = delete;

 private:
  uint8_t saved_;
};

// A backend's kernel reads `call.args` and fills the storage of `call.outs`, which may be the mutated arguments.
using Kernel = void (*)(const Call&);
void register_kernels(DeviceType device, const Kernel* by_op);
Kernel kernel_of(const Op& op, DeviceType device);

// Runs a whole call whose outputs are described: makes them, or fills those of an in-place call and bumps their
// versions. Returns false, and has done nothing, where the operator's kernel is to run on outputs that dispatch has
// made.
using Runner = bool (*)(Call&, Device, const TensorMeta*);
void register_runner(DeviceType device, Runner run);

// Why no result may be written into `target`: its memory is read-only, or two elements are in one memory cell. nullptr
// if one may.
const char* reason_not_writable(const Tensor& target);
// Error unless a result described by `meta` may be written into `target`: shape, category of dtype, memory.
void check_writable(const Call& call, const Tensor& target, const TensorMeta& meta);
// A new tensor over the storage of the call's first argument.
Tensor make_view(const Call& call, const TensorMeta& meta);

// The device that a call runs on: of its tensors (which must agree; 0-d CPU tensors may join any; of an operator that
// crosses devices the first one's), else its argument of type Device, else the default device.
Device device_of(const Call& call);
// The device that its results lie on: the same, unless the operator crosses devices.
Device result_device_of(const Call& call);
// True iff the call copies between devices; then copy_across (core/copy_across.h) runs it, no kernel.
bool crosses_devices(const Call& call);

// The boxed entry for frontends: any operator by its row; outputs are sized by count_outputs. With `in_place`, returns
// the mutated tensors first.
std::vector<Tensor> call_operator(const Op& op, std::span<Arg> args, bool in_place, const Location& line);

}  // namespace fuselet
