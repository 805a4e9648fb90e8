#include "frontend/python/compile_bindings.h"

#include "compiler/match/call.h"
#include "frontend/python/gil.h"
#include "frontend/python/python_error.h"
#include "frontend/python/report_bindings.h"
#include "frontend/python/tensor_caster.h"

namespace fuselet::python {
namespace py = pybind11;
namespace {

Numerics parse_numerics(const std::string& text) {
  FUSELET_CHECK(text == "fused" || text == "exact", "compile: numerics must be 'fused' or 'exact', got '", text, "'");
  return text == "exact" ? Numerics::Exact : Numerics::Fused;
}

// An exception of the caller's own stage on its way through the compiler, which lets Error pass.
struct StageRaised final : Error {
  explicit StageRaised(PythonError e) : Error(e.what()), raised(std::move(e)) {}
  PythonError raised;
};

// A stage of the caller's own: takes a Graph and returns one.
GraphStage stage_of(const std::string& name, const py::function& f) {
  SharedObject callable = share(f.ptr());
  return [name, callable](const ir::Graph& graph) {
    GilAcquire gil;
    ObjectRef given(py::cast(std::make_shared<ir::Graph>(graph)).release().ptr());
    ObjectRef result(PyObject_CallOneArg(callable.get(), given.get()));
    if (!result) throw StageRaised(PythonError());
    py::handle made(result.get());
    if (!py::isinstance<ir::Graph>(made)) {
      throw TypeError(
          concat("compile: the stage '", name, "' returned a ", Py_TYPE(result.get())->tp_name, ", expected a Graph"));
    }
    return *made.cast<std::shared_ptr<ir::Graph>>();
  };
}

std::shared_ptr<match::Function> make_function(const std::string& name, const std::string& mode, bool fullgraph,
                                               std::optional<bool> dynamic, const std::string& numerics,
                                               std::optional<int64_t> memory_budget, int recompile_limit,
                                               const std::map<std::string, py::function>& stages) {
  CompileSettings s;
  s.name = name;
  s.mode = mode;
  s.fullgraph = fullgraph;
  s.dynamic = dynamic;
  s.numerics = parse_numerics(numerics);
  s.memory_budget = memory_budget;
  s.recompile_limit = recompile_limit;
  for (const auto& [stage, f] : stages) s.stages.emplace(stage, stage_of(stage, f));
  return std::make_shared<match::Function>(std::move(s));
}

// Calls f(*args, **kwargs) as the code of the compiled function.
py::object call(match::Function& function, const py::object& f, const py::tuple& args, const py::dict& kwargs) {
  match::CallScope scope(function);
  ObjectRef result(checked(PyObject_Call(f.ptr(), args.ptr(), kwargs.ptr())));
  {
    GilRelease release;
    try {
      scope.finish();
    } catch (const StageRaised& e) {
      throw PythonError(e.raised);
    }
  }
  return py::reinterpret_steal<py::object>(result.release());
}

}  // namespace

void add_compile(py::module_& m) {
  add_reports(m);
  py::class_<match::Function, std::shared_ptr<match::Function>>(m, "CompiledFunction")
      .def(py::init(&make_function))
      .def("call", call)
      .def("reports", &match::Function::reports)
      .def("ledger", [](const match::Function& f) {
        Ledger l = f.ledger();
        py::list compilations;
        for (const Compilation& c : l.compilations)
          compilations.append(py::make_tuple(c.reason, c.line, c.milliseconds));
        return py::make_tuple(l.compiled, l.graph_replayed, l.segmented, l.eager, compilations);
      });
}

}  // namespace fuselet::python
