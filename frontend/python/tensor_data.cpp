#include "frontend/python/tensor_data.h"

#include "core/copy_across.h"
#include "core/element.h"
#include "core/ops/functions.h"
#include "frontend/python/convert.h"
#include "frontend/python/object_ref.h"
#include "frontend/python/python_error.h"
#include "frontend/python/small_objects.h"
#include "frontend/python/tensor_object.h"

namespace fuselet::python {
namespace {

bool is_nested(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

// Reads nested lists: first their shape along the first entries, then every number in row-major order.
class NestedReader {
 public:
  explicit NestedReader(PyObject* data) {
    ObjectRef at = ObjectRef::borrow(data);
    while (is_nested(at.get())) {
      Py_ssize_t n = PySequence_Fast_GET_SIZE(at.get());
      sizes_.push_back(n);
      if (n == 0) break;
      at = ObjectRef::borrow(PySequence_Fast_GET_ITEM(at.get(), 0));
    }
    read(data, 0);
  }

  const Dims& sizes() const { return sizes_; }
  const std::vector<Scalar>& numbers() const { return numbers_; }
  Category category() const { return numbers_.empty() ? Category::Float : category_; }

 private:
  void read(PyObject* o, size_t depth) {
    if (is_nested(o)) {
      Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
      FUSELET_CHECK(depth < sizes_.size() && sizes_[depth] == n, "tensor: the lists at depth ", depth,
                    " have different lengths");
      for (Py_ssize_t i = 0; i < n; ++i) read(PySequence_Fast_GET_ITEM(o, i), depth + 1);
      return;
    }
    FUSELET_CHECK(depth == sizes_.size(), "tensor: numbers and lists are mixed at depth ", depth);
    Scalar s;
    if (is_tensor(o)) {
      const Tensor& t = unpack(o);
      s = is_float(t.dtype())        ? Scalar(t.item())
          : t.dtype() == DType::Bool ? Scalar(t.item() != 0)
                                     : Scalar(t.item_int());
    } else if (!to_scalar(o, s)) {
      throw TypeError(concat("tensor: expected numbers or nested lists of numbers, got ", Py_TYPE(o)->tp_name));
    }
    category_ = std::max(category_, s.category());
    numbers_.push_back(std::move(s));
  }

  Dims sizes_;
  std::vector<Scalar> numbers_;
  Category category_ = Category::Bool;
};

PyObject* element_at(const Tensor& t, int64_t offset) {
  if (is_float(t.dtype())) return PyFloat_FromDouble(load_element(t.dtype(), t.raw_data(), offset));
  int64_t v = load_element_int(t.dtype(), t.raw_data(), offset);
  return t.dtype() == DType::Bool ? PyBool_FromLong(v != 0) : PyLong_FromLongLong(v);
}

PyObject* nested_level(const Tensor& t, size_t d, int64_t offset) {
  if (d == t.sizes().size()) return element_at(t, offset);
  int64_t n = t.sizes()[d].concrete(), step = t.strides()[d].concrete();
  PyObject* list = checked(PyList_New(n));
  for (int64_t i = 0; i < n; ++i) PyList_SET_ITEM(list, i, nested_level(t, d + 1, offset + i * step));
  return list;
}

struct ArrayLayout {
  void* data;
  Dims sizes, strides;
  DType dtype;
  bool read_only;
};

// "<f4" and the like; TypeError with a route for what has no dtype here.
DType dtype_of_typestr(const char* typestr) {
  std::string_view code(typestr + 1);
  constexpr std::pair<std::string_view, DType> kCodes[] = {
      {"f8", DType::Float64}, {"f4", DType::Float32}, {"f2", DType::Float16}, {"i8", DType::Int64},
      {"i4", DType::Int32},   {"i1", DType::Int8},    {"u1", DType::UInt8},   {"b1", DType::Bool}};
  for (const auto& [name, dtype] : kCodes) {
    if (code == name && typestr[0] != '>') return dtype;
  }
  throw TypeError(concat("an array of type '", typestr,
                         "' has no dtype here (float64, float32, float16, int64, int32, int8, uint8 and "
                         "bool have); convert it with .astype() first"));
}

ArrayLayout layout_of(PyObject* array) {
  ObjectRef interface(checked(PyObject_GetAttrString(array, "__array_interface__")));
  PyObject* dict = interface.get();
  PyObject* typestr = PyDict_GetItemString(dict, "typestr");
  PyObject* shape = PyDict_GetItemString(dict, "shape");
  PyObject* strides = PyDict_GetItemString(dict, "strides");
  PyObject* data = PyDict_GetItemString(dict, "data");
  if (!typestr || !shape || !data || !PyTuple_Check(data))
    throw TypeError("__array_interface__ lacks typestr, shape or data");
  ArrayLayout a;
  a.dtype = dtype_of_typestr(PyUnicode_AsUTF8(typestr));
  a.data = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
  a.read_only = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1)) == 1;
  to_dims(shape, a.sizes);
  if (!strides || strides == Py_None) {
    a.strides = contiguous_strides(a.sizes);
    return a;
  }
  to_dims(strides, a.strides);
  int64_t width = static_cast<int64_t>(size_of(a.dtype));
  for (size_t d = 0; d < a.strides.size(); ++d) {
    int64_t bytes = a.strides[d].word();
    if (a.sizes[d].word() <= 1) bytes = 0;
    FUSELET_CHECK(bytes >= 0, "the array has negative strides, which tensors do not have; copy it with array.copy()");
    FUSELET_CHECK(bytes % width == 0,
                  "the array's strides are no multiples of its element size; copy it with array.copy()");
    a.strides[d] = bytes / width;
  }
  return a;
}

}  // namespace

