#include "frontend/python/small_objects.h"

#include <string>
#include <vector>

#include "core/default_device.h"
#include "core/error.h"
#include "frontend/python/object_ref.h"
#include "frontend/python/python_error.h"

namespace fuselet::python {
namespace {

struct DTypeObject {
  PyObject_HEAD DType dtype;
};
struct DeviceObject {
  PyObject_HEAD Device device;
};

PyTypeObject* g_dtype_type = nullptr;
PyTypeObject* g_device_type = nullptr;
PyTypeObject* g_size_class = &PyTuple_Type;
PyObject* g_dtypes[kNumDTypes];

PyObject* text(std::string_view s) { return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())); }

// ---- dtype
DType dtype_of(PyObject* self) { return reinterpret_cast<DTypeObject*>(self)->dtype; }
PyObject* dtype_repr(PyObject* self) { return text("fuselet." + std::string(name_of(dtype_of(self)))); }
PyObject* dtype_name(PyObject* self, void*) { return text(name_of(dtype_of(self))); }
PyObject* dtype_itemsize(PyObject* self, void*) { return PyLong_FromSize_t(size_of(dtype_of(self))); }
PyObject* dtype_is_float(PyObject* self, void*) { return PyBool_FromLong(is_float(dtype_of(self))); }
PyObject* dtype_is_complex(PyObject*, void*) { Py_RETURN_FALSE; }
PyObject* dtype_is_signed(PyObject* self, void*) {
  return PyBool_FromLong(dtype_of(self) != DType::UInt8 && dtype_of(self) != DType::Bool);
}
PyObject* dtype_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(N)", reinterpret_cast<PyObject*>(g_dtype_type), text(name_of(dtype_of(self))));
}

// dtype("float32"): the object of that name.
PyObject* dtype_new(PyTypeObject*, PyObject* args, PyObject*) {
  const char* name = nullptr;
  if (!PyArg_ParseTuple(args, "s:dtype", &name)) return nullptr;
  return guarded([&] { return wrap_dtype(parse_dtype(name)); });
}

PyGetSetDef kDTypeProperties[] = {
    {"name", dtype_name, nullptr, "as in fuselet.<name>", nullptr},
    {"itemsize", dtype_itemsize, nullptr, "bytes of an element", nullptr},
    {"is_floating_point", dtype_is_float, nullptr, nullptr, nullptr},
    {"is_complex", dtype_is_complex, nullptr, "False: there are no complex dtypes", nullptr},
    {"is_signed", dtype_is_signed, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef kDTypeMethods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
constexpr char kDTypeDoc[] = "The type of a tensor's elements, one object each: fuselet.float32 is dtype('float32').";
PyType_Slot kDTypeSlots[] = {{Py_tp_doc, const_cast<char*>(kDTypeDoc)},
                             {Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
                             {Py_tp_new, reinterpret_cast<void*>(dtype_new)},
                             {Py_tp_getset, kDTypeProperties},
                             {Py_tp_methods, kDTypeMethods},
                             {0, nullptr}};
PyType_Spec kDTypeSpec = {"fuselet.dtype", sizeof(DTypeObject), 0, Py_TPFLAGS_DEFAULT, kDTypeSlots};

// ---- device
Device device_value(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }
bool has_index(Device d) { return d.type != DeviceType::CPU; }
PyObject* device_str(PyObject* self) { return text(to_string(device_value(self))); }
std::string type_name(Device d) { return d.type == DeviceType::CPU ? "cpu" : "cuda"; }
PyObject* device_repr(PyObject* self) {
  Device d = device_value(self);
  std::string out = "device(type='" + type_name(d) + "'";
  if (has_index(d)) out += ", index=" + std::to_string(d.index);
  return text(out + ")");
}
PyObject* device_type(PyObject* self, void*) { return text(type_name(device_value(self))); }
PyObject* device_index(PyObject* self, void*) {
  Device d = device_value(self);
  if (!has_index(d)) Py_RETURN_NONE;
  return PyLong_FromLong(d.index);
}
Py_hash_t device_hash(PyObject* self) {
  Device d = device_value(self);
  return static_cast<Py_hash_t>(d.type) * 131 + d.index;
}
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
  if (!is_device(a) || !is_device(b) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((device_value(a) == device_value(b)) == (op == Py_EQ));
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(N)", reinterpret_cast<PyObject*>(g_device_type), device_str(self));
}

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  const char* kNames[] = {"type", "index", nullptr};
  PyObject* type = nullptr;
  PyObject* index = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(kNames), &type, &index))
    return nullptr;
  return guarded([&]() -> PyObject* {
    Device d = unpack_device(type);
    if (index && index != Py_None) {
      long i = PyLong_AsLong(index);
      if (i == -1 && PyErr_Occurred()) return nullptr;
      const long most = d.type == DeviceType::CPU ? 1 : kMaxCudaDevices;
      FUSELET_CHECK(i >= 0 && i < most, "device: the index must lie in [0, ", most, "), got ", i);
      d.index = static_cast<int8_t>(i);
    }
    return wrap_device(d);
  });
}

