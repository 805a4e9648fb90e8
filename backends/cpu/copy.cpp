#include "backends/cpu/copy.h"

#include "backends/cpu/block_run.h"
#include "backends/cpu/overlap.h"
#include "backends/cpu/transpose.h"

namespace fuselet::cpu {
namespace {

void run_conversion(Space space, void* to, DType to_dtype, const void* from, DType from_dtype) {
  BlockOutput output{static_cast<std::byte*>(to), size_of(to_dtype), nullptr, true};
  BlockInput input{static_cast<const std::byte*>(from), size_of(from_dtype), nullptr, true};
  size_t element = size_of(from_dtype);
  if (from_dtype == to_dtype) {
    if (copy_transposed(space, output.data, input.data, element)) return;
    output.store = store_block_raw(element);
    input.load = load_block_raw(element);
  } else {
    // The compute type of the source holds every value of it, so the store rounds once.
    const ComputeType compute = compute_type_of(from_dtype);
    element = size_of(storage_of(compute));
    output.store = store_block(compute, to_dtype);
    output.as_it_lies = to_dtype == storage_of(compute);
    input.load = load_block(from_dtype, compute);
    input.as_it_lies = from_dtype == storage_of(compute);
  }
  BlockRun{std::move(space), element, nullptr, output, {input}}.run();
}

}  // namespace

void copy_into(const Tensor& target, const Tensor& source) {
  if (target.impl()->numel().word() == 0) return;
  const TensorImpl *to = target.impl(), *from = source.impl();
  if (to == from) return;
  Tensor apart;
  if (overlaps_partly(*to, *from)) {
    apart = copy_of(source);
    from = apart.impl();
  }
  Space space(to->sizes());
  space.add(to->sizes(), to->strides());
  space.add(from->sizes(), from->strides());
  space.simplify();
  run_conversion(std::move(space), to->data(), to->dtype(), from->data(), from->dtype());
}

Tensor make_tensor(DimsView sizes, DType dtype) {
  const size_t bytes = static_cast<size_t>(numel_of(sizes).word()) * size_of(dtype);
  return Tensor(make_intrusive<TensorImpl>(make_intrusive<Storage>(bytes, Device{}), Dims(sizes),
                                           contiguous_strides(sizes), 0, dtype));
}

Tensor copy_of(const Tensor& source) {
  Tensor target = make_tensor(source.sizes(), source.dtype());
  copy_into(target, source);
  return target;
}

Tensor along_the_grain(const Tensor& t) {
  constexpr int64_t kLeastElements = 4096;  // fewer fit into the first-level cache in any order
  const TensorImpl& impl = *t.impl();
  if (impl.is_contiguous() || impl.numel().word() < kLeastElements || impl.strides().back().word() <= 1) return t;
  return is_dense(impl.sizes(), impl.strides()) ? copy_of(t) : t;
}

void gather_into(const TensorImpl& from, void* to, DType to_dtype) {
  if (from.numel().word() == 0) return;
  Space space(from.sizes());
  space.add(from.sizes(), contiguous_strides(from.sizes()));
  space.add(from.sizes(), from.strides());
  space.simplify();
  run_conversion(std::move(space), to, to_dtype, from.data(), from.dtype());
}

void scatter_from(const void* from, DType from_dtype, const TensorImpl& to) {
  if (to.numel().word() == 0) return;
  Space space(to.sizes());
  space.add(to.sizes(), to.strides());
  space.add(to.sizes(), contiguous_strides(to.sizes()));
  space.simplify();
  run_conversion(std::move(space), to.data(), to.dtype(), from, from_dtype);
}

}  // namespace fuselet::cpu
