#include "frontend/python/generators.h"

#include <memory>
#include <random>

#include "core/error.h"
#include "frontend/python/small_objects.h"

namespace fuselet::python {
namespace py = pybind11;
namespace {

// A generator of its own, or the process's default one.
struct GeneratorHandle {
  std::shared_ptr<Generator> own;
  Generator& get() const { return own ? *own : default_generator(); }
};

GeneratorState next_draw_of(PyObject* o) {
  py::handle h(o);
  if (!py::isinstance<GeneratorHandle>(h)) {
    throw TypeError(concat("generator: expected a fuselet.Generator, got ", Py_TYPE(o)->tp_name));
  }
  return h.cast<GeneratorHandle&>().get().next_draw();
}

// PyTorch's default seed is arbitrary; a fixed one makes a first run repeatable.
constexpr uint64_t kFirstSeed = 0;

}  // namespace

DrawFrom::DrawFrom(PyObject* generator) : scope_(next_draw_of(generator)) {}

void add_generators(py::module_& m) {
  py::class_<GeneratorHandle>(m, "Generator", "A seed and a count of draws; each random operator takes one draw.")
      .def(py::init([](const py::object&) {
             GeneratorHandle h{std::make_shared<Generator>()};
             h.own->set_state({kFirstSeed, 0});
             return h;
           }),
           py::arg("device") = "cpu")
      .def(
          "manual_seed",
          [](py::object self, uint64_t seed) {
            self.cast<GeneratorHandle&>().get().set_state({seed, 0});
            return self;
          },
          py::arg("seed"), "Starts the draws of a seed anew; returns the generator.")
      .def(
          "seed",
          [](GeneratorHandle& h) {
            uint64_t seed = std::random_device{}() | uint64_t{std::random_device{}()} << 32;
            h.get().set_state({seed, 0});
            return seed;
          },
          "manual_seed() of a number that is different every time; returns the number.")
      .def(
          "initial_seed", [](GeneratorHandle& h) { return h.get().state().seed; }, "The seed.")
      .def_property_readonly(
          "device",
          [](GeneratorHandle&) {
            return py::reinterpret_steal<py::object>(wrap_device(Device{}));  // its numbers serve every device
          })
      .def(
          "next_seed",
          [](GeneratorHandle& h) {
            GeneratorState s = h.get().next_draw();
            return s.seed * 0x9E3779B97F4A7C15u + s.draws;
          },
          "A number drawn from this generator, to seed another one with.")
      .def(
          "get_state", [](GeneratorHandle& h) { return std::pair(h.get().state().seed, h.get().state().draws); },
          "(seed, draws).")
      .def(
          "set_state",
          [](py::object self, std::pair<uint64_t, uint64_t> state) {
            self.cast<GeneratorHandle&>().get().set_state({state.first, state.second});
            return self;
          },
          py::arg("state"), "Takes over what get_state() gave; returns the generator.")
      .def("__repr__", [](GeneratorHandle& h) {
        return concat("Generator(seed=", h.get().state().seed, ", draws=", h.get().state().draws, ")");
      });
  m.attr("default_generator") = py::cast(GeneratorHandle{});
}

}  // namespace fuselet::python