// What the running `with device:` blocks of the thread have replaced, the innermost last.
thread_local std::vector<Device> t_replaced;

PyObject* device_enter(PyObject* self, PyObject*) {
  t_replaced.push_back(get_default_device());
  set_default_device(device_value(self));
  return Py_NewRef(self);
}
PyObject* device_exit(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    FUSELET_CHECK(!t_replaced.empty(), "device: __exit__() without __enter__() on this thread");
    set_default_device(t_replaced.back());
    t_replaced.pop_back();
    Py_RETURN_FALSE;
  });
}

PyGetSetDef kDeviceProperties[] = {{"type", device_type, nullptr, "'cpu' or 'cuda'", nullptr},
                                   {"index", device_index, nullptr, "None on the CPU", nullptr},
                                   {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef kDeviceMethods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, nullptr},
    {"__enter__", device_enter, METH_NOARGS, "Inside, what names no device is made on this one."},
    {"__exit__", device_exit, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
constexpr char kDeviceDoc[] =
    "Where a tensor's memory lies: device('cpu'), device('cuda', 1) or device('cuda:1'). 'cuda' alone is the thread's "
    "current device, whose number it has at once. RuntimeError for another text or number.";
PyType_Slot kDeviceSlots[] = {{Py_tp_doc, const_cast<char*>(kDeviceDoc)},
                              {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
                              {Py_tp_str, reinterpret_cast<void*>(device_str)},
                              {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
                              {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)},
                              {Py_tp_new, reinterpret_cast<void*>(device_new)},
                              {Py_tp_getset, kDeviceProperties},
                              {Py_tp_methods, kDeviceMethods},
                              {0, nullptr}};
PyType_Spec kDeviceSpec = {"fuselet.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, kDeviceSlots};

PyObject* filled(PyTypeObject* cls, DimsView values) {
  Py_ssize_t n = static_cast<Py_ssize_t>(values.size());
  PyObject* out = checked(cls == &PyTuple_Type ? PyTuple_New(n) : cls->tp_alloc(cls, n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyTuple_SET_ITEM(out, i, PyLong_FromLongLong(values[static_cast<size_t>(i)].concrete()));
  }
  return out;
}

}  // namespace

void add_small_objects(PyObject* module) {
  g_dtype_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&kDTypeSpec)));
  g_device_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&kDeviceSpec)));
  PyModule_AddObject(module, "dtype", ObjectRef::borrow(reinterpret_cast<PyObject*>(g_dtype_type)).release());
  PyModule_AddObject(module, "device", ObjectRef::borrow(reinterpret_cast<PyObject*>(g_device_type)).release());
  for (int i = 0; i < kNumDTypes; ++i) {
    g_dtypes[i] = checked(g_dtype_type->tp_alloc(g_dtype_type, 0));
    reinterpret_cast<DTypeObject*>(g_dtypes[i])->dtype = static_cast<DType>(i);
    std::string name(name_of(static_cast<DType>(i)));
    PyModule_AddObject(module, name.c_str(), ObjectRef::borrow(g_dtypes[i]).release());
  }
}

PyObject* wrap_dtype(DType dtype) { return ObjectRef::borrow(g_dtypes[static_cast<int>(dtype)]).release(); }

PyObject* wrap_device(Device device) {
  PyObject* o = checked(g_device_type->tp_alloc(g_device_type, 0));
  reinterpret_cast<DeviceObject*>(o)->device = device;
  return o;
}

bool is_dtype(PyObject* o) { return Py_TYPE(o) == g_dtype_type; }
bool is_device(PyObject* o) { return Py_TYPE(o) == g_device_type; }

// Besides dtype objects: names, Python's number types, and NumPy's dtypes and scalar types.
DType unpack_dtype(PyObject* o) {
  if (is_dtype(o)) return dtype_of(o);
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::Float64;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::Int64;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::Bool;
  if (PyUnicode_Check(o)) return parse_dtype(checked(o) ? PyUnicode_AsUTF8(o) : "");
  ObjectRef name(PyObject_GetAttrString(o, PyType_Check(o) ? "__name__" : "name"));
  if (name && PyUnicode_Check(name.get())) return parse_dtype(PyUnicode_AsUTF8(name.get()));
  PyErr_Clear();
  throw TypeError(concat("expected a dtype, got ", Py_TYPE(o)->tp_name));
}

Device unpack_device(PyObject* o) {
  if (is_device(o)) return device_value(o);
  if (PyUnicode_Check(o)) return parse_device(PyUnicode_AsUTF8(o));
  if (PyLong_Check(o)) return parse_device("cuda:" + std::to_string(PyLong_AsLong(o)));
  throw TypeError(concat("expected a device or its name, got ", Py_TYPE(o)->tp_name));
}

void set_size_class(PyObject* cls) {
  Py_INCREF(cls);
  g_size_class = reinterpret_cast<PyTypeObject*>(cls);
}

PyObject* wrap_size(DimsView sizes) { return filled(g_size_class, sizes); }
PyObject* wrap_ints(DimsView values) { return filled(&PyTuple_Type, values); }

}  // namespace fuselet::python
