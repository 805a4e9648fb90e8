#include "core/tensor_impl.h"

#include <atomic>

#include "core/tensor.h"

namespace fuselet {
namespace {

std::atomic<PyReleaseHook> g_py_release_hook{nullptr};

}  // namespace

void set_py_release_hook(PyReleaseHook hook) { g_py_release_hook = hook; }

TensorImpl::TensorImpl(StoragePtr storage, Dims sizes, Dims strides, SymInt offset, DType dtype)
    : storage_(std::move(storage)),
      sizes_(std::move(sizes)),
      strides_(std::move(strides)),
      offset_(offset),
      numel_(numel_of(sizes_)),
      dtype_(dtype),
      contiguous_(fuselet::is_contiguous(sizes_, strides_)) {}

TensorImpl::~TensorImpl() {
  if (owns_py_object) {
    if (PyReleaseHook hook = g_py_release_hook.load()) hook(py_object);
  }
}

void TensorImpl::set_data(StoragePtr storage, Dims sizes, Dims strides, SymInt offset, DType dtype) {
  storage_ = std::move(storage);
  sizes_ = std::move(sizes);
  strides_ = std::move(strides);
  offset_ = offset;
  numel_ = numel_of(sizes_);
  dtype_ = dtype;
  contiguous_ = fuselet::is_contiguous(sizes_, strides_);
}

}  // namespace fuselet
