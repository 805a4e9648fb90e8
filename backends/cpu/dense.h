// Tensors of any layout and dtype as dense row-major arrays of a compute type: where a tensor lies so already, the
// array is its own memory; else it is a converted copy.
#pragma once
#include "backends/cpu/compute_type.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/scratch.h"
#include "core/op.h"

namespace fuselet::cpu {

template <class T>
bool lies_dense(const TensorImpl& t) {
  return t.is_contiguous() && t.dtype() == storage_of(kComputeType<T>);
}

template <class T>
class DenseIn {
 public:
  DenseIn() = default;  // of a tensor that is missing: data() is nullptr
  // `apart`: a copy in any case, for a tensor that is overwritten before all of it has been read.
  explicit DenseIn(const Tensor& t, bool apart = false) {
    const TensorImpl& impl = *t.impl();
    if (lies_dense<T>(impl) && !apart) {
      data_ = static_cast<const T*>(impl.data());
    } else {
      copy_ = Scratch(static_cast<size_t>(impl.numel().word()) * sizeof(T));
      gather_into(impl, copy_.data(), storage_of(kComputeType<T>));
      data_ = copy_.as<T>();
    }
  }
  const T* data() const { return data_; }

 private:
  Scratch copy_;
  const T* data_ = nullptr;
};

template <class T>
DenseIn<T> optional_in(const Call& call, int arg) {
  return call.has(arg) ? DenseIn<T>(call.tensor(arg)) : DenseIn<T>();
}

// Written through data(); finish() converts what was written, by the cast rule, where it is not there yet.
template <class T>
class DenseOut {
 public:
  explicit DenseOut(const Tensor& t) : target_(t) {
    const TensorImpl& impl = *t.impl();
    if (lies_dense<T>(impl)) {
      data_ = static_cast<T*>(impl.data());
    } else {
      copy_ = Scratch(static_cast<size_t>(impl.numel().word()) * sizeof(T));
      data_ = copy_.as<T>();
    }
  }
  T* data() const { return data_; }
  void finish() {
    if (copy_.data()) scatter_from(copy_.data(), storage_of(kComputeType<T>), *target_.impl());
  }

 private:
  const Tensor& target_;
  Scratch copy_;
  T* data_;
};

}  // namespace fuselet::cpu
