// The extension module fuselet._C.
#include <pybind11/pybind11.h>

#include "backends/threads.h"
#include "core/default_device.h"
#include "core/host_cell.h"
#include "core/nonzero.h"
#include "core/ops/functions.h"
#include "frontend/python/autograd_bindings.h"
#include "frontend/python/compile_bindings.h"
#include "frontend/python/convert.h"
#include "frontend/python/cuda_bindings.h"
#include "frontend/python/dlpack.h"
#include "frontend/python/generators.h"
#include "frontend/python/indexing.h"
#include "frontend/python/operators.h"
#include "frontend/python/python_error.h"
#include "frontend/python/recording_bindings.h"
#include "frontend/python/small_objects.h"
#include "frontend/python/tensor_caster.h"
#include "frontend/python/tensor_data.h"
#include "frontend/python/tensor_object.h"
#include "frontend/python/user_line.h"

PYBIND11_DECLARE_HOLDER_TYPE(T, fuselet::IntrusivePtr<T>, true)

namespace fuselet::python {
namespace py = pybind11;
namespace {

CellPtr read_cell(PyObject* o) {
  py::handle h(o);
  if (!py::isinstance<HostCell>(h)) return {};
  return CellPtr(h.cast<HostCell*>());
}

void add_cells(py::module_& m) {
  py::class_<HostCell, CellPtr>(m, "HostCell", "A number that recordings read again on every run.")
      .def(py::init([](double value, std::string name) { return CellPtr(new HostCell(value, std::move(name))); }),
           py::arg("value"), py::arg("name") = "")
      .def("get", &HostCell::get)
      .def("set", &HostCell::set, py::arg("value"), "Another number, for later runs as well.")
      .def("advance", &HostCell::advance, py::arg("by"),
           "Adds to the number, now and on every run of a running recording.")
      .def_property_readonly("name", &HostCell::name)
      .def("__float__", &HostCell::get)
      .def("__repr__", [](const HostCell& c) { return concat("HostCell(", c.get(), ", name='", c.name(), "')"); });
  set_cell_reader(read_cell);
}

void add_making(py::module_& m) {
  m.def("_from_nested", [](const py::object& data, const py::object& dtype, const py::object& device) {
    std::optional<DType> type;
    if (!dtype.is_none()) type = unpack_dtype(dtype.ptr());
    return tensor_from_nested(data.ptr(), type, unpack_device(device.ptr()));
  });
  m.def("_copy_of_array", [](const py::object& array, const py::object& device) {
    return tensor_from_array(array.ptr(), unpack_device(device.ptr()));
  });
  m.def("_over_array", [](const py::object& array) { return tensor_over_array(array.ptr()); });
  m.def("_from_capsule", [](const py::object& capsule) { return from_capsule(capsule.ptr()); });
  m.def("_make_subclass", [](const py::object& cls, const Tensor& data, bool requires_grad) {
    Tensor t = detached(data);
    t.requires_grad_(requires_grad);
    return py::reinterpret_steal<py::object>(wrap_as(reinterpret_cast<PyTypeObject*>(cls.ptr()), std::move(t)));
  });
  // The elements of `t`, of an equally wide dtype, read as `dtype`.
  m.def("_reinterpret", [](const Tensor& t, DType dtype) {
    FUSELET_CHECK(size_of(t.dtype()) == size_of(dtype), "view: ", name_of(t.dtype()), " and ", name_of(dtype),
                  " have different widths");
    const TensorImpl* i = t.impl();
    return Tensor(make_intrusive<TensorImpl>(i->storage(), Dims(i->sizes()), Dims(i->strides()), i->offset(), dtype));
  });
  m.def("_index_put", [](const Tensor& self, const py::tuple& index, const Tensor& values, bool accumulate) {
    index_put(self, index.ptr(), values, accumulate);
  });
  m.def("_nonzero", [](const Tensor& t, const std::string& op) { return nonzero(t, op.c_str()); });
  m.def("_bump_version", [](const Tensor& t) { t.impl()->storage()->bump_version(); });
}

void add_settings(py::module_& m) {
  m.def(
      "get_default_dtype", [] { return dispatch_state().default_dtype; },
      "This thread's default dtype: that of Python floats and of tensors made without a dtype.");
  m.def(
      "set_default_dtype",
      [](DType t) {
        FUSELET_CHECK(is_float(t), "set_default_dtype: expected a floating dtype, got ", name_of(t));
        dispatch_state().default_dtype = t;
      },
      py::arg("t"), "Sets get_default_dtype(); RuntimeError for a dtype that is not floating.");
  m.def(
      "get_default_device", [] { return py::reinterpret_steal<py::object>(wrap_device(get_default_device())); },
      "The device of what is made without a device, on this thread.");
  m.def("set_default_device", [](const py::object& device) {
    set_default_device(device.is_none() ? Device{} : unpack_device(device.ptr()));
  });
  // While the code of a compiled function runs.
  m.def("_is_in_compiled_call", [] { return dispatch_state().compiled_call != nullptr; });
  m.def(
      "promote_types", [](DType a, DType b) { return promote(a, b); }, py::arg("type1"), py::arg("type2"),
      "The dtype in which two meet: the higher category, then the wider one; float32 for float16 with bfloat16, int32 "
      "for int8 with uint8.");
  m.def("set_float32_matmul_precision",
        [](const std::string& precision) { fuselet::set_float32_matmul_precision(precision); });
  m.def("get_float32_matmul_precision", [] { return std::string(name_of(fuselet::float32_matmul_precision())); });
  m.def(
      "get_num_threads", [] { return fuselet::get_num_threads(); }, "How many threads loops on the CPU use.");
  m.def(
      "set_num_threads",
      [](int n) {
        FUSELET_CHECK(n > 0, "set_num_threads: expected a positive number, got ", n);
        fuselet::set_num_threads(n);
      },
      py::arg("n"), "How many threads later loops on the CPU use, of all callers. Results do not depend on it.");
  m.def("_is_inside_compiled_function",
        [] { return dispatch_state().compiled_call != nullptr || dispatch_state().recording != nullptr; });
  m.def("_install_line_hook", [](const std::string& folder) { install_line_hook(folder.c_str()); });
  m.def("_register_classes", [](const py::object& tensor, const py::object& size) {
    set_tensor_class(tensor.ptr());
    set_size_class(size.ptr());
  });
}

void translate(std::exception_ptr p) {
  try {
    if (p) std::rethrow_exception(p);
  } catch (const PythonError&) {
    raise_current_exception();
  } catch (const Error&) {
    raise_current_exception();
  } catch (const InternalError&) {
    raise_current_exception();
  }
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  m.doc() = "The bindings of fuselet; users import fuselet.";
  add_error_classes(m.ptr());
  py::register_local_exception_translator(translate);
  add_small_objects(m.ptr());
  make_tensor_base(m.ptr());
  py::module_ functions = m.def_submodule("functions", "The operators for users, from the operator table.");
  py::module_ internal =
      m.def_submodule("internal", "Operators that other code is written in: gradients, optimizer steps.");
  add_operator_functions(functions.ptr(), internal.ptr());
  add_generators(m);
  add_cells(m);
  add_making(m);
  add_settings(m);
  add_autograd(m);
  add_recording(m);
  add_compile(m);
  add_cuda(m);
}

}  // namespace fuselet::python