Tensor tensor_from_nested(PyObject* data, std::optional<DType> dtype, Device device) {
  NestedReader reader(data);
  DType type = dtype.value_or(reader.category() == Category::Float ? dispatch_state().default_dtype
                              : reader.category() == Category::Int ? DType::Int64
                                                                   : DType::Bool);
  PauseRecordingGuard at_once;  // what is written now needs its memory now
  Tensor out = empty(reader.sizes(), type, Device{});
  void* memory = out.raw_data();
  int64_t i = 0;
  for (const Scalar& s : reader.numbers()) {
    if (s.category() == Category::Float || is_float(type)) {
      store_element(type, memory, i++, s.to_double());
    } else {
      store_element_int(type, memory, i++, s.to_int());
    }
  }
  return out.to(device);
}

Tensor tensor_over_array(PyObject* array) {
  ArrayLayout a = layout_of(array);
  size_t bytes = static_cast<size_t>(span_of(a.sizes, a.strides)) * size_of(a.dtype);
  FUSELET_CHECK(reinterpret_cast<uintptr_t>(a.data) % size_of(a.dtype) == 0,
                "the array's memory is not aligned to its elements; copy it");
  SharedObject keeper = share(array);
  auto storage = make_intrusive<Storage>(
      a.data, bytes, Device{}, [keeper] {}, a.read_only);
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), a.sizes, a.strides, 0, a.dtype));
}

Tensor tensor_from_array(PyObject* array, Device device) {
  const Tensor shared = tensor_over_array(array);
  return device == shared.device() ? shared.clone(true) : shared.to(device).contiguous();
}

PyObject* to_nested(const Tensor& t) {
  t.raw_data();  // an error for a value of a running recording
  return nested_level(on_host(t), 0, 0);
}

PyObject* to_number(const Tensor& t) {
  double value = t.item();
  if (is_float(t.dtype())) return PyFloat_FromDouble(value);
  return t.dtype() == DType::Bool ? PyBool_FromLong(value != 0) : PyLong_FromLongLong(t.item_int());
}

}  // namespace fuselet::python
