#include "frontend/python/report_bindings.h"

#include <pybind11/stl.h>

#include "compiler/report/draw_report.h"
#include "core/error.h"

namespace fuselet::python {
namespace py = pybind11;
namespace {

using report::CompileReport;
using report::Drawing;

// A stage that the report has; Error naming those that there are.
const report::StageReport& stage_of(const CompileReport& r, const std::string& name) {
  if (const report::StageReport* stage = r.stage(name)) return *stage;
  std::string names;
  for (const report::StageReport& s : r.stages) names += (names.empty() ? "" : ", ") + s.name;
  fail("report: no stage '", name, "'; there are ", names);
}

void add_parts(py::module_& m) {
  py::class_<report::StageReport>(m, "StageReport", "A stage's value as text, and its time.")
      .def_readonly("name", &report::StageReport::name)
      .def_readonly("text", &report::StageReport::text)
      .def_readonly("milliseconds", &report::StageReport::milliseconds)
      .def("__str__", [](const report::StageReport& s) { return s.text; });
  py::class_<report::KernelReport>(m, "KernelReport", "A generated kernel.")
      .def_readonly("name", &report::KernelReport::name)
      .def_readonly("source", &report::KernelReport::source, "The text that the compiler was given.")
      .def_readonly("origin", &report::KernelReport::origin,
                    "'compiled', 'memory cache', 'disk cache' or 'interpreted'.")
      .def_readonly("remark", &report::KernelReport::remark, "Why it is interpreted or not cached; else empty.")
      .def_readonly("milliseconds", &report::KernelReport::milliseconds)
      .def_readonly("bytes", &report::KernelReport::bytes, "Read and written, each buffer once.")
      .def_readonly("nodes", &report::KernelReport::nodes, "Primitives that it computes, by number.")
      .def("__repr__", [](const report::KernelReport& k) { return "<kernel " + k.name + ">"; });
  py::class_<report::RefusedFusion>(m, "RefusedFusion", "Two neighbours in kernels of their own, and why.")
      .def_readonly("first", &report::RefusedFusion::first)
      .def_readonly("second", &report::RefusedFusion::second)
      .def_readonly("bytes", &report::RefusedFusion::bytes, "That one kernel would have saved.")
      .def_readonly("reason", &report::RefusedFusion::reason)
      .def("__repr__",
           [](const report::RefusedFusion& f) { return "<" + f.first + " with " + f.second + ": " + f.reason + ">"; });
  py::class_<Drawing>(m, "Drawing", "A drawing of a graph; notebooks show it.")
      .def_property_readonly(
          "svg", [](const Drawing& d) { return report::svg_by_graphviz(d); },
          "By Graphviz where it is installed, else by our own layout.")
      .def_property_readonly(
          "dot", [](const Drawing& d) { return report::dot_of(d); }, "Graphviz text.")
      .def("_repr_svg_", [](const Drawing& d) { return report::svg_by_graphviz(d); });
}

}  // namespace

void add_reports(py::module_& m) {
  add_parts(m);
  py::class_<CompileReport>(m, "CompileReport", "What a compilation left: every stage's value, kernels, bytes.")
      .def_readonly("graph", &CompileReport::graph)
      .def_readonly("operators", &CompileReport::operators, "Nodes of the recorded graph.")
      .def_readonly("primitives", &CompileReport::primitives, "Nodes of the decomposed and cleaned graph.")
      .def_readonly("stages", &CompileReport::stages)
      .def_readonly("kernels", &CompileReport::kernels)
      .def_readonly("calls", &CompileReport::calls, "Operators that run as calls of the backend's kernels.")
      .def_readonly("refused", &CompileReport::refused)
      .def_readonly("bytes_unfused", &CompileReport::bytes_unfused, "Memory traffic of every primitive by itself.")
      .def_readonly("bytes_fused", &CompileReport::bytes_fused, "Memory traffic of the kernels.")
      .def_readonly("arena_bytes", &CompileReport::arena_bytes, "Memory of a call for values inside.")
      .def_readonly("arena_bytes_unshared", &CompileReport::arena_bytes_unshared, "The same if no memory served twice.")
      .def_readonly("writes_in_place", &CompileReport::writes_in_place)
      .def_readonly("writes_copied", &CompileReport::writes_copied)
      .def_property_readonly(
          "saved_bytes",
          [](const CompileReport& r) { return r.partition ? std::optional(r.partition->saved_bytes) : std::nullopt; },
          "That the forward saves for a backward that comes later; None if there is none.")
      .def("stage", &stage_of, py::return_value_policy::reference_internal, py::arg("name"),
           "The value of a stage by name; of several, the last.")
      .def("draw", &report::draw_report, py::arg("what") = "groups",
           "A Drawing of the 'graph' of primitives, its kernel 'groups', or the 'cut' of forward and backward.")
      .def_property_readonly("text", [](const CompileReport& r) { return report::text_of(r); })
      .def("__str__", [](const CompileReport& r) { return report::text_of(r); });
}

}  // namespace fuselet::python
