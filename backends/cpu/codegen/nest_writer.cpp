#include "backends/cpu/codegen/nest_writer.h"

#include <algorithm>

#include "backends/codegen/column_sums.h"
#include "backends/codegen/prelude_text.h"
#include "backends/cpu/codegen/native_vectors.h"
#include "core/error.h"

namespace fuselet::cpu::codegen {

using fuselet::codegen::kPreludeFiles;
using fuselet::codegen::prelude_formula;
using fuselet::codegen::with_column_vectors;

using kernel::Access;
using kernel::Kind;
using kernel::Statement;

namespace {

const std::string kPrelude = "backends/cpu/codegen/prelude/";

// Lanes of the nest: native vectors of the widest type that takes part in statements over the last dim.
int choose_width(const kernel::Nest& nest) {
  const size_t last = nest.dims.size() - 1;
  int bytes = 4;
  for (const Statement& s : nest.body) {
    if (!(s.varies >> last & 1) && s.kind != Kind::Reduce) continue;
    for (DType t : {s.kind == Kind::Reduce ? accumulator(s) : s.dtype, s.kind == Kind::Formula ? s.compute : s.dtype}) {
      if (t == DType::Float64 || (!is_float(t) && t != DType::Bool)) bytes = 8;
    }
  }
  return std::max(4, native_vector_bytes() / bytes);
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
    const bool truths = s.distribution == kernel::Distribution::Bernoulli;
    line("alignas(64) " + std::string(truths ? "signed char" : held_type(s.dtype)) + " " + tile + "[kTile + W];");
    if (truths) {
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

std::string NestWriter::reduced(int i, const std::string& value) const {
  if (accumulator(at(i)) == at(i).dtype) return value;
  return "convert<" + std::string(stored_type(at(i).dtype)) + ">(" + value + ")";
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
