#include "backends/codegen/statement_text.h"

#include <algorithm>
#include <cmath>

#include "core/convert.h"

namespace fuselet::codegen {

using kernel::Kind;
using kernel::Statement;

const char* stored_type(DType t) {
  constexpr const char* kTypes[] = {"double", "float",       "float16",       "bfloat16", "long",
                                    "int",    "signed char", "unsigned char", "bool"};
  return kTypes[static_cast<int>(t)];
}

const char* held_type(DType t) {
  if (t == DType::Bool) return "bool";
  return t == DType::Float64 ? "double" : is_float(t) ? "float" : "long";
}

DType widest(DType t) {
  if (t == DType::Bool || t == DType::Float64) return t;
  return is_float(t) ? DType::Float32 : DType::Int64;
}

DType accumulator(const Statement& s) { return s.dtype == DType::Bool ? DType::Int64 : widest(s.dtype); }

const char* combine_name(const Statement& s) {
  return s.combine == kernel::Combine::Sum ? "Sum" : s.combine == kernel::Combine::Max ? "Max" : "Min";
}

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

}  // namespace

std::string constant_text(const Statement& s) {
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

std::string value_name(const Statement& s, int i) {
  const std::string number = "_" + std::to_string(i);
  switch (s.kind) {
    case Kind::Load:
    case Kind::LoadAt:
      return "in" + number;
    case Kind::Constant:
      return "number" + number;
    case Kind::Scalar:
      return "scalar" + number;
    case Kind::Position:
      return "position" + number;
    case Kind::Random:
      return "random" + number;
    case Kind::Formula:
      return op_of(s.op).name + number;
    case Kind::Convert:
      return "as_" + std::string(short_name_of(s.dtype)) + number;
    case Kind::Reduce:
      return (s.combine == kernel::Combine::Sum ? "sum" : s.combine == kernel::Combine::Max ? "max" : "min") + number;
    case Kind::Store:
      return "out" + number;
  }
  __builtin_unreachable();
}

std::string note_text(const Statement& s) {
  std::string note = s.note;
  std::replace_if(
      note.begin(), note.end(), [](char c) { return c == '\n' || c == '\\'; }, ' ');
  return note.empty() ? "" : "  // " + note;
}

}  // namespace fuselet::codegen
