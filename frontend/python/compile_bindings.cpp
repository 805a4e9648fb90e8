#include "frontend/python/compile_bindings.h"

#include "compiler/match/call.h"
#include "core/dispatch_state.h"
#include "frontend/python/gil.h"
#include "frontend/python/python_error.h"
#include "frontend/python/report_bindings.h"
#include "frontend/python/tensor_caster.h"
#include "frontend/python/value_tree.h"

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

// Arguments and results of a call of a pure function, and the way between.
struct PureCall {
  ValueTree arguments, results;
  match::Shortcut shortcut;
};

// Held by Python, with the interpreter lock.
struct PythonFunction {
  explicit PythonFunction(CompileSettings settings) : function(std::move(settings)) {}
  match::Function function;
  std::vector<std::shared_ptr<const PureCall>> pure_calls;
  size_t next_pure_call = 0;
};

// Beyond, the oldest goes: a call that finds none runs the code, which costs microseconds and compiles nothing new.
constexpr size_t kMostPureCalls = 16;

std::shared_ptr<PythonFunction> make_function(const std::string& name, const std::string& mode, bool fullgraph,
                                              std::optional<bool> dynamic, bool pure, const std::string& numerics,
                                              std::optional<int64_t> memory_budget, int recompile_limit,
                                              const std::map<std::string, py::function>& stages) {
  CompileSettings s;
  s.name = name;
  s.mode = mode;
  s.fullgraph = fullgraph;
  s.dynamic = dynamic;
  s.pure = pure;
  s.numerics = parse_numerics(numerics);
  s.memory_budget = memory_budget;
  s.recompile_limit = recompile_limit;
  for (const auto& [stage, f] : stages) s.stages.emplace(stage, stage_of(stage, f));
  return std::make_shared<PythonFunction>(std::move(s));
}

// The results of a call that an earlier one knows the way for; nullptr if none does.
PyObject* call_by_shortcut(PythonFunction& f, PyObject* args, PyObject* kwargs) {
  std::vector<Tensor> arguments, results;
  for (size_t i = 0; i < f.pure_calls.size(); ++i) {
    std::shared_ptr<const PureCall> known = f.pure_calls[i];
    size_t at = 0;
    arguments.clear();
    if (!known->arguments.matches(args, &at, &arguments) || !known->arguments.matches(kwargs, &at, &arguments))
      continue;
    bool followed;
    {
      GilRelease release;
      followed = match::follow_shortcut(f.function, known->shortcut, arguments, &results);
    }
    if (!followed) continue;
    size_t node = 0, tensor = 0;
    return known->results.build(&node, results, &tensor);
  }
  return nullptr;
}

void remember(PythonFunction& f, std::shared_ptr<const PureCall> call) {
  if (f.pure_calls.size() < kMostPureCalls) return f.pure_calls.push_back(std::move(call));
  f.pure_calls[f.next_pure_call] = std::move(call);
  f.next_pure_call = (f.next_pure_call + 1) % kMostPureCalls;
}

void finish_pure(PythonFunction& f, match::CallScope& scope, PyObject* args, PyObject* kwargs, PyObject* result) {
  auto made = std::make_shared<PureCall>();
  std::vector<Tensor> arguments, results;
  bool described = made->arguments.add(args, &arguments) && made->arguments.add(kwargs, &arguments) &&
                   made->results.add(result, &results) && made->results.holds_only_plain_tensors();
  {
    GilRelease release;
    if (described) {
      made->shortcut = scope.finish_with_shortcut(arguments, results);
    } else {
      scope.finish();
    }
  }
  if (made->shortcut.program) remember(f, std::move(made));
}

// Calls code(*args, **kwargs) as the code of the compiled function.
py::object call(PythonFunction& f, const py::object& code, const py::tuple& args, const py::dict& kwargs) {
  const bool pure = f.function.settings().pure;
  if (pure) {
    if (PyObject* known = call_by_shortcut(f, args.ptr(), kwargs.ptr()))
      return py::reinterpret_steal<py::object>(known);
  }
  match::CallScope scope(f.function);
  ObjectRef result(checked(PyObject_Call(code.ptr(), args.ptr(), kwargs.ptr())));
  try {
    if (pure) {
      finish_pure(f, scope, args.ptr(), kwargs.ptr(), result.get());
    } else {
      GilRelease release;
      scope.finish();
    }
  } catch (const StageRaised& e) {
    throw PythonError(e.raised);
  }
  return py::reinterpret_steal<py::object>(result.release());
}

}  // namespace

void add_compile(py::module_& m) {
  add_reports(m);
  m.def("_is_compiling", [] { return dispatch_state().compiled_call != nullptr; });
  py::class_<PythonFunction, std::shared_ptr<PythonFunction>>(m, "CompiledFunction")
      .def(py::init(&make_function))
      .def("call", call)
      .def("reports", [](const PythonFunction& f) { return f.function.reports(); })
      .def("ledger", [](const PythonFunction& f) {
        Ledger l = f.function.ledger();
        py::list compilations;
        for (const Compilation& c : l.compilations)
          compilations.append(py::make_tuple(c.reason, c.line, c.milliseconds));
        return py::make_tuple(l.compiled, l.graph_replayed, l.segmented, l.eager, compilations);
      });
}

}  // namespace fuselet::python
