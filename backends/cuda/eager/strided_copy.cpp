#include "backends/cuda/eager/strided_copy.h"

#include <map>
#include <mutex>

#include "backends/cuda/device/devices.h"
#include "backends/cuda/generated_kernel.h"
#include "backends/cuda/memory/new_tensor.h"
#include "compiler/schedule/arrange_nest.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

using kernel::Kind;
using kernel::Statement;

// dims, strides of the target and of the source
struct Geometry {
  std::vector<int64_t> dims, to, from;
  DType to_dtype, from_dtype;
  auto operator<=>(const Geometry&) const = default;
};

Geometry geometry_of(const Tensor& target, const Tensor& source) {
  Geometry g{{}, {}, {}, target.dtype(), source.dtype()};
  const size_t rank = target.sizes().size(), lead = rank - source.sizes().size();
  for (size_t d = 0; d < rank; ++d) {
    g.dims.push_back(target.sizes()[d].concrete());
    g.to.push_back(target.strides()[d].concrete());
    const bool broadcast = d < lead || source.sizes()[d - lead] == 1;
    g.from.push_back(broadcast ? 0 : source.strides()[d - lead].concrete());
  }
  return g;
}

kernel::Kernel kernel_of(const Geometry& g) {
  auto reach = [&](const std::vector<int64_t>& strides) {
    int64_t last = 0;
    for (size_t d = 0; d < strides.size(); ++d) last += strides[d] * (g.dims[d] - 1);
    return last + 1;
  };
  auto varies = [&](const std::vector<int64_t>& strides) {
    uint32_t mask = 0;
    for (size_t d = 0; d < strides.size(); ++d) mask |= (strides[d] != 0 ? 1u : 0u) << d;
    return mask;
  };
  kernel::Nest nest;
  nest.dims = g.dims;
  Statement load{Kind::Load, g.from_dtype};
  load.access = {0, 0, g.from};
  load.varies = varies(g.from);
  Statement convert{Kind::Convert, g.to_dtype, {0}};
  convert.varies = load.varies;
  Statement store{Kind::Store, g.to_dtype, {1}};
  store.access = {1, 0, g.to};
  store.varies = varies(g.to);
  store.note = "copy";
  nest.body = {load, convert, store};
  schedule::arrange_nest(nest, {0, 0, 0});
  kernel::Kernel k;
  k.name = "copy";
  k.buffers = {{g.from_dtype, reach(g.from), false}, {g.to_dtype, reach(g.to), true}};
  k.stages = {{{std::move(nest)}}};
  return k;
}

std::shared_ptr<const GeneratedKernel> compiled(const Geometry& g) {
  // One entry a geometry; sources are shared between geometries of one layout class.
  static std::mutex mutex;
  static auto& known = *new std::map<Geometry, std::shared_ptr<const GeneratedKernel>>;
  constexpr size_t kMostEntries = 4096;
  std::lock_guard lock(mutex);
  if (known.size() > kMostEntries) known.clear();
  auto& entry = known[g];
  if (!entry) entry = std::make_shared<GeneratedKernel>(kernel_of(g));
  return entry;
}

}  // namespace

bool may_overlap(const Tensor& a, const Tensor& b) {
  if (a.impl()->storage() != b.impl()->storage() || a.numel() == 0 || b.numel() == 0) return false;
  auto range = [](const Tensor& t) {
    const auto start = reinterpret_cast<uintptr_t>(t.impl()->data());
    const auto span = static_cast<uintptr_t>(span_of(t.sizes(), t.strides())) * size_of(t.dtype());
    return std::pair(start, start + span);
  };
  const auto [a_start, a_end] = range(a);
  const auto [b_start, b_end] = range(b);
  return a_start < b_end && b_start < a_end;
}

void copy_into(const Tensor& target, const Tensor& source) {
  if (target.numel() == 0) return;
  if (may_overlap(target, source)) {
    const bool same = target.impl()->data() == source.impl()->data() && target.dtype() == source.dtype() &&
                      same_sizes(target.sizes(), source.sizes()) && same_sizes(target.strides(), source.strides());
    if (same) return;
    // Elsewhere first.
    const Tensor copy = new_tensor(source.sizes(), source.dtype(), source.device());
    copy_into(copy, source);
    return copy_into(target, copy);
  }
  DeviceGuard device(target.device().index);
  void* buffers[] = {source.impl()->data(), target.impl()->data()};
  compiled(geometry_of(target, source))->launch(buffers, nullptr, nullptr, nullptr);
}

}  // namespace fuselet::cuda
