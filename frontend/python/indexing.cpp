// x[…] and x[…] = value.
//
// An index is a sequence of ints, slices with positive steps, None, one Ellipsis, and integer index tensors (or lists)
// at neighbouring places, which broadcast among themselves. The basic parts make a view; index tensors then gather from
// it, or store into it one entry after another, so that the last of equal indices wins and nothing adds up.
#include <algorithm>
#include <optional>

#include "core/copy_across.h"
#include "core/dispatch.h"
#include "core/dispatch_state.h"
#include "core/element.h"
#include "core/ops/functions.h"
#include "frontend/python/convert.h"
#include "frontend/python/gil.h"
#include "frontend/python/python_error.h"
#include "frontend/python/run_operator.h"
#include "frontend/python/tensor_data.h"
#include "frontend/python/tensor_object.h"
#include "frontend/python/tensor_slots.h"

namespace fuselet::python {
namespace {

// The view that the basic parts select, and the index tensors that apply to its dimensions from `dim` on.
struct Selection {
  Tensor view;
  std::vector<Tensor> indices;  // int64, on the view's device
  std::vector<Tensor> given;    // the same where the user has them, if that is int64 too
  int64_t dim = 0;
};

bool is_mask(PyObject* o) { return PyBool_Check(o) || (is_tensor(o) && unpack(o).dtype() == DType::Bool); }

// A list, an array or a tensor of integers, of which a copy goes to `device`; undefined for anything else.
Tensor to_index_tensor(PyObject* o, Device device) {
  if (is_tensor(o)) return unpack(o);
  if (PyList_Check(o) || PyTuple_Check(o)) return tensor_from_nested(o, std::nullopt, Device{});
  if (PyObject_HasAttrString(o, "__array_interface__"))
    return device == Device{} ? tensor_from_array(o, device) : tensor_over_array(o);
  return Tensor();
}

int64_t count_consumed(PyObject* const* items, Py_ssize_t n) {
  int64_t dims = 0;
  for (Py_ssize_t i = 0; i < n; ++i) dims += items[i] != Py_None && items[i] != Py_Ellipsis;
  return dims;
}

std::optional<SymInt> slice_bound(PyObject* o) {
  if (o == Py_None) return std::nullopt;
  int64_t v;
  if (!to_int(o, v)) throw TypeError("slice bounds must be ints or None");
  // Slices cut their bounds; sizes stay far below 2^61, and so may the bounds.
  constexpr int64_t kMost = int64_t{1} << 61;
  return SymInt(std::clamp(v, -kMost, kMost));
}

Tensor take_slice(const Tensor& t, int64_t dim, PyObject* o) {
  PySliceObject* s = reinterpret_cast<PySliceObject*>(o);
  if (s->start == Py_None && s->stop == Py_None && s->step == Py_None) return t;
  SymInt step = slice_bound(s->step).value_or(SymInt(1));
  FUSELET_CHECK(step > 0, "indexing: the step of a slice must be positive, got ", to_string(step));
  return t.slice(dim, slice_bound(s->start), slice_bound(s->stop), step);
}

Selection select_basic(const Tensor& self, PyObject* index) {
  Selection out;
  bool is_tuple = PyTuple_Check(index);
  PyObject* const* items = is_tuple ? &PyTuple_GET_ITEM(index, 0) : &index;
  Py_ssize_t n = is_tuple ? PyTuple_GET_SIZE(index) : 1;
  int64_t consumed = count_consumed(items, n), dim = 0, last_index_item = -2;
  FUSELET_CHECK_INDEX(consumed <= self.dim(), "indexing: ", consumed, " indices for a tensor of shape ",
                      to_string(self.sizes()));
  Tensor t = self;
  bool seen_ellipsis = false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = items[i];
    if (item == Py_None) {
      t = t.unsqueeze(dim++);
    } else if (item == Py_Ellipsis) {
      FUSELET_CHECK_INDEX(!seen_ellipsis, "indexing: more than one Ellipsis");
      seen_ellipsis = true;
      dim += self.dim() - consumed;
    } else if (is_mask(item)) {
      throw NotImplementedError(
          "indexing with a bool mask makes a result of unknown size, which is not supported; use fuselet.where() "
          "or masked_fill(), or x[mask] = number");
    } else if (PySlice_Check(item)) {
      t = take_slice(t, dim++, item);
    } else if (int64_t at; to_int(item, at)) {
      t = t.select(dim, at);
    } else if (Tensor indices = to_index_tensor(item, t.device()); indices.defined()) {
      if (indices.dtype() == DType::Bool) {
        throw NotImplementedError("indexing with a bool mask is not supported; use fuselet.where() or masked_fill()");
      }
      FUSELET_CHECK_INDEX(!is_float(indices.dtype()) || indices.numel() == 0,
                          "indexing: index tensors must be of an integer dtype, got ", name_of(indices.dtype()));
      if (out.indices.empty()) {
        out.dim = dim;
      } else if (last_index_item != i - 1) {
        throw NotImplementedError("indexing: index tensors must stand side by side");
      }
      last_index_item = i;
      // What comes from outside a compiled function can move before it is computed with, not after.
      out.indices.push_back(indices.to(t.device()).to(DType::Int64));
      out.given.push_back(indices.dtype() == DType::Int64 ? indices : out.indices.back());
      ++dim;
    } else {
      throw TypeError(
          concat("indexing: expected ints, slices, None, Ellipsis or integer tensors, got ", Py_TYPE(item)->tp_name));
    }
  }
  out.view = t;
  return out;
}

// Of indices on a device this waits for them.
void check_range(const Tensor& given, int64_t size, int64_t dim) {
  if (given.impl()->is_deferred()) return;
  const Tensor index = on_host(given);
  for_each_offset(index.sizes(), index.strides(), [&](int64_t offset) {
    int64_t i = static_cast<const int64_t*>(index.raw_data())[offset];
    FUSELET_CHECK_INDEX(i >= -size && i < size, "indexing: index ", i, " is out of range for dimension ", dim,
                        " of size ", size);
  });
}

Tensor non_negative(const Tensor& index, int64_t size) { return where(index < 0, index + size, index); }

// The dimensions that index tensors pick from as one, and their common linear index into it.
struct Gathered {
  Tensor rows;   // view or copy of the selection with those dimensions flattened at `dim`
  Tensor index;  // of any shape
};

Tensor linear_index(const Selection& s) {
  Tensor index;
  int64_t count = static_cast<int64_t>(s.indices.size());
  for (int64_t k = 0; k < count; ++k) {
    int64_t size = s.view.size(s.dim + k);
    const Tensor& given = s.indices[static_cast<size_t>(k)];
    check_range(s.given[static_cast<size_t>(k)], size, s.dim + k);
    Tensor at = non_negative(given, size);
    index = index.defined() ? index * size + at : at;
  }
  return index;
}

Tensor selected_rows(const Selection& s) {
  auto count = static_cast<int64_t>(s.indices.size());
  return count == 1 ? s.view : s.view.flatten(s.dim, s.dim + count - 1);
}

// Computed at once where that is possible inside a compiled function: indices that come from outside. The entries that
// are written are then other ones on a call with other indices.
Tensor index_to_store(const Selection& s) {
  bool known = dispatch_state().compiled_call != nullptr;
  for (const Tensor& t : s.indices) known = known && !t.impl()->is_deferred();
  if (!known) return linear_index(s).contiguous();
  for (const Tensor& t : s.indices) t.raw_data();  // an error if the function has written it
  PauseRecordingGuard at_once;
  return linear_index(s).contiguous();
}

Tensor gather_indices(const Selection& s) {
  Gathered g{selected_rows(s), linear_index(s)};
  Tensor picked = g.rows.index_select(s.dim, g.index.reshape({-1}));
  if (g.index.dim() == 1) return picked;
  Dims sizes(g.rows.sizes().first(static_cast<size_t>(s.dim)));
  for (SymInt d : g.index.sizes()) sizes.push_back(d);
  for (SymInt d : g.rows.sizes().subspan(static_cast<size_t>(s.dim) + 1)) sizes.push_back(d);
  return picked.view(sizes);
}

// Entry by entry, in index order.
void store_indices(const Selection& s, const Tensor& value) {
  const char* reason = reason_not_writable(s.view);
  FUSELET_CHECK(!reason, "x[indices] = value: ", reason);
  Gathered g{selected_rows(s), index_to_store(s)};
  FUSELET_CHECK(g.rows.impl()->storage() == s.view.impl()->storage(),
                "indexing: these dimensions cannot be written through several "
                "index tensors, for their strides do not fold into one");
  Dims sizes(g.rows.sizes().first(static_cast<size_t>(s.dim)));
  for (SymInt d : g.index.sizes()) sizes.push_back(d);
  for (SymInt d : g.rows.sizes().subspan(static_cast<size_t>(s.dim) + 1)) sizes.push_back(d);
  Tensor source = value.to(s.view.device()).expand(sizes);
  if (g.index.dim() != 1) {
    int64_t last = s.dim + g.index.dim() - 1;
    source = g.index.dim() == 0 ? source.unsqueeze(s.dim) : source.flatten(s.dim, last);
  }
  const Tensor on_cpu = on_host(g.index);
  const int64_t* rows = on_cpu.data<int64_t>();
  for (int64_t k = 0; k < g.index.numel(); ++k) g.rows.select(s.dim, rows[k]).copy_(source.select(s.dim, k));
}

Tensor to_value(PyObject* value, const Tensor& like) {
  if (is_tensor(value)) return unpack(value);
  Scalar number;
  if (to_scalar(value, number)) return full({}, number, like.dtype(), like.device());
  if (PyObject_HasAttrString(value, "__array_interface__")) return tensor_from_array(value, like.device());
  return tensor_from_nested(value, like.dtype(), like.device());
}

// x[mask] = number, where the mask covers the leading dimensions.
bool store_by_mask(const Tensor& self, PyObject* index, PyObject* value) {
  if (!is_tensor(index) || unpack(index).dtype() != DType::Bool) return false;
  Tensor mask = unpack(index).to(self.device());
  Tensor number = to_value(value, self);
  if (number.numel() != 1) {
    throw NotImplementedError("x[mask] = values needs a single number; use fuselet.where() for several");
  }
  FUSELET_CHECK_INDEX(
      mask.dim() <= self.dim() && same_sizes(mask.sizes(), self.sizes().first(static_cast<size_t>(mask.dim()))),
      "indexing: the mask has shape ", to_string(mask.sizes()), " but the tensor has shape ", to_string(self.sizes()));
  while (mask.dim() < self.dim()) mask = mask.unsqueeze(mask.dim());
  self.copy_(where(mask, number.reshape({}).cast(self.dtype()), self));
  return true;
}

PyObject* get_item(PyObject* self, PyObject* index) {
  return guarded([&] {
    const Tensor& t = unpack(self);
    Selection s = select_basic(t, index);
    if (!s.indices.empty()) return wrap(gather_indices(s));
    return wrap(s.view.is_same(t) ? alias(t) : s.view);
  });
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  return guarded([&]() -> PyObject* {
    if (!value) throw TypeError("entries of a tensor cannot be deleted");
    const Tensor& t = unpack(self);
    if (store_by_mask(t, index, value)) return Py_None;
    Selection s = select_basic(t, index);
    Tensor source = to_value(value, t);
    if (!s.indices.empty()) {
      store_indices(s, source);
    } else {
      s.view.copy_(source);
    }
    return Py_None;
  })
             ? 0
             : -1;
}

Py_ssize_t length(PyObject* self) {
  Py_ssize_t n = -1;
  guarded([&]() -> PyObject* {
    const Tensor& t = unpack(self);
    if (t.dim() == 0) throw TypeError("a 0-d tensor has no length");
    n = t.size(0);
    return Py_None;
  });
  return n;
}

// The sequence protocol makes tensors iterable: entries until IndexError.
PyObject* entry(PyObject* self, Py_ssize_t i) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unpack(self);
    if (t.dim() == 0) throw TypeError("a 0-d tensor cannot be iterated over");
    FUSELET_CHECK_INDEX(i < t.size(0), "indexing: index ", i, " is out of range for dimension 0 of size ", t.size(0));
    return wrap(t.select(0, i));
  });
}

}  // namespace

void append_indexing_slots(std::vector<PyType_Slot>& slots) {
  const PyType_Slot all[] = {{Py_mp_subscript, reinterpret_cast<void*>(get_item)},
                             {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
                             {Py_mp_length, reinterpret_cast<void*>(length)},
                             {Py_sq_length, reinterpret_cast<void*>(length)},
                             {Py_sq_item, reinterpret_cast<void*>(entry)}};
  slots.insert(slots.end(), std::begin(all), std::end(all));
}

}  // namespace fuselet::python
