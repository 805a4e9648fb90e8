// The statements of a nest as lines of C++.
#include <algorithm>
#include <cmath>

#include "backends/cpu/codegen/nest_writer.h"
#include "core/convert.h"

namespace fuselet::cpu::codegen {

using kernel::Kind;
using kernel::Statement;

namespace {

std::string literal(double x, DType t) {
  if (std::isnan(x)) return t == DType::Float64 ? "__builtin_nan(\"\")" : "__builtin_nanf(\"\")";
  if (std::isinf(x)) {
    return std::string(x < 0 ? "-" : "") + (t == DType::Float64 ? "__builtin_inf()" : "__builtin_inff()");
  }
  char text[64];
  std::snprintf(text, sizeof text, t == DType::Float64 ? "%.17g" : "%.9g", x);
  std::string result = text;
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return t == DType::Float64 ? result : result + "f";
}

std::string constant(const Statement& s) {
  switch (s.dtype) {
    case DType::Float64:
      return literal(s.number, DType::Float64);
    case DType::Float32:
      return literal(static_cast<double>(static_cast<float>(s.number)), DType::Float32);
    case DType::Float16:
      return literal(static_cast<double>(to_float(to_float16(s.number))), DType::Float32);
    case DType::BFloat16:
      return literal(static_cast<double>(to_float(to_bfloat16(s.number))), DType::Float32);
    case DType::Bool:
      return s.integer ? "true" : "false";
    default:
      if (s.integer == INT64_MIN) return "-__LONG_MAX__ - 1";
      return std::to_string(s.integer);
  }
}

}  // namespace

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

std::string NestWriter::note(int i) const {
  std::string note = at(i).note;
  std::replace_if(
      note.begin(), note.end(), [](char c) { return c == '\n' || c == '\\'; }, ' ');
  return note.empty() ? "" : "  // " + note;
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
      value = constant(s);
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
      line("store_one(b_" + number + " + " + offset(i, 0, rank()) + ", " + name(s.args[0]) + ");" + note(i));
      return;
  }
  line("[[maybe_unused]] const " + std::string(held_type(s.dtype)) + " " + name(i) + " = " + value + ";" + note(i));
}

void NestWriter::vector_statement(int i) {
  const Statement& s = at(i);
  const std::string number = std::to_string(i);
  const int64_t stride = s.access.strides.empty() ? 0 : s.access.strides[last()];
  if (staged_.count(i)) {
    const std::string place = "at_" + number + " + (j - from)";
    line(s.kind == Kind::Store
             ? "store(lanes, " + place + ", " + lanes_of(s.args[0], s.dtype) + ");" + note(i)
             : "const " + vector_type(s.dtype) + " " + name(i) + " = load<W>(lanes, " + place + ");" + note(i));
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
      value = "as<" + vector_type(s.dtype) + ">(" + constant(s) + ")";
      break;
    case Kind::Reduce:
      return;
    case Kind::Store: {
      const std::string what = lanes_of(s.args[0], s.dtype);
      line(stride == 1 ? "store(lanes, " + along + ", " + what + ");" + note(i)
                       : "store_strided(lanes, " + along + ", " + step + ", " + what + ");" + note(i));
      return;
    }
  }
  line("const " + vector_type(s.dtype) + " " + name(i) + " = " + value + ";" + note(i));
}

}  // namespace fuselet::cpu::codegen
