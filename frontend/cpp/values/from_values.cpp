#include "frontend/cpp/values/from_values.h"

#include <cstring>

#include "core/element.h"
#include "core/ops/functions.h"

namespace fuselet {

NestedValues::NestedValues(std::initializer_list<NestedValues> items) {
  sizes_.push_back(static_cast<int64_t>(items.size()));
  if (items.size() == 0) {
    category_ = Category::Float;
    return;
  }
  const std::vector<int64_t>& inner = items.begin()->sizes_;
  sizes_.insert(sizes_.end(), inner.begin(), inner.end());
  for (const NestedValues& item : items) {
    FUSELET_CHECK(item.sizes_ == inner, "tensor: the inner lists differ in shape");
    category_ = std::max(category_, item.category_, [](Category a, Category b) {
      auto rank = [](Category c) { return c == Category::Bool ? 0 : c == Category::Int ? 1 : 2; };
      return rank(a) < rank(b);
    });
    doubles_.insert(doubles_.end(), item.doubles_.begin(), item.doubles_.end());
    ints_.insert(ints_.end(), item.ints_.begin(), item.ints_.end());
  }
}

Tensor NestedValues::materialize(DType dtype) const {
  PauseRecordingGuard at_once;  // what is written now needs its memory now
  Tensor out = empty(sizes_, dtype, Device{});
  for (size_t i = 0; i < doubles_.size(); ++i) {
    if (category_ == Category::Float) {
      store_element(dtype, out.raw_data(), static_cast<int64_t>(i), doubles_[i]);
    } else {
      store_element_int(dtype, out.raw_data(), static_cast<int64_t>(i), ints_[i]);
    }
  }
  return out.to(dispatch_state().default_device);
}

Tensor tensor(const NestedValues& values, std::optional<DType> dtype) {
  if (dtype) return values.materialize(*dtype);
  switch (values.category()) {
    case Category::Bool:
      return values.materialize(DType::Bool);
    case Category::Int:
      return values.materialize(DType::Int64);
    default:
      return values.materialize(dispatch_state().default_dtype);
  }
}

Tensor copy_bytes(const void* data, IntList sizes, DType dtype) {
  PauseRecordingGuard at_once;
  Tensor out = empty(sizes, dtype, Device{});
  size_t bytes = static_cast<size_t>(out.numel()) * size_of(dtype);
  if (bytes) std::memcpy(out.raw_data(), data, bytes);
  return out;
}

Tensor from_bytes(const void* data, IntList sizes, DType dtype) {
  PauseRecordingGuard at_once;
  return copy_bytes(data, sizes, dtype).to(dispatch_state().default_device);
}

Tensor from_blob(void* data, IntList sizes, DType dtype, std::function<void()> release) {
  Dims dims(sizes.view());
  size_t bytes = static_cast<size_t>(numel_of(dims).concrete()) * size_of(dtype);
  auto storage = make_intrusive<Storage>(data, bytes, Device{}, std::move(release));
  Dims strides = contiguous_strides(dims);
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), std::move(dims), std::move(strides), SymInt(0), dtype));
}

}  // namespace fuselet
