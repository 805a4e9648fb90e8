// x[…] and x[…] = value.
//
// An index is a sequence of ints, slices with positive steps, None, one Ellipsis, bools, and index tensors (or lists):
// integers, which broadcast among themselves, or bool masks, each of which stands for the dimensions it covers. The
// basic parts make a view; index tensors then read it, or write into it, as core/ops/index_tensors.h says: of equal
// indices the last one wins and nothing adds up.
#include "frontend/python/indexing.h"

#include <algorithm>
#include <optional>

#include "core/nonzero.h"
#include "core/ops/functions.h"
#include "core/ops/index_tensors.h"
#include "frontend/python/convert.h"
#include "frontend/python/object_ref.h"
#include "frontend/python/python_error.h"
#include "frontend/python/run_operator.h"
#include "frontend/python/tensor_data.h"
#include "frontend/python/tensor_object.h"
#include "frontend/python/tensor_slots.h"

namespace fuselet::python {
namespace {

// An index tensor or a mask, and the first dimension of the view that it is for.
struct Entry {
  int64_t dim;
  Tensor index;
  bool is_mask() const { return index.dtype() == DType::Bool; }
};

// The view that the basic parts select, and what picks from its dimensions.
struct Selection {
  Tensor view;
  std::vector<Entry> entries;
};

// A list, an array or a tensor, of which a copy goes to `device`; undefined for anything else.
Tensor to_index_tensor(PyObject* o, Device device) {
  if (is_tensor(o)) return unpack(o);
  if (PyRange_Check(o)) return tensor_from_nested(ObjectRef(PySequence_List(o)).get(), std::nullopt, Device{});
  if (PyList_Check(o) || PyTuple_Check(o)) return tensor_from_nested(o, std::nullopt, Device{});
  if (PyObject_HasAttrString(o, "__array_interface__"))
    return device == Device{} ? tensor_from_array(o, device) : tensor_over_array(o);
  return Tensor();
}

// One part of an index, and how many dimensions it takes.
struct Item {
  PyObject* object = nullptr;
  Tensor tensor;  // of an index tensor or a mask
  int64_t dims = 1;
};

// What selects one entry: an int, or a tensor that is one and is known.
bool is_number(PyObject* o) {
  if (is_tensor(o)) {
    const Tensor& t = unpack(o);
    if (t.dim() != 0 || t.dtype() == DType::Bool || t.impl()->is_deferred()) return false;
  }
  int64_t number;
  return to_int(o, number);
}

Item read_item(PyObject* o, Device device) {
  Item item{o, {}, 1};
  if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) {
    item.dims = 0;
  } else if (!PySlice_Check(o) && !is_number(o)) {
    item.tensor = to_index_tensor(o, device);
    if (!item.tensor.defined()) {
      throw TypeError(
          concat("indexing: expected ints, slices, None, Ellipsis, bools or tensors, got ", Py_TYPE(o)->tp_name));
    }
    const DType dtype = item.tensor.dtype();
    if (item.tensor.numel() == 0 && is_float(dtype)) item.tensor = item.tensor.cast(DType::Int64);  // []
    FUSELET_CHECK_INDEX(category_of(item.tensor.dtype()) != Category::Float && dtype != DType::UInt8,
                        "indexing: index tensors must be of an integer dtype but uint8, or bool, got ", name_of(dtype));
    if (dtype == DType::Bool) item.dims = item.tensor.dim();
  }
  return item;
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

void check_mask(const Tensor& mask, const Tensor& t, int64_t dim) {
  const DimsView covered = t.sizes().subspan(static_cast<size_t>(dim), static_cast<size_t>(mask.dim()));
  FUSELET_CHECK_INDEX(same_sizes(mask.sizes(), covered), "indexing: the mask has shape ", to_string(mask.sizes()),
                      " but the tensor has shape ", to_string(t.sizes()));
}

Selection select_basic(const Tensor& self, PyObject* index) {
  const bool is_tuple = PyTuple_Check(index);
  PyObject* const* objects = is_tuple ? &PyTuple_GET_ITEM(index, 0) : &index;
  const Py_ssize_t n = is_tuple ? PyTuple_GET_SIZE(index) : 1;
  std::vector<Item> items;
  int64_t consumed = 0, dim = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    items.push_back(read_item(objects[i], self.device()));
    consumed += items.back().dims;
  }
  FUSELET_CHECK_INDEX(consumed <= self.dim(), "indexing: ", consumed, " indices for a tensor of shape ",
                      to_string(self.sizes()));
  Selection out;
  Tensor t = self;
  bool seen_ellipsis = false;
  for (const Item& item : items) {
    const bool is_flag = PyBool_Check(item.object) || (item.tensor.defined() && item.dims == 0);
    if (item.object == Py_None) {
      t = t.unsqueeze(dim++);
    } else if (item.object == Py_Ellipsis) {
      FUSELET_CHECK_INDEX(!seen_ellipsis, "indexing: more than one Ellipsis");
      seen_ellipsis = true;
      dim += self.dim() - consumed;
    } else if (is_flag) {
      // A mask without dimensions: the whole once, or not at all.
      const bool taken = item.tensor.defined() ? item.tensor.item() != 0 : item.object == Py_True;
      t = t.unsqueeze(dim);
      out.entries.push_back({dim++, zeros({taken ? 1 : 0}, DType::Int64, t.device())});
    } else if (PySlice_Check(item.object)) {
      t = take_slice(t, dim++, item.object);
    } else if (!item.tensor.defined()) {
      int64_t at = 0;
      to_int(item.object, at);
      t = t.select(dim, at);
    } else {
      if (item.tensor.dtype() == DType::Bool) check_mask(item.tensor, t, dim);
      out.entries.push_back({dim, item.tensor});
      dim += item.dims;
    }
  }
  out.view = t;
  return out;
}

IndexTensors indices_of(const Selection& s) {
  IndexTensors indices(s.view.sizes().size());
  for (const Entry& e : s.entries) {
    if (!e.is_mask()) {
      indices[static_cast<size_t>(e.dim)] = e.index;
      continue;
    }
    const Tensor places = nonzero(e.index, "indexing with a mask");
    for (int64_t d = 0; d < e.index.dim(); ++d) indices[static_cast<size_t>(e.dim + d)] = places.select(1, d);
  }
  return indices;
}

Tensor to_value(PyObject* value, const Tensor& like) {
  if (is_tensor(value)) return unpack(value);
  Scalar number;
  if (to_scalar(value, number)) return full({}, number, like.dtype(), like.device());
  if (PyObject_HasAttrString(value, "__array_interface__")) return tensor_from_array(value, like.device());
  return tensor_from_nested(value, like.dtype(), like.device());
}

void store(const Selection& s, const Tensor& value) {
  if (s.entries.empty()) {
    s.view.copy_(value);
  } else if (s.entries.size() == 1 && s.entries[0].is_mask() && value.numel() == 1) {
    // One number everywhere: no size depends on the mask.
    Tensor mask = s.entries[0].index.to(s.view.device());
    while (mask.dim() + s.entries[0].dim < s.view.dim()) mask = mask.unsqueeze(-1);
    s.view.copy_(where(mask, value.to(s.view.device()).reshape({}).cast(s.view.dtype()), s.view));
  } else {
    write_at(s.view, indices_of(s), value, false);
  }
}

PyObject* get_item(PyObject* self, PyObject* index) {
  return guarded([&] {
    const Tensor& t = unpack(self);
    Selection s = select_basic(t, index);
    if (!s.entries.empty()) return wrap(read_at(s.view, indices_of(s)));
    return wrap(s.view.is_same(t) ? alias(t) : s.view);
  });
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  return guarded([&]() -> PyObject* {
    if (!value) throw TypeError("entries of a tensor cannot be deleted");
    const Tensor& t = unpack(self);
    store(select_basic(t, index), to_value(value, t));
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

void index_put(const Tensor& self, PyObject* index, const Tensor& values, bool accumulate) {
  const Selection s = select_basic(self, index);
  FUSELET_CHECK(!s.entries.empty(), "index_put_: expected index tensors");
  write_at(s.view, indices_of(s), values, accumulate);
}

void append_indexing_slots(std::vector<PyType_Slot>& slots) {
  const PyType_Slot all[] = {{Py_mp_subscript, reinterpret_cast<void*>(get_item)},
                             {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
                             {Py_mp_length, reinterpret_cast<void*>(length)},
                             {Py_sq_length, reinterpret_cast<void*>(length)},
                             {Py_sq_item, reinterpret_cast<void*>(entry)}};
  slots.insert(slots.end(), std::begin(all), std::end(all));
}

}  // namespace fuselet::python
