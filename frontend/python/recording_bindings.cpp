#include "frontend/python/recording_bindings.h"

#include <optional>

#include "compiler/trace/record.h"
#include "core/dispatch_state.h"
#include "frontend/python/gil.h"
#include "frontend/python/python_error.h"
#include "frontend/python/tensor_caster.h"

namespace fuselet::python {
namespace py = pybind11;
namespace {

// A node by its place in a graph, which it keeps alive.
struct NodeView {
  std::shared_ptr<const ir::Graph> graph;
  size_t index;
  const ir::Node& node() const { return graph->nodes[index]; }
};

// PauseRecordingGuard as a context manager.
struct PauseRecording {
  std::optional<PauseRecordingGuard> guard;
};

std::vector<Tensor> call_body(const py::function& body, const std::vector<Tensor>& args) {
  ObjectRef arguments(checked(PyTuple_New(static_cast<Py_ssize_t>(args.size()))));
  for (size_t i = 0; i < args.size(); ++i)
    PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i), checked(wrap(args[i])));
  ObjectRef result(checked(PyObject_Call(body.ptr(), arguments.get(), nullptr)));
  return py::handle(result.get()).cast<std::vector<Tensor>>();
}

void add_graph(py::module_& m) {
  py::class_<NodeView>(m, "GraphNode", "One operator of a graph.")
      .def_property_readonly(
          "op", [](const NodeView& n) { return std::string(op_of(n.node().op).name); }, "The operator's name.")
      .def_property_readonly(
          "line", [](const NodeView& n) { return n.node().origin.line; },
          "\"train.py:33\": the user's line that called it; of a backward node, the line of its forward.")
      .def_property_readonly(
          "backward", [](const NodeView& n) { return n.node().origin.backward; }, "Whether backward() recorded it.")
      .def_property_readonly(
          "draw",
          [](const NodeView& n) {
            return n.node().draw < 0 ? std::optional<int>() : std::optional<int>(n.node().draw);
          },
          "The number of its random draw, counted from the graph's first; None if it draws nothing.")
      .def("__repr__",
           [](const NodeView& n) { return concat("<", op_of(n.node().op).name, " at ", n.node().origin.line, ">"); });

  py::class_<ir::Graph, std::shared_ptr<ir::Graph>>(m, "Graph", "A recorded function; str() is its text.")
      .def_readonly("name", &ir::Graph::name)
      .def_property_readonly(
          "nodes",
          [](const std::shared_ptr<ir::Graph>& g) {
            py::tuple out(g->nodes.size());
            for (size_t i = 0; i < g->nodes.size(); ++i) out[i] = NodeView{g, i};
            return out;
          },
          "The operators in the order in which they run.")
      .def_property_readonly(
          "inputs",
          [](const ir::Graph& g) {
            py::tuple out(g.inputs.size());
            for (size_t i = 0; i < g.inputs.size(); ++i) out[i] = g.inputs[i].name;
            return out;
          },
          "Names: first the arguments, then the tensors that the function met.")
      .def_property_readonly(
          "cells", [](const ir::Graph& g) { return py::tuple(py::cast(g.cells)); },
          "Names of the host cells that are read again on every run.")
      .def_readonly("draws", &ir::Graph::draws, "How many random draws a run takes.")
      .def(
          "verify", [](const ir::Graph& g) { ir::verify(g); }, "InternalError if the graph is not well formed.")
      .def("__str__", [](const ir::Graph& g) { return ir::print(g); })
      .def("__repr__", [](const ir::Graph& g) {
        return concat("<Graph '", g.name, "': ", g.nodes.size(), " nodes, ", g.inputs.size(), " inputs>");
      });
  m.def("parse_graph", [](const std::string& text) { return std::make_shared<ir::Graph>(ir::parse(text)); });
}

}  // namespace

void add_recording(py::module_& m) {
  add_graph(m);
  py::class_<RecordedFunction>(m, "Recorded")
      .def("run",
           [](const RecordedFunction& f, const std::vector<Tensor>& args) {
             GilRelease release;
             return f(args);
           })
      .def_property_readonly("graph", [](const RecordedFunction& f) { return std::make_shared<ir::Graph>(f.graph()); })
      .def_property_readonly("first_outputs", &RecordedFunction::first_outputs);
  // Holds the lock throughout: the tensors that f made are Python's and the recording's at once.
  m.def("record", [](const py::function& body, const std::vector<Tensor>& args, const std::string& name,
                     std::vector<std::pair<std::string, Tensor>> names) {
    return record([&](const std::vector<Tensor>& given) { return call_body(body, given); }, args,
                  {name, std::move(names)});
  });
  py::class_<PauseRecording>(m, "pause_recording",
                             "A context: operators inside run at once although a recording is running.")
      .def(py::init<>())
      .def("__enter__", [](PauseRecording& p) { p.guard.emplace(); })
      .def("__exit__", [](PauseRecording& p, const py::args&) { p.guard.reset(); });
}

}  // namespace fuselet::python
