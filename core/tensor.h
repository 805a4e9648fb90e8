// Tensor: a handle of one word on a TensorImpl. Copies share the tensor; an empty handle is "undefined".
//
// The operator methods (x.relu(), x.sum({0}), x.add_(y) …) are generated from the operator table; core/ops/functions.h
// has their bodies and the free functions. fuselet/fuselet.h brings everything.
#pragma once
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "core/args.h"
#include "core/error.h"
#include "core/tensor_impl.h"

namespace fuselet {

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorImplPtr impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  const TensorImplPtr& ptr() const { return impl_; }
  // The same tensor, not merely equal elements.
  bool is_same(const Tensor& o) const { return impl_ == o.impl_; }

  DimsView sizes() const { return impl_->sizes(); }
  DimsView strides() const { return impl_->strides(); }
  // Size of a dimension; negative counts from the end. IndexError outside the rank.
  int64_t size(int64_t dim) const;
  int64_t dim() const { return static_cast<int64_t>(impl_->sizes().size()); }
  int64_t numel() const { return impl_->numel().concrete(); }
  DType dtype() const { return impl_->dtype(); }
  Device device() const { return impl_->device(); }
  bool is_contiguous() const { return impl_->is_contiguous(); }

  // The one element of a one-element tensor; Error otherwise, and while a recording runs.
  double item() const;
  int64_t item_int() const;
  // Address of the first element; Error if T is not the element type, or if the elements are not in host memory.
  template <class T>
  T* data() const {
    check_element_type(sizeof(T), std::is_floating_point_v<T>);
    return static_cast<T*>(raw_data());
  }
  // Address of the first element, in memory of the tensor's device.
  void* raw_data() const;
  // All elements in row-major order, converted.
  std::vector<double> to_vector() const;

  // --- autograd -------------------------------------------------------------------------------------------------
  bool requires_grad() const {
    const AutogradMeta* a = impl_->autograd();
    return a && (a->requires_grad || a->grad_fn || (a->view_base && view_has_history()));
  }
  bool is_leaf() const {
    const AutogradMeta* a = impl_->autograd();
    return !a || !(a->grad_fn || (a->view_base && view_has_history()));
  }
  // Error unless this is a leaf of floating dtype.
  Tensor& requires_grad_(bool on = true);
  // The accumulated gradient; undefined before backward.
  Tensor grad() const;
  void set_grad(Tensor grad);
  // Runs backward from this tensor. `gradient` may be left out for a tensor of one element.
  void backward(const Tensor& gradient = {}, bool retain_graph = false, bool create_graph = false,
                Location line = Location::current()) const;
  // Calls `hook` with the gradient of this tensor when it is computed; the returned id removes it.
  int64_t register_hook(TensorHook hook) const;
  void remove_hook(int64_t id) const;
  void retain_grad() const;
  uint32_t version() const { return impl_->storage()->version(); }

  // The same memory outside the graph: writes are seen by both, gradients by neither.
  Tensor detach() const;
  // The elements converted to `dtype`; the tensor itself if it has that dtype already.
  Tensor to(DType dtype) const;
  // The elements on another device; the tensor itself if it is there. Gradients come back the same way. With
  // non_blocking, a copy from or to pinned memory may still run when the call returns.
  Tensor to(Device device, bool non_blocking = false) const;
  Tensor cpu() const { return to(Device{}); }
  // The thread's current CUDA device.
  Tensor cuda() const;
  bool is_cuda() const { return device().type == DeviceType::CUDA; }

  Tensor operator-() const;
  Tensor& operator+=(const Operand& other);
  Tensor& operator-=(const Operand& other);
  Tensor& operator*=(const Operand& other);
  Tensor& operator/=(const Operand& other);
  // The i-th entry of the first dimension, as a view.
  Tensor operator[](int64_t i) const;

#include "core/ops/tensor_methods.inc"

 private:
  // A view whose base was written since it was made takes its place on the tape first.
  bool view_has_history() const;
  void check_element_type(size_t size, bool floating) const;
  TensorImplPtr impl_;
};

inline TensorList::TensorList(std::span<const Tensor> v) : data_(v.data()), size_(v.size()) {}
inline std::span<const Tensor> TensorList::view() const { return {data_, size_}; }

// Elements (up to a few hundred), dtype and, where it is not the default, device; as Python's repr.
std::string to_string(const Tensor& t);
std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace fuselet
