#include "frontend/python/hooks.h"

#include "frontend/python/gil.h"
#include "frontend/python/python_error.h"
#include "frontend/python/tensor_object.h"
#include "frontend/python/user_line.h"

namespace fuselet::python {

Tensor PythonHook::operator()(const Tensor& gradient) const {
  GilAcquire gil;
  LiveLine line;
  ObjectRef argument(wrap(gradient));
  ObjectRef result(checked(PyObject_CallOneArg(callable.get(), argument.get())));
  if (result.get() == Py_None) return Tensor();
  if (!is_tensor(result.get())) {
    throw TypeError(concat("a gradient hook must return a Tensor or None, got ", Py_TYPE(result.get())->tp_name));
  }
  return unpack(result.get());
}

int visit_hooks(const TensorImpl& impl, visitproc visit, void* arg) {
  const AutogradMeta* a = impl.autograd();
  if (!a || !a->hooks) return 0;
  for (const auto& [id, hook] : a->hooks->hooks) {
    const PythonHook* python = hook.target<PythonHook>();
    // Shared with nobody else, so the list's own reference is the only one to account for.
    if (python && python->callable.use_count() == 1) Py_VISIT(python->callable.get());
  }
  return 0;
}

}  // namespace fuselet::python
