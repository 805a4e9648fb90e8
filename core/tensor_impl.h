// What a Tensor handle points at: geometry over a storage, autograd state, and the slots that frontends and a running
// recording use.
//
// Entry: sizes and strides have the same rank; every reachable offset lies inside the storage (a deferred storage has
// none yet). A view shares the storage, hence memory and version counter.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "core/dtype.h"
#include "core/intrusive_ptr.h"
#include "core/shape.h"
#include "core/storage.h"

namespace fuselet {

class TensorImpl;
using TensorImplPtr = IntrusivePtr<TensorImpl>;
class Tensor;

// A node of the backward tape; autograd/grad_node.h gives it a body.
class GradNodeBase : public RefCounted {};

// A hook sees the gradient of a tensor and may return another one (an undefined tensor keeps it).
using TensorHook = std::function<Tensor(const Tensor&)>;
// A hook that a node of the tape runs. Removal marks it, so that it can be removed while it runs, and through a tensor
// that has moved on to another node.
struct NodeHook {
  TensorHook run;
  std::atomic<bool> removed = false;
  // Instead of `run`: where retain_grad() wants the gradient, once the whole walk has succeeded.
  std::shared_ptr<TensorImplPtr> retained = nullptr;
};
struct HookList {
  std::vector<std::pair<int64_t, TensorHook>> hooks;                        // of a leaf
  std::vector<std::pair<int64_t, std::weak_ptr<NodeHook>>> hooks_on_nodes;  // of a tensor with history
  int64_t next_id = 0;
};

struct AutogradMeta {
  bool requires_grad = false;
  std::shared_ptr<TensorImplPtr> retained;  // of a tensor with history, after retain_grad()
  uint32_t output_index = 0;
  IntrusivePtr<GradNodeBase> grad_fn;
  TensorImplPtr grad;
  // A view made while gradients are recorded: the tensor that it is a view of, and the base's tape position when this
  // view's own grad_fn was last made; see Note [In-place on views] in autograd/view.h.
  TensorImplPtr view_base;
  uint32_t view_generation = 0;
  uint32_t base_generation = 0;
  std::shared_ptr<HookList> hooks;
};

// A value of a running recording.
struct DeferredSlot {
  // Which recording `value` belongs to; numbers are never used again.
  uint64_t recording = 0;
  int32_t value = -1;
  // The value generation of the storage at which `value` was right; behind it, the view is taken again.
  uint32_t generation = 0;
};

// Called when the last C++ reference to an impl that owns its Python object goes away.
using PyReleaseHook = void (*)(void* object);
void set_py_release_hook(PyReleaseHook hook);

class TensorImpl final : public RefCounted {
 public:
  TensorImpl(StoragePtr storage, Dims sizes, Dims strides, SymInt offset, DType dtype);
  ~TensorImpl() override;

  const StoragePtr& storage() const { return storage_; }
  DimsView sizes() const { return sizes_; }
  DimsView strides() const { return strides_; }
  SymInt offset() const { return offset_; }
  SymInt numel() const { return numel_; }
  DType dtype() const { return dtype_; }
  Device device() const { return storage_->device(); }
  bool is_contiguous() const { return contiguous_; }
  bool is_deferred() const { return storage_->is_deferred(); }
  void* data() const {
    return static_cast<char*>(storage_->data()) + offset_.word() * static_cast<int64_t>(size_of(dtype_));
  }

  AutogradMeta* autograd() const { return autograd_.get(); }
  AutogradMeta& make_autograd() {
    if (!autograd_) autograd_ = std::make_unique<AutogradMeta>();
    return *autograd_;
  }
  DeferredSlot& deferred() { return deferred_; }

  // Replaces geometry and storage, not identity: `set_data`, and handles of a recording becoming ordinary tensors.
  void set_data(StoragePtr storage, Dims sizes, Dims strides, SymInt offset, DType dtype);

  // The Python object of this tensor; borrowed, unless `owns_py_object`.
  void* py_object = nullptr;
  bool owns_py_object = false;

 private:
  StoragePtr storage_;
  Dims sizes_, strides_;
  SymInt offset_, numel_;
  DType dtype_;
  bool contiguous_;
  DeferredSlot deferred_;
  std::unique_ptr<AutogradMeta> autograd_;
};

}  // namespace fuselet
