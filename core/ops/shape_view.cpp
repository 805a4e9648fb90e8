// Shape rules of views: sizes, strides and offset over the same storage.
#include "core/ops/functions.h"
#include "core/ops/view_geometry.h"

namespace fuselet {

Dims resolve_sizes(DimsView requested, SymInt numel, const char* op) {
  Dims sizes(requested);
  int64_t unknown = -1;
  SymInt known = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      FUSELET_CHECK(unknown < 0, op, ": at most one size may be -1, got ", to_string(requested));
      unknown = static_cast<int64_t>(i);
    } else {
      FUSELET_CHECK(sizes[i] >= 0, op, ": sizes must not be negative, got ", to_string(requested));
      known *= sizes[i];
    }
  }
  if (unknown >= 0) {
    FUSELET_CHECK(known != 0, op, ": the size -1 cannot be told for zero elements in ", to_string(requested));
    FUSELET_CHECK(numel % known == 0, op, ": ", to_string(numel), " elements do not divide into ",
                  to_string(requested));
    sizes[static_cast<size_t>(unknown)] = numel / known;
  } else {
    FUSELET_CHECK(known == numel, op, ": shape ", to_string(requested), " does not hold ", to_string(numel),
                  " elements");
  }
  return sizes;
}

std::optional<Dims> view_strides(DimsView sizes, DimsView strides, DimsView to) {
  if (is_contiguous(sizes, strides)) return contiguous_strides(to);
  // Walk both shapes from the right, matching runs of old dimensions that are contiguous among themselves.
  Dims out(to.size(), 1);
  size_t next = to.size();
  SymInt run_stride = 1, run = 1;
  bool open = false;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (!open) {
      run_stride = strides[d];
      run = sizes[d];
      open = true;
    } else if (strides[d] == run_stride * run) {
      run *= sizes[d];
      continue;
    } else {
      return std::nullopt;
    }
    // Extend the run over every following dimension that continues it, then hand it out to new dimensions.
    while (d > 0 && (sizes[d - 1] == 1 || strides[d - 1] == run_stride * run)) {
      --d;
      if (sizes[d] != 1) run *= sizes[d];
    }
    SymInt step = run_stride, left = run;
    while (next > 0 && (left != 1 || to[next - 1] == 1)) {
      SymInt n = to[next - 1];
      if (n == 0 || left % n != 0) return std::nullopt;
      out[--next] = step;
      step *= n;
      left = left / n;
    }
    if (left != 1) return std::nullopt;
    open = false;
  }
  return out;
}

namespace shape {
namespace {

void start_from(const Tensor& self, TensorMeta* out) {
  out->sizes = Dims(self.sizes());
  out->strides = Dims(self.strides());
  out->offset = self.impl()->offset();
  out->dtype = self.dtype();
}

}  // namespace

void view(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  start_from(self, out);
  out->sizes = resolve_sizes(call.ints(1), self.impl()->numel(), "view");
  std::optional<Dims> strides = view_strides(self.sizes(), self.strides(), out->sizes);
  FUSELET_CHECK(strides, "view: a tensor of shape ", to_string(self.sizes()), " and strides ",
                to_string(self.strides()), " has no view of shape ", to_string(out->sizes),
                "; use reshape(), which copies where it must");
  out->strides = *strides;
}

void permute(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  DimsView dims = call.ints(1);
  FUSELET_CHECK(static_cast<int64_t>(dims.size()) == self.dim(), "permute: expected ", self.dim(), " dimensions, got ",
                to_string(dims));
  start_from(self, out);
  uint64_t seen = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    size_t d = static_cast<size_t>(wrap_dim(dims[i].concrete(), self.dim(), "permute"));
    FUSELET_CHECK(!(seen >> d & 1), "permute: dimension ", d, " stands twice in ", to_string(dims));
    seen |= uint64_t{1} << d;
    out->sizes[i] = self.sizes()[d];
    out->strides[i] = self.strides()[d];
  }
}

void transpose(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  start_from(self, out);
  if (self.dim() == 0) return;
  size_t a = static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), "transpose"));
  size_t b = static_cast<size_t>(wrap_dim(call.integer(2), self.dim(), "transpose"));
  std::swap(out->sizes[a], out->sizes[b]);
  std::swap(out->strides[a], out->strides[b]);
}

