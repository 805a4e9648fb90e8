#include "backends/cpu/codegen/nest_writer.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/codegen/native_vectors.h"
#include "backends/cpu/codegen/prelude_text.h"
#include "core/convert.h"
#include "core/error.h"

namespace fuselet::cpu::codegen {

using kernel::Access;
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

namespace {

const std::string kPrelude = "backends/cpu/codegen/prelude/";

// The dtype that the held type of t holds in full.
DType widest(DType t) {
  if (t == DType::Bool || t == DType::Float64) return t;
  return is_float(t) ? DType::Float32 : DType::Int64;
}

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

// Lanes of the nest: native vectors of the widest type that takes part in statements over the last dim.
int choose_width(const kernel::Nest& nest) {
  const size_t last = nest.dims.size() - 1;
  int bytes = 4;
  for (const Statement& s : nest.body) {
    if (!(s.varies >> last & 1) && s.kind != Kind::Reduce) continue;
    for (DType t : {s.kind == Kind::Reduce ? NestWriter::accumulator(s) : s.dtype,
                    s.kind == Kind::Formula ? s.compute : s.dtype}) {
      if (t == DType::Float64 || (!is_float(t) && t != DType::Bool)) bytes = 8;
    }
  }
  return std::max(4, native_vector_bytes() / bytes);
}

// A column sum has a value for each column, also where the columns are equal.
kernel::Nest with_column_vectors(kernel::Nest nest) {
  const uint32_t last = 1u << (nest.dims.size() - 1);
  for (Statement& s : nest.body) {
    bool vector = s.kind == Kind::Reduce && s.tree == kernel::Tree::Column;
    auto depends = [&](int32_t a) {
      const Statement& arg = nest.body[static_cast<size_t>(a)];
      vector = vector || (arg.varies & last);
    };
    if (!(s.kind == Kind::Reduce && s.tree == kernel::Tree::Row)) {
      for (int32_t a : s.args) depends(a);
      for (const auto& d : s.indices) depends(d.statement);
    }
    if (vector) s.varies |= last;
  }
  return nest;
}

}  // namespace

NestWriter::NestWriter(NestGroup& group, const kernel::Kernel& kernel)
    : group_(group), nest_(with_column_vectors(group.first())), kernel_(kernel), width_(choose_width(nest_)) {
  need((kPrelude + "lanes.h").c_str());
  need((kPrelude + "launch.h").c_str());
  for (const Statement& s : nest_.body) {
    if (s.kind == Kind::Reduce) need((kPrelude + "columns.h").c_str());
    if (s.kind == Kind::LoadAt) need((kPrelude + "indices.h").c_str());
    if (s.kind == Kind::Random) need((kPrelude + "random_tiles.h").c_str());
    if (s.kind == Kind::Formula) need(kPreludeFiles[prelude_formula(op_of(s.op).formula).file].name);
  }
}

void NestWriter::line(const std::string& text) {
  if (!text.empty()) text_ += std::string(static_cast<size_t>(2 * depth_), ' ') + text;
  text_ += '\n';
}
void NestWriter::open(const std::string& text) {
  line(text + " {");
  ++depth_;
}
void NestWriter::close(const std::string& end) {
  --depth_;
  line(end);
}
std::string NestWriter::take() { return std::exchange(text_, {}); }

std::string NestWriter::name(int i) const {
  const Statement& s = at(i);
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

std::string NestWriter::vector_type(DType t) const {
  if (t == DType::Bool) return "B";
  return t == DType::Float64 ? "D" : is_float(t) ? "F" : "L";
}

std::string NestWriter::dim(size_t d) {
  return group_.number([d](const PlacedNest& n) { return n.nest->dims[d]; });
}
std::string NestWriter::scratch(int i) {
  return group_.number([i](const PlacedNest& n) { return n.scratch[static_cast<size_t>(i)]; });
}

void NestWriter::begin_function(const std::string& function, const std::vector<bool>& skip) {
  open("void " + function +
       "([[maybe_unused]] const Task& task, [[maybe_unused]] const long* at, long begin, long end)");
  const std::string w = std::to_string(width_);
  line("constexpr int W = " + w + ";");
  line("using F [[maybe_unused]] = Floats<W>;");
  line("using D [[maybe_unused]] = Doubles<W>;");
  line("using L [[maybe_unused]] = Integers<W>;");
  line("using B [[maybe_unused]] = Truths<W>;");
  std::set<std::string> declared;
  for (int i = 0; i < count(); ++i) {
    const Statement& s = at(i);
    if (s.access.buffer < 0) continue;
    const std::string type = (s.kind == Kind::Store ? "" : "const ") + std::string(stored_type(s.dtype));
    const std::string buffer =
        group_.number([i](const PlacedNest& n) { return int64_t{n.nest->body[static_cast<size_t>(i)].access.buffer}; });
    line("[[maybe_unused]] " + type + "* const b_" + std::to_string(i) + " = (" + type + "*)task.buffers[" + buffer +
         "];");
  }
  for (int i = 0; i < count(); ++i) {
    if (at(i).varies == 0 && at(i).kind != Kind::Store && !skip[static_cast<size_t>(i)]) scalar_statement(i);
  }
}

void NestWriter::unravel(const std::string& position, size_t end, size_t without) {
  std::string rest = position;
  size_t outermost = 0;
  while (outermost < end && outermost == without) ++outermost;
  for (size_t d = end; d-- > 0;) {
    if (d == without) continue;
    const std::string p = "[[maybe_unused]] const long p" + std::to_string(d) + " = ";
    if (d == outermost) {
      line(p + rest + ";");
    } else {
      line(p + rest + " % " + dim(d) + ";");
      const std::string above = "above" + std::to_string(d);
      line("const long " + above + " = " + rest + " / " + dim(d) + ";");
      rest = above;
    }
  }
}

std::string NestWriter::offset(int i, size_t begin, size_t end, size_t without) {
  std::string text;
  auto add = [&](const std::string& term) { text += (text.empty() ? "" : " + ") + term; };
  const Access& a = at(i).access;
  const size_t s = static_cast<size_t>(i);
  if (a.offset != 0) add(group_.number([s](const PlacedNest& n) { return n.nest->body[s].access.offset; }));
  for (size_t d = begin; d < end; ++d) {
    if (a.strides[d] == 0 || d == without) continue;
    const std::string p = d == last() ? "j" : "p" + std::to_string(d);
    if (a.strides[d] == 1) {
      add(p);
    } else {
      add(p + " * " + group_.number([s, d](const PlacedNest& n) { return n.nest->body[s].access.strides[d]; }));
    }
  }
  return text.empty() ? "0" : text;
}

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

void NestWriter::place_pointers(const std::vector<int>& statements, size_t end) {
  for (int i : statements) {
    const Statement& s = at(i);
    if (!is_vector(i)) continue;
    if (const auto block = staged_.find(i); block != staged_.end()) {
      line(std::string(stored_type(s.dtype)) + "* const at_" + std::to_string(i) + " = block_" + std::to_string(i) +
           " + (p" + std::to_string(block->second) + " - first_row) * kBlockSide;");
    } else if (s.kind == Kind::Load || s.kind == Kind::LoadAt || s.kind == Kind::Store) {
      std::string where = offset(i, 0, end);
      for (size_t k = 0; k < s.indices.size(); ++k) {
        if (!is_vector(s.indices[k].statement)) where += " + " + place(i, static_cast<int>(k));
      }
      line((s.kind == Kind::Store ? "" : "const ") + std::string(stored_type(s.dtype)) + "* const at_" +
           std::to_string(i) + " = b_" + std::to_string(i) + " + " + where + ";");
    } else if (s.kind == Kind::Position || s.kind == Kind::Random) {
      line("const long from_" + std::to_string(i) + " = " + offset(i, 0, end) + ";");
    }
  }
}

void NestWriter::stage(int i, size_t d) {
  staged_[i] = d;
  need((kPrelude + "blocks.h").c_str());
}

void NestWriter::fill_tiles(const std::vector<int>& statements) {
  for (int i : statements) {
    const Statement& s = at(i);
    if (s.kind != Kind::Random || !is_vector(i)) continue;
    const std::string number = std::to_string(i);
    const size_t k = static_cast<size_t>(i);
    const std::string step = group_.number([k](const PlacedNest& n) { return n.nest->body[k].access.strides.back(); });
    const std::string draw = group_.number([k](const PlacedNest& n) { return int64_t{n.nest->body[k].parameter}; });
    const std::string where =
        "task.draws[" + draw + "], from_" + number + " + first * " + step + ", stop - first, " + step;
    const std::string tile = "tile_" + number;
    line("alignas(64) " + std::string(held_type(s.dtype)) + " " + tile + "[kTile + W];");
    if (s.distribution == kernel::Distribution::Bernoulli) {
      line("fill_kept(" + where + ", " + std::to_string(s.threshold) + ", " + tile + ");");
    } else {
      const char* fill = s.distribution == kernel::Distribution::Uniform ? "fill_uniform<" : "fill_normal<";
      line(fill + std::string(stored_type(s.dtype)) + ">(" + where + ", " + tile + ");");
    }
  }
}

std::string NestWriter::lanes_of(int i, DType held) const {
  const DType have = widest(at(i).dtype);
  if (is_vector(i) && have == widest(held)) return name(i);
  return "as<" + vector_type(held) + ">(" + name(i) + ")";
}
std::string NestWriter::scalar_of(int i, DType held) const {
  if (widest(at(i).dtype) == widest(held)) return name(i);
  return "as<" + std::string(held_type(held)) + ">(" + name(i) + ")";
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

DType NestWriter::accumulator(const Statement& s) { return s.dtype == DType::Bool ? DType::Int64 : widest(s.dtype); }

const char* NestWriter::combine_name(const Statement& s) {
  return s.combine == kernel::Combine::Sum ? "Sum" : s.combine == kernel::Combine::Max ? "Max" : "Min";
}

std::string NestWriter::reduced(int i, const std::string& value) const {
  if (accumulator(at(i)) == at(i).dtype) return value;
  return "convert<" + std::string(stored_type(at(i).dtype)) + ">(" + value + ")";
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
      value = "load<W>(Whole{}, tile_" + number + " + (j - first))";
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

double NestWriter::cost() const {
  double sum = 0;
  for (const Statement& s : nest_.body) {
    if (!(s.varies >> last() & 1)) continue;
    if (s.kind == Kind::Load || s.kind == Kind::LoadAt || s.kind == Kind::Store) {
      sum += static_cast<double>(size_of(s.dtype));
    } else if (s.kind == Kind::Random) {
      sum += 16;
    } else if (s.kind == Kind::Formula) {
      sum += prelude_formula(op_of(s.op).formula).dear ? 16 : 1;
    }
  }
  return std::max(sum, 1.0);
}

}  // namespace fuselet::cpu::codegen
