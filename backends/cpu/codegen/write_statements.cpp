// The statements of a nest as lines of C++.
#include <algorithm>

#include "backends/cpu/codegen/nest_writer.h"

namespace fuselet::cpu::codegen {

using kernel::Kind;
using kernel::Statement;

int NestWriter::load_at_number(int i) const {
  return static_cast<int>(std::count_if(nest_.body.begin(), nest_.body.begin() + i,
                                        [](const Statement& s) { return s.kind == Kind::LoadAt; }));
}

// Index k of LoadAt i as a distance: a long, or lanes where the index is a vector.
std::string NestWriter::place(int i, int k) {
  const size_t s = static_cast<size_t>(i), d = static_cast<size_t>(k);
  const int index = at(i).indices[d].statement;
  const int local = load_at_number(i);
  const std::string number =
      group_.number([local](const PlacedNest& n) { return int64_t{1 + n.first_load_at + local}; });
  const std::string rest = group_.number([=](const PlacedNest& n) { return n.nest->body[s].indices[d].size; }) + ", " +
                           group_.number([=](const PlacedNest& n) { return n.nest->body[s].indices[d].stride; }) + ")";
  if (is_vector(index)) return "places_of<W>(task, " + number + ", lanes, " + name(index) + ", " + rest;
  return "place_of(task, " + number + ", " + name(index) + ", " + rest;
}
std::string NestWriter::formula(int i, bool vector) {
  const Statement& s = at(i);
  std::string text = std::string("formula::") + op_of(s.op).formula + "(";
  for (size_t k = 0; k < s.args.size(); ++k) {
    text += (k ? ", " : "") + (vector ? lanes_of(s.args[k], s.compute) : scalar_of(s.args[k], s.compute));
  }
  text += ")";
  if (s.dtype != s.compute) text = "convert<" + std::string(stored_type(s.dtype)) + ">(" + text + ")";
  return text;
}

void NestWriter::scalar_statement(int i) {
  const Statement& s = at(i);
  const std::string type = stored_type(s.dtype), number = std::to_string(i);
  const std::string draw = "task.draws[" + group_.number([i](const PlacedNest& n) {
    return int64_t{n.nest->body[static_cast<size_t>(i)].parameter};
  }) + "]";
  std::string value;
  switch (s.kind) {
    case Kind::Load:
      value = "load_one(b_" + number + " + " + offset(i, 0, rank()) + ")";
      break;
    case Kind::LoadAt: {
      std::string where = "b_" + number + " + " + offset(i, 0, rank());
      bool readable = true;
      for (size_t k = 0; k < s.indices.size(); ++k) {
        where += " + " + place(i, static_cast<int>(k));
        readable = readable && s.indices[k].size > 0;
      }
      value =
          readable ? "load_one(" + where + ")" : "((void)(" + where + "), " + std::string(held_type(s.dtype)) + "())";
      break;
    }
    case Kind::Constant:
      value = constant_text(s);
      break;
    case Kind::Scalar:
      value = "convert<" + type + ">(task.scalars[" + group_.number([i](const PlacedNest& n) {
        return int64_t{n.nest->body[static_cast<size_t>(i)].parameter};
      }) + "])";
      break;
    case Kind::Position:
      value = offset(i, 0, rank());
      break;
    case Kind::Random: {
      const std::string element = draw + ", " + offset(i, 0, rank());
      value = s.distribution == kernel::Distribution::Bernoulli
                  ? "kept_one(" + element + ", " + std::to_string(s.threshold) + ")"
                  : (s.distribution == kernel::Distribution::Uniform ? "uniform_one<" : "normal_one<") + type + ">(" +
                        element + ")";
      break;
    }
    case Kind::Formula:
      value = formula(i, false);
      break;
    case Kind::Convert:
      value = "convert<" + type + ">(" + name(s.args[0]) + ")";
      break;
    case Kind::Reduce:
      return;  // the loops' business
    case Kind::Store:
      line("store_one(b_" + number + " + " + offset(i, 0, rank()) + ", " + name(s.args[0]) + ");" + note_text(s));
      return;
  }
  line("[[maybe_unused]] const " + std::string(held_type(s.dtype)) + " " + name(i) + " = " + value + ";" +
       note_text(s));
}

void NestWriter::vector_statement(int i) {
  const Statement& s = at(i);
  const std::string number = std::to_string(i);
  const int64_t stride = s.access.strides.empty() ? 0 : s.access.strides[last()];
  if (staged_.count(i)) {
    const std::string place = "at_" + number + " + (j - from)";
    line(s.kind == Kind::Store
             ? "store(lanes, " + place + ", " + lanes_of(s.args[0], s.dtype) + ");" + note_text(s)
             : "const " + vector_type(s.dtype) + " " + name(i) + " = load<W>(lanes, " + place + ");" + note_text(s));
    return;
  }
  const std::string step = s.access.strides.empty() ? "0" : group_.number([i, this](const PlacedNest& n) {
    return n.nest->body[static_cast<size_t>(i)].access.strides[last()];
  });
  const std::string along = "at_" + number + (stride == 1 ? " + j" : " + j * " + step);
  std::string value;
  switch (s.kind) {
    case Kind::Load:
      value = stride == 1 ? "load<W>(lanes, " + along + ")" : "load_strided<W>(lanes, " + along + ", " + step + ")";
      break;
    case Kind::LoadAt: {
      std::string places;
      bool readable = true;
      for (size_t k = 0; k < s.indices.size(); ++k) {
        readable = readable && s.indices[k].size > 0;
        if (is_vector(s.indices[k].statement)) places += (places.empty() ? "" : " + ") + place(i, static_cast<int>(k));
      }
      if (places.empty() && !readable) {
        value = vector_type(s.dtype) + "{}";
      } else if (places.empty()) {
        value = stride == 1 ? "load<W>(lanes, " + along + ")" : "load_strided<W>(lanes, " + along + ", " + step + ")";
      } else {
        value = "gather<W>(lanes, " + (stride == 0 ? "at_" + number : along) + ", " + step + ", " + places + ", " +
                (readable ? "true" : "false") + ")";
      }
      break;
    }
    case Kind::Position:
      value = "ramp<L>(from_" + number + (stride == 1 ? " + j" : " + j * " + step) + ", " + step + ")";
      break;
    case Kind::Random:
      value = s.distribution == kernel::Distribution::Bernoulli ? "load_kept<W>(" : "load<W>(Whole{}, ";
      value += "tile_" + number + " + (j - first))";
      break;
    case Kind::Formula:
      value = formula(i, true);
      break;
    case Kind::Convert:
      value = "convert<" + std::string(stored_type(s.dtype)) + ">(" +
              (is_vector(s.args[0]) ? name(s.args[0]) : lanes_of(s.args[0], at(s.args[0]).dtype)) + ")";
      break;
    case Kind::Constant:
    case Kind::Scalar:
      value = "as<" + vector_type(s.dtype) + ">(" + constant_text(s) + ")";
      break;
    case Kind::Reduce:
      return;
    case Kind::Store: {
      const std::string what = lanes_of(s.args[0], s.dtype);
      line(stride == 1 ? "store(lanes, " + along + ", " + what + ");" + note_text(s)
                       : "store_strided(lanes, " + along + ", " + step + ", " + what + ");" + note_text(s));
      return;
    }
  }
  line("const " + vector_type(s.dtype) + " " + name(i) + " = " + value + ";" + note_text(s));
}

}  // namespace fuselet::cpu::codegen