void expand(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  DimsView to = call.ints(1);
  FUSELET_CHECK(static_cast<int64_t>(to.size()) >= self.dim(), "expand: shape ", to_string(to),
                " has fewer dimensions than ", to_string(self.sizes()));
  start_from(self, out);
  out->sizes = Dims(to);
  out->strides = Dims(to.size(), 0);
  size_t shift = to.size() - self.sizes().size();
  for (size_t i = 0; i < to.size(); ++i) {
    if (i < shift) {
      FUSELET_CHECK(to[i] >= 0, "expand: a new leading dimension needs a size, got ", to_string(to));
      continue;
    }
    SymInt n = self.sizes()[i - shift];
    if (to[i] == -1) out->sizes[i] = n;
    if (out->sizes[i] == n) {
      out->strides[i] = self.strides()[i - shift];
    } else {
      FUSELET_CHECK(n == 1 && to[i] >= 0, "expand: dimension ", i - shift, " of ", to_string(self.sizes()),
                    " has size ", to_string(n), ", only 1 can become ", to_string(to[i]));
    }
  }
}

void squeeze(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  start_from(self, out);
  int64_t only = call.has(1) ? wrap_dim(call.integer(1), self.dim(), "squeeze") : -1;
  for (size_t i = out->sizes.size(); i-- > 0;) {
    if ((only >= 0 && static_cast<int64_t>(i) != only) || out->sizes[i] != 1) continue;
    out->sizes.erase(i);
    out->strides.erase(i);
  }
}

void unsqueeze(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  start_from(self, out);
  size_t at = static_cast<size_t>(wrap_dim(call.integer(1), self.dim() + 1, "unsqueeze"));
  SymInt stride = at < out->sizes.size() ? out->sizes[at] * out->strides[at] : SymInt(1);
  out->sizes.insert(at, 1);
  out->strides.insert(at, stride);
}

void slice(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  FUSELET_CHECK(self.dim() > 0, "slice: a 0-d tensor has no dimension to slice");
  start_from(self, out);
  size_t d = static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), "slice"));
  SliceBounds bounds = slice_bounds(call, 2, self.sizes()[d]);
  out->sizes[d] = bounds.count;
  out->offset = out->offset + bounds.start * out->strides[d];
  out->strides[d] = out->strides[d] * bounds.step;
}

void select(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  FUSELET_CHECK_INDEX(self.dim() > 0, "select: a 0-d tensor cannot be indexed");
  start_from(self, out);
  size_t d = static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), "select"));
  out->offset =
      out->offset + wrap_index(call.sym(2), self.sizes()[d], static_cast<int64_t>(d), "select") * out->strides[d];
  out->sizes.erase(d);
  out->strides.erase(d);
}

void as_strided(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  FUSELET_CHECK(call.ints(1).size() == call.ints(2).size(), "as_strided: sizes ", to_string(call.ints(1)),
                " and strides ", to_string(call.ints(2)), " differ in length");
  check_sizes(call.ints(1), "as_strided");
  out->sizes = Dims(call.ints(1));
  out->strides = Dims(call.ints(2));
  out->offset = call.sym(3);
  out->dtype = self.dtype();
  for (SymInt s : out->strides) FUSELET_CHECK(s >= 0, "as_strided: strides must not be negative");
  if (self.impl()->is_deferred()) return;
  int64_t last = (out->offset.concrete() + SymInt(span_of(out->sizes, out->strides))).word();
  int64_t held = static_cast<int64_t>(self.impl()->storage()->bytes() / size_of(self.dtype()));
  // A view without elements reaches nothing.
  bool inside = last <= held || span_of(out->sizes, out->strides) == 0;
  FUSELET_CHECK(out->offset >= 0 && inside, "as_strided: the view reaches element ", last, " of a storage of ", held);
}

void alias(const Call& call, TensorMeta* out) { start_from(call.tensor(0), out); }

}  // namespace shape

SymInt wrap_index(SymInt index, SymInt size, int64_t dim, const char* op) {
  FUSELET_CHECK_INDEX(index >= -size && index < size, op, ": index ", to_string(index),
                      " is out of range for dimension ", dim, " of size ", to_string(size));
  return index < 0 ? index + size : index;
}

SliceBounds slice_bounds(const Call& call, int first_arg, SymInt size) {
  SymInt step = call.sym(first_arg + 2);
  FUSELET_CHECK(step > 0, call.op->name, ": the step must be positive, got ", to_string(step));
  auto bound = [&](int arg, SymInt otherwise) {
    if (!call.has(arg)) return otherwise;
    SymInt v = call.sym(arg);
    if (v < 0) v = v + size;
    return v < 0 ? SymInt(0) : v > size ? size : v;
  };
  SymInt start = bound(first_arg, 0), end = bound(first_arg + 1, size);
  SymInt count = start < end ? (end - start - 1) / step + 1 : SymInt(0);
  return {start, step, count};
}

}  // namespace fuselet
