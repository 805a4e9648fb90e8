// Arithmetic and comparison operators of Python on tensors.
#include "core/ops/functions.h"
#include "frontend/python/convert.h"
#include "frontend/python/python_error.h"
#include "frontend/python/run_operator.h"
#include "frontend/python/tensor_object.h"
#include "frontend/python/tensor_slots.h"

namespace fuselet::python {
namespace {

// False: the object is neither tensor nor number, so Python may ask the other operand.
bool to_operand(PyObject* o, Arg& arg, Scalar& number) {
  if (is_tensor(o)) {
    arg = Arg(unpack(o));
    return true;
  }
  if (!to_scalar(o, number)) return false;
  arg = Arg(number);
  return true;
}

PyObject* run_binary(OpId id, PyObject* a, PyObject* b, bool in_place) {
  return guarded([&]() -> PyObject* {
    Arg args[2];
    Scalar numbers[2];
    if (!to_operand(a, args[0], numbers[0]) || !to_operand(b, args[1], numbers[1])) Py_RETURN_NOTIMPLEMENTED;
    return run_and_wrap(op_of(id), args, 2, in_place);
  });
}

template <OpId id>
PyObject* binary(PyObject* a, PyObject* b) {
  return run_binary(id, a, b, false);
}
template <OpId id>
PyObject* binary_in_place(PyObject* a, PyObject* b) {
  return run_binary(id, a, b, true);
}
PyObject* matrix_product(PyObject* a, PyObject* b) {
  if (!is_tensor(a) || !is_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
  return run_binary(OpId::matmul, a, b, false);
}
PyObject* power(PyObject* a, PyObject* b, PyObject*) { return run_binary(OpId::pow, a, b, false); }
PyObject* power_in_place(PyObject* a, PyObject* b, PyObject*) { return run_binary(OpId::pow, a, b, true); }

template <OpId id>
PyObject* unary(PyObject* self) {
  return guarded([&] {
    Arg arg(unpack(self));
    return run_and_wrap(op_of(id), &arg, 1, false);
  });
}

PyObject* positive(PyObject* self) {
  Py_INCREF(self);
  return self;
}

// The one element as a Python number.
PyObject* element(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unpack(self);
    if (is_float(t.dtype())) return PyFloat_FromDouble(t.item());
    if (t.dtype() == DType::Bool) return PyBool_FromLong(t.item() != 0);
    return PyLong_FromLongLong(t.item_int());
  });
}

int truth(PyObject* self) {
  PyObject* ok = guarded([&]() -> PyObject* {
    const Tensor& t = unpack(self);
    FUSELET_CHECK(t.numel() == 1, "the truth of a tensor of shape ", to_string(t.sizes()),
                  " is ambiguous; use (t != 0).amax() or compare single elements");
    return t.item() != 0 ? Py_True : Py_False;  // borrowed
  });
  return ok ? ok == Py_True : -1;
}

PyObject* as_int(PyObject* self) {
  ObjectRef value(element(self));
  return value ? PyNumber_Long(value.get()) : nullptr;
}
PyObject* as_float(PyObject* self) {
  ObjectRef value(element(self));
  return value ? PyNumber_Float(value.get()) : nullptr;
}
PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unpack(self);
    if (is_float(t.dtype()) || t.numel() != 1)
      throw TypeError("only an integer tensor of one element can serve as an index");
    return PyLong_FromLongLong(t.item_int());
  });
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_LT:
      return run_binary(OpId::lt, a, b, false);
    case Py_LE:
      return run_binary(OpId::le, a, b, false);
    case Py_EQ:
      return run_binary(OpId::eq, a, b, false);
    case Py_NE:
      return run_binary(OpId::ne, a, b, false);
    case Py_GT:
      return run_binary(OpId::gt, a, b, false);
    case Py_GE:
      return run_binary(OpId::ge, a, b, false);
  }
  Py_RETURN_NOTIMPLEMENTED;
}

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

void append_number_slots(std::vector<PyType_Slot>& slots) {
  const PyType_Slot all[] = {
      {Py_nb_add, slot(binary<OpId::add>)},
      {Py_nb_subtract, slot(binary<OpId::sub>)},
      {Py_nb_multiply, slot(binary<OpId::mul>)},
      {Py_nb_true_divide, slot(binary<OpId::div>)},
      {Py_nb_floor_divide, slot(binary<OpId::floor_divide>)},
      {Py_nb_remainder, slot(binary<OpId::remainder>)},
      {Py_nb_power, slot(power)},
      {Py_nb_matrix_multiply, slot(matrix_product)},
      {Py_nb_and, slot(binary<OpId::bitwise_and>)},
      {Py_nb_or, slot(binary<OpId::bitwise_or>)},
      {Py_nb_xor, slot(binary<OpId::bitwise_xor>)},
      {Py_nb_lshift, slot(binary<OpId::bitwise_left_shift>)},
      {Py_nb_rshift, slot(binary<OpId::bitwise_right_shift>)},
      {Py_nb_inplace_add, slot(binary_in_place<OpId::add>)},
      {Py_nb_inplace_subtract, slot(binary_in_place<OpId::sub>)},
      {Py_nb_inplace_multiply, slot(binary_in_place<OpId::mul>)},
      {Py_nb_inplace_true_divide, slot(binary_in_place<OpId::div>)},
      {Py_nb_inplace_floor_divide, slot(binary_in_place<OpId::floor_divide>)},
      {Py_nb_inplace_remainder, slot(binary_in_place<OpId::remainder>)},
      {Py_nb_inplace_and, slot(binary_in_place<OpId::bitwise_and>)},
      {Py_nb_inplace_or, slot(binary_in_place<OpId::bitwise_or>)},
      {Py_nb_inplace_xor, slot(binary_in_place<OpId::bitwise_xor>)},
      {Py_nb_inplace_power, slot(power_in_place)},
      {Py_nb_negative, slot(unary<OpId::neg>)},
      {Py_nb_positive, slot(positive)},
      {Py_nb_absolute, slot(unary<OpId::abs>)},
      {Py_nb_invert, slot(unary<OpId::bitwise_not>)},
      {Py_nb_bool, slot(truth)},
      {Py_nb_int, slot(as_int)},
      {Py_nb_float, slot(as_float)},
      {Py_nb_index, slot(as_index)},
      {Py_tp_richcompare, slot(compare)},
      {Py_tp_hash, slot(_Py_HashPointer)},
  };
  slots.insert(slots.end(), std::begin(all), std::end(all));
}

}  // namespace fuselet::python
