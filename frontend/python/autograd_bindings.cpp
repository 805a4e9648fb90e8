#include "frontend/python/autograd_bindings.h"

#include <unordered_set>

#include "autograd/custom_function.h"
#include "autograd/engine.h"
#include "core/dispatch_state.h"
#include "core/ops/functions.h"
#include "frontend/python/gil.h"
#include "frontend/python/python_error.h"
#include "frontend/python/tensor_caster.h"
#include "frontend/python/user_line.h"

namespace fuselet::python {
namespace py = pybind11;
namespace {

struct NodeHandle {
  GradNodePtr node;
};

// The node whose backward is running on this thread, for putting a saved output back in its place.
thread_local const GradNode* t_running_node = nullptr;

// A node that stands for a value without a derivative: fails when one is asked for.
class RefusingNode final : public GradNode {
 public:
  RefusingNode(std::string name, std::string reason) : name_(std::move(name)), reason_(std::move(reason)) {}
  std::string name() const override { return name_; }
  std::vector<Tensor> apply(std::vector<Tensor>) override { throw Error(reason_); }

 private:
  std::string name_, reason_;
};

// Differentiating `t` raises `reason`; the walk reaches it through `sources` and, inside a backward, through the inputs
// of the function that runs.
void refuse_derivative(const Tensor& t, const std::vector<Tensor>& sources, const std::string& name,
                       const std::string& reason) {
  if (!is_float(t.dtype())) return;
  auto node = make_intrusive<RefusingNode>(name, reason);
  for (const Tensor& s : sources) {
    if (Edge e = gradient_edge(s); e.exists()) node->edges.push_back(std::move(e));
  }
  if (t_running_node) node->edges.insert(node->edges.end(), t_running_node->edges.begin(), t_running_node->edges.end());
  if (!node->edges.empty()) set_history(t, node, 0);
}

std::vector<Tensor> call_backward(PyObject* callable, const std::vector<Tensor>& grads, const GradNode* node) {
  GilAcquire gil;
  LiveLine line;
  const GradNode* outer = std::exchange(t_running_node, node);
  struct Restore {
    const GradNode* outer;
    ~Restore() { t_running_node = outer; }
  } restore{outer};
  ObjectRef arguments(checked(PyTuple_New(static_cast<Py_ssize_t>(grads.size()))));
  for (size_t i = 0; i < grads.size(); ++i)
    PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i), wrap(grads[i]));
  ObjectRef result(checked(PyObject_Call(callable, arguments.get(), nullptr)));
  ObjectRef items(PySequence_Fast(result.get(), "backward must return a sequence of gradients"));
  if (!items) throw PythonError();
  std::vector<Tensor> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(items.get(), i);
    if (item != Py_None && !is_tensor(item)) {
      throw TypeError(concat("backward must return Tensors or None, got ", Py_TYPE(item)->tp_name));
    }
    out.push_back(item == Py_None ? Tensor() : unpack(item));
  }
  return out;
}

// `backward(*grads)` gives a sequence with one gradient (or None) an input; `released()` runs when the tape lets go.
void record_function(const std::string& name, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                     const py::function& backward, const py::function& released) {
  SharedObject call = share(backward.ptr()), done = share(released.ptr());
  auto node = std::make_shared<const GradNode*>(nullptr);
  record_custom_function(
      name, inputs, outputs,
      [call, node](std::vector<Tensor> grads) { return call_backward(call.get(), grads, *node); },
      [done] {
        GilAcquire gil;
        ObjectRef result(checked(PyObject_CallNoArgs(done.get())));
      });
  for (const Tensor& t : outputs) {
    // The closure is owned by the node, so a plain pointer back makes no cycle.
    if (t.impl()->autograd() && t.impl()->autograd()->grad_fn)
      *node = static_cast<GradNode*>(t.impl()->autograd()->grad_fn.get());
  }
}

// Inside a backward: output `index` of the running function, with its place in the graph.
Tensor restore_output(const Tensor& plain, uint32_t index) {
  FUSELET_CHECK(t_running_node, "a saved output can only be used inside the backward of its function");
  Tensor t = detached(plain);
  if (dispatch_state().grad_enabled && is_float(t.dtype()))
    set_history(t, GradNodePtr(const_cast<GradNode*>(t_running_node)), index);
  return t;
}

// The leaves that `outputs` depend on, each once. Without recursion.
std::vector<Tensor> leaves_of(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> leaves;
  std::unordered_set<const void*> seen;
  std::vector<Edge> open;
  for (const Tensor& t : outputs) open.push_back(gradient_edge(t));
  while (!open.empty()) {
    Edge e = std::move(open.back());
    open.pop_back();
    if (e.leaf && seen.insert(e.leaf.get()).second) leaves.emplace_back(e.leaf);
    if (e.node && seen.insert(e.node.get()).second) open.insert(open.end(), e.node->edges.begin(), e.node->edges.end());
  }
  return leaves;
}

}  // namespace

PyObject* wrap_node(const GradNodePtr& node) {
  if (!node) Py_RETURN_NONE;
  return py::cast(NodeHandle{node}).release().ptr();
}

Tensor detached(const Tensor& t) {
  TensorImpl* impl = t.impl();
  if (impl->is_deferred()) {
    NoGradGuard no_grad;
    return alias(t);
  }
  return Tensor(make_intrusive<TensorImpl>(impl->storage(), Dims(impl->sizes()), Dims(impl->strides()), impl->offset(),
                                           impl->dtype()));
}

void add_autograd(py::module_& m) {
  py::class_<NodeHandle>(m, "Node", "A node of the backward tape.")
      .def(
          "name", [](const NodeHandle& n) { return n.node->name(); }, "The operator's name.")
      .def_property_readonly(
          "line", [](const NodeHandle& n) { return n.node->line; }, "Where the forward call stands.")
      .def_property_readonly(
          "next_functions",
          [](const NodeHandle& n) {
            py::list out;
            for (const Edge& e : n.node->edges) {
              out.append(py::make_tuple(py::reinterpret_steal<py::object>(wrap_node(e.node)), e.index));
            }
            return py::tuple(out);
          })
      .def("__eq__", [](const NodeHandle& a, const NodeHandle& b) { return a.node == b.node; })
      .def("__hash__", [](const NodeHandle& n) { return reinterpret_cast<size_t>(n.node.get()); })
      .def("__repr__", [](const NodeHandle& n) { return "<" + n.node->name() + ">"; });

  m.def("_backward", [](const std::vector<Tensor>& outputs, const std::vector<Tensor>& grads, bool retain_graph,
                        bool create_graph, bool detect_anomaly) {
    CapturedLine line(create_graph || dispatch_state().recording);
    GilRelease release;
    backward(outputs, grads, {retain_graph, create_graph, detect_anomaly});
  });
  m.def("_grad",
        [](const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs, const std::vector<Tensor>& grads,
           bool retain_graph, bool create_graph, bool allow_unused, bool detect_anomaly) {
          CapturedLine line(create_graph || dispatch_state().recording);
          GilRelease release;
          return grad(outputs, inputs, grads, {retain_graph, create_graph, detect_anomaly}, allow_unused);
        });
  m.def("_leaves", leaves_of);
  m.def("_record_function", record_function);
  m.def("_restore_output", restore_output);
  m.def("_refuse_derivative", refuse_derivative);
  m.def("_detached", detached);
  m.def(
      "is_grad_enabled", [] { return dispatch_state().grad_enabled; }, "Whether this thread records gradients.");
  m.def("_set_grad_enabled", [](bool on) { dispatch_state().grad_enabled = on; });
}

}  // namespace fuselet::python
