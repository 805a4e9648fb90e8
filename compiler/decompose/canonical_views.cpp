#include "compiler/decompose/canonical_views.h"

#include <algorithm>
#include <numeric>

#include "core/ops/functions.h"
#include "core/ops/view_geometry.h"

namespace fuselet {
namespace {

// The same elements in the same shape.
bool replace_by_self(Call& call) {
  call.outs[0] = call.tensor(0);
  return true;
}

bool view_or_expand(Call& call) {
  const Tensor& self = call.tensor(0);
  TensorMeta meta;
  call.op->shape(call, &meta);
  if (same_sizes(meta.sizes, self.sizes())) return replace_by_self(call);
  if (same_sizes(meta.sizes, call.ints(1))) return false;
  call.outs[0] = call.op->id == OpId::view ? self.view(meta.sizes) : self.expand(meta.sizes);
  return true;
}

bool permute(Call& call) {
  const Tensor& self = call.tensor(0);
  Dims order, in_order;
  for (SymInt d : call.ints(1)) {
    in_order.push_back(static_cast<int64_t>(order.size()));
    order.push_back(wrap_dim(d.concrete(), self.dim(), "permute"));
  }
  if (same_sizes(order, in_order)) return replace_by_self(call);
  if (same_sizes(order, call.ints(1))) return false;
  call.outs[0] = self.permute(order);
  return true;
}

bool slice(Call& call) {
  const Tensor& self = call.tensor(0);
  int64_t d = wrap_dim(call.integer(1), self.dim(), "slice");
  SymInt size = self.sizes()[static_cast<size_t>(d)];
  SliceBounds b = slice_bounds(call, 2, size);
  SymInt step = b.count > 1 ? b.step : SymInt(1);
  SymInt end = b.count > 0 ? b.start + (b.count - 1) * step + 1 : b.start;
  if (b.start == 0 && b.count == size && step == 1) return replace_by_self(call);
  bool written_out = call.has(2) && call.has(3) && call.integer(1) == d && call.sym(2) == b.start &&
                     call.sym(3) == end && call.sym(4) == step;
  if (written_out) return false;
  call.outs[0] = self.slice(d, b.start, end, step);
  return true;
}

// Entries start, start + step, … (count of them) along `dim`; with `drops`, one entry, and `dim` is gone.
struct SliceOf {
  size_t dim;
  SymInt start, count, step;
  bool drops;

  SymInt end() const { return start + (count - 1) * step + 1; }
};

// The slice of a tensor of sizes `whole` in row-major order that (sizes, strides, offset) is.
std::optional<SliceOf> find_slice(const Dims& whole, const Dims& sizes, const Dims& strides, SymInt offset) {
  Dims steps = contiguous_strides(whole);
  for (size_t d = 0; d < whole.size(); ++d) {
    bool drops = sizes.size() + 1 == whole.size();
    if (whole[d] == 0 || (!drops && sizes.size() != whole.size())) return std::nullopt;
    auto fits = [&](size_t k) {  // dimension k of the whole, other than d
      size_t i = drops && k > d ? k - 1 : k;
      return sizes[i] == whole[k] && (whole[k] == 1 || strides[i] == steps[k]);
    };
    bool others_fit = true;
    for (size_t k = 0; k < whole.size(); ++k) others_fit &= k == d || fits(k);
    SymInt count = drops ? SymInt(1) : sizes[d], step = count > 1 ? strides[d] / steps[d] : SymInt(1);
    if (!others_fit || count == 0 || step == 0 || offset % steps[d] != 0) continue;
    if (count > 1 && strides[d] % steps[d] != 0) continue;
    SliceOf slice{d, offset / steps[d], count, step, drops};
    if (slice.end() <= whole[d]) return slice;
  }
  return std::nullopt;
}

bool lies_in_order(const Tensor& t) { return t.impl()->offset() == 0 && t.is_contiguous(); }

bool as_strided_scatter(Call& call) {
  const Tensor &self = call.tensor(0), &src = call.tensor(1);
  if (!lies_in_order(self)) return false;
  Dims whole(self.sizes());
  std::optional<SliceOf> s = find_slice(whole, Dims(call.ints(2)), Dims(call.ints(3)), call.sym(4));
  if (!s) return false;
  int64_t d = static_cast<int64_t>(s->dim);
  call.outs[0] = slice_scatter(self, s->drops ? src.unsqueeze(d) : src, d, s->start, s->end(), s->step);
  return true;
}

bool as_strided(Call& call) {
  const Tensor& self = call.tensor(0);
  Dims sizes(call.ints(1)), strides(call.ints(2));
  SymInt offset = call.sym(3), count = numel_of(sizes), held = self.impl()->numel();
  if (!lies_in_order(self)) return false;
  if (std::optional<SliceOf> s = find_slice(Dims(self.sizes()), sizes, strides, offset)) {
    Tensor part = self.slice(static_cast<int64_t>(s->dim), s->start, s->end(), s->step);
    call.outs[0] = s->drops ? part.view(sizes) : part;
    return true;
  }
  if (count == 0 || offset + count > held) return false;
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  Dims outermost_first, ordered_strides, back(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    outermost_first.push_back(sizes[order[i]]);
    ordered_strides.push_back(strides[order[i]]);
    back[order[i]] = static_cast<int64_t>(i);
  }
  if (!is_contiguous(outermost_first, ordered_strides)) return false;
  call.outs[0] = self.view({held}).slice(0, offset, offset + count).view(outermost_first).permute(back);
  return true;
}

}  // namespace

bool make_view_canonical(Call& call) {
  switch (call.op->id) {
    case OpId::view:
    case OpId::expand:
      return view_or_expand(call);
    case OpId::permute:
      return permute(call);
    case OpId::slice:
      return slice(call);
    case OpId::as_strided:
      return as_strided(call);
    case OpId::as_strided_scatter:
      return as_strided_scatter(call);
    default:
      return false;
  }
}

}  // namespace fuselet
