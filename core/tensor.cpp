#include "core/tensor.h"

#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "core/copy_across.h"
#include "core/element.h"
#include "core/ops/functions.h"
#include "core/recording.h"

namespace fuselet {

// The list lives as long as the call that it is an argument of, and so does this view.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
TensorList::TensorList(std::initializer_list<Tensor> v) : data_(v.begin()), size_(v.size()) {}
#pragma GCC diagnostic pop
TensorList::TensorList(const std::vector<Tensor>& v) : data_(v.data()), size_(v.size()) {}

int64_t Tensor::size(int64_t dim) const {
  FUSELET_CHECK_INDEX(this->dim() > 0, "size: a 0-d tensor has no dimension ", dim);
  return sizes()[static_cast<size_t>(wrap_dim(dim, this->dim(), "size"))].concrete();
}

void* Tensor::raw_data() const {
  if (CompiledCall* call = dispatch_state().compiled_call) call->before_read(*this);
  FUSELET_CHECK(!impl_->is_deferred(), "a value of a running recording has no memory yet");
  return impl_->data();
}

void Tensor::check_element_type(size_t size, bool floating) const {
  FUSELET_CHECK(size == size_of(dtype()) && floating == (dtype() == DType::Float64 || dtype() == DType::Float32),
                "data<T>(): T does not fit a tensor of dtype ", name_of(dtype()));
  FUSELET_CHECK(device().type == DeviceType::CPU, "data<T>(): the elements are in memory of ", to_string(device()),
                "; copy them with .cpu() first");
}

namespace {

const Tensor& single_element(const Tensor& t, const char* what) {
  FUSELET_CHECK(t.defined(), what, ": the tensor is undefined");
  if (CompiledCall* call = dispatch_state().compiled_call) call->before_read(t);
  FUSELET_CHECK(!t.impl()->is_deferred(), what, ": asked for a value while a recording runs");
  FUSELET_CHECK(t.numel() == 1, what, ": expected a tensor of one element, got shape ", to_string(t.sizes()));
  return t;
}

}  // namespace

double Tensor::item() const {
  const Tensor t = on_host(single_element(*this, "item"));
  return load_element(dtype(), t.raw_data(), 0);
}
int64_t Tensor::item_int() const {
  const Tensor t = on_host(single_element(*this, "item"));
  return load_element_int(dtype(), t.raw_data(), 0);
}

Tensor Tensor::detach() const {
  NoGradGuard no_grad;
  return alias(*this);
}

Tensor Tensor::to(DType dtype) const { return dtype == this->dtype() ? *this : cast(dtype); }
Tensor Tensor::to(Device device, bool non_blocking) const {
  return device == this->device() ? *this : transfer(*this, device, non_blocking);
}
Tensor Tensor::cuda() const { return to(Device{DeviceType::CUDA, dispatch_state().cuda_device}); }

std::vector<double> Tensor::to_vector() const {
  raw_data();  // an error for a value of a running recording
  const Tensor t = on_host(*this);
  std::vector<double> out;
  out.reserve(static_cast<size_t>(numel()));
  for_each_offset(t.sizes(), t.strides(),
                  [&](int64_t offset) { out.push_back(load_element(dtype(), t.raw_data(), offset)); });
  return out;
}

std::string to_string(const Tensor& t) {
  constexpr int64_t kMostPrinted = 1000, kEdge = 3;
  if (!t.defined()) return "tensor(undefined)";
  if (t.impl()->is_deferred())
    return concat("tensor(deferred, shape=", to_string(t.sizes()), ", dtype=", name_of(t.dtype()), ")");
  if (t.numel() > 0) t.raw_data();  // an error for what a compiled function has yet to compute
  const Tensor host = on_host(t);
  const void* data = t.numel() > 0 ? host.raw_data() : nullptr;
  std::ostringstream out;
  bool summarize = t.numel() > kMostPrinted;
  auto element = [&](int64_t offset) {
    if (t.dtype() == DType::Bool) {
      out << (load_element(t.dtype(), data, offset) != 0 ? "True" : "False");
    } else if (!is_float(t.dtype())) {
      out << load_element_int(t.dtype(), data, offset);
    } else {
      double v = load_element(t.dtype(), data, offset);
      std::ostringstream text;
      text << std::setprecision(t.dtype() == DType::Float64 ? 8 : 5) << v;
      out << text.str() << (std::isfinite(v) && text.str().find_first_of(".e") == std::string::npos ? "." : "");
    }
  };
  auto level = [&](auto&& self, size_t d, int64_t offset) -> void {
    if (d == t.sizes().size()) return element(offset);
    int64_t n = t.sizes()[d].concrete();
    out << "[";
    for (int64_t i = 0; i < n; ++i) {
      if (i) out << (d + 1 == t.sizes().size() ? ", " : ",\n" + std::string(8 + d, ' '));
      if (summarize && n > 2 * kEdge && i == kEdge) {
        out << "..., ";
        i = n - kEdge;
      }
      self(self, d + 1, offset + i * host.strides()[d].concrete());
    }
    out << "]";
  };
  out << "tensor(";
  level(level, 0, 0);
  bool plain = t.dtype() == DType::Float32 || t.dtype() == DType::Int64 || t.dtype() == DType::Bool;
  if (!plain) out << ", dtype=" << name_of(t.dtype());
  if (t.numel() == 0) out << ", size=" << to_string(t.sizes());
  if (t.device() != Device{}) out << ", device=" << to_string(t.device());
  if (t.requires_grad()) out << ", requires_grad=True";
  out << ")";
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << to_string(t); }

}  // namespace fuselet
