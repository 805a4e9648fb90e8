#include "backends/cuda/codegen/nest_text.h"

#include <algorithm>

#include "backends/codegen/prelude_text.h"
#include "backends/cuda/codegen/accuracy.h"
#include "core/error.h"

namespace fuselet::cuda::codegen {

using kernel::Kind;
using kernel::Statement;

namespace {

bool is_memory(const Statement& s) { return s.kind == Kind::Load || s.kind == Kind::LoadAt || s.kind == Kind::Store; }

}  // namespace

int choose_lanes(const kernel::Nest& nest) {
  const size_t last = nest.dims.size() - 1;
  size_t widest = 0;
  for (const Statement& s : nest.body) {
    if (s.access.strides.size() <= last || s.access.strides[last] != 1) continue;
    if (is_memory(s)) widest = std::max(widest, size_of(s.dtype));
  }
  return widest == 0 ? 1 : widest <= 2 ? 8 : 4;
}

bool may_align(const kernel::Nest& nest, int lanes) {
  const size_t last = nest.dims.size() - 1;
  if (nest.dims[last] % lanes != 0) return false;
  for (const Statement& s : nest.body) {
    const bool is_random = s.kind == Kind::Random;
    if ((!is_memory(s) && !is_random) || s.access.strides[last] != 1) continue;
    if (is_random && s.access.offset % lanes != 0) return false;
    for (size_t d = 0; d < last; ++d) {
      if (nest.dims[d] > 1 && s.access.strides[d] % lanes != 0) return false;
    }
    for (const kernel::IndexedDim& i : s.indices) {
      if (i.stride % lanes != 0) return false;
    }
  }
  return true;
}

NestText::NestText(const kernel::Nest& nest, const kernel::Kernel& kernel, int first_load_at, int lanes, bool aligned)
    : nest_(nest),
      kernel_(kernel),
      first_load_at_(first_load_at),
      lanes_(lanes),
      aligned_(aligned),
      rough_(may_be_rough(nest)) {
  if (std::find(rough_.begin(), rough_.end(), true) != rough_.end()) need("backends/cuda/codegen/prelude/rough.h");
  need("backends/cuda/codegen/prelude/packs.h");
  need("backends/cuda/codegen/prelude/places.h");
  for (const Statement& s : nest.body) {
    if (s.kind == Kind::Reduce) need("backends/cuda/codegen/prelude/reduce.h");
    if (s.kind == Kind::Random) need("backends/cuda/codegen/prelude/random.h");
    if (s.kind == Kind::Formula)
      need(fuselet::codegen::kPreludeFiles[fuselet::codegen::prelude_formula(op_of(s.op).formula).file].name);
  }
}

void NestText::line(const std::string& text) {
  if (!text.empty()) text_ += std::string(static_cast<size_t>(2 * depth_), ' ') + text;
  text_ += '\n';
}
void NestText::open(const std::string& text) {
  line(text + " {");
  ++depth_;
}
void NestText::close(const std::string& end) {
  --depth_;
  line(end);
}

PhaseText NestText::take(unsigned threads, int64_t blocks) {
  PhaseText out{std::move(declarations_), std::move(text_), threads, {std::move(fields_), blocks}};
  declarations_.clear();
  text_.clear();
  fields_.clear();
  declared_.clear();
  renamed_.clear();
  return out;
}

std::string NestText::number(const std::string& name, int64_t value) {
  if (declared_.insert(name).second) {
    declarations_ += "  long " + name + ";\n";
    fields_.push_back({Field::Kind::Number, 0, value});
  }
  return "(Index)args." + name;
}
std::string NestText::dim(size_t d) { return number("size_" + std::to_string(d), nest_.dims[d]); }

std::string NestText::scratch(const std::string& name, const std::string& type, int64_t offset) {
  if (declared_.insert(name).second) {
    declarations_ += "  " + type + "* " + name + ";\n";
    fields_.push_back({Field::Kind::Scratch, 0, offset});
  }
  return "args." + name;
}

std::string NestText::quotient(const std::string& x, const std::string& field, int64_t size) {
  const std::string divisor = field + "_divisor";
  if (declared_.insert(divisor).second) {
    declarations_ += "  Divisor " + divisor + ";\n";
    fields_.push_back({Field::Kind::Divisor, 0, size});
  }
  return "quotient(" + x + ", args." + divisor + ", " + number(field, size) + ")";
}

void NestText::unravel(const std::string& position, const std::vector<size_t>& dims) {
  std::string rest = position;
  for (size_t k = dims.size(); k-- > 0;) {
    const size_t d = dims[k];
    const std::string p = "p" + std::to_string(d), size = "size_" + std::to_string(d);
    if (k == 0) {
      line("[[maybe_unused]] const Index " + p + " = " + rest + ";");
    } else {
      const std::string above = "above" + std::to_string(d);
      line("const Index " + above + " = " + quotient(rest, size, nest_.dims[d]) + ";");
      line("[[maybe_unused]] const Index " + p + " = " + rest + " - " + above + " * " + dim(d) + ";");
      rest = above;
    }
  }
}

std::string NestText::offset(int i, bool with_last) {
  const kernel::Access& a = at(i).access;
  std::string text;
  auto add = [&](const std::string& term) { text += (text.empty() ? "" : " + ") + term; };
  for (size_t d = 0; d <= last(); ++d) {
    if (a.strides[d] == 0 || (d == last() && !with_last)) continue;
    const std::string p = d == last() ? "(first + v)" : "p" + std::to_string(d);
    add(a.strides[d] == 1 ? p
                          : p + " * " + number("step_" + std::to_string(i) + "_" + std::to_string(d), a.strides[d]));
  }
  if (a.buffer < 0 && a.offset != 0) add(number("from_" + std::to_string(i), a.offset));
  return text.empty() ? "(Index)0" : text;
}

// The element of statement i, without what lanes add.
std::string NestText::pointer(int i, bool with_last) {
  const Statement& s = at(i);
  const std::string field = (s.kind == Kind::Store ? "to_" : "from_") + std::to_string(i);
  if (declared_.insert(field).second) {
    declarations_ +=
        "  " + std::string(s.kind == Kind::Store ? "" : "const ") + stored_type(s.dtype) + "* " + field + ";\n";
    fields_.push_back({Field::Kind::Buffer, s.access.buffer, s.access.offset * static_cast<int64_t>(size_of(s.dtype))});
  }
  const std::string where = offset(i, with_last);
  return "args." + field + (where == "(Index)0" ? "" : " + " + where);
}

std::string NestText::place(int i, size_t k, const std::string& wanted) {
  const kernel::IndexedDim& index = at(i).indices[k];
  const std::string suffix = std::to_string(i) + "_" + std::to_string(k);
  if (declared_.insert("failed").second) {
    declarations_ += "  int* failed;\n";
    fields_.push_back({Field::Kind::Failed});
  }
  const std::string code = "code_" + std::to_string(i);
  if (declared_.insert(code).second) {
    int before = first_load_at_;
    for (int j = 0; j < i; ++j) before += at(j).kind == Kind::LoadAt;
    declarations_ += "  long " + code + ";\n";
    fields_.push_back({Field::Kind::Code, before});
  }
  return "place_of(args.failed, args." + code + ", " + wanted + ", " + value_as(index.statement, DType::Int64) +
         ", args." + (number("index_size_" + suffix, index.size), "index_size_" + suffix) + ", args." +
         (number("index_step_" + suffix, index.stride), "index_step_" + suffix) + ")";
}

// Of a Bernoulli draw.
std::string NestText::threshold(int i) {
  return "(unsigned)" + number("threshold_" + std::to_string(i), at(i).threshold);
}

std::string NestText::draw(int i) {
  const std::string field = "draw_" + std::to_string(at(i).parameter);
  if (declared_.insert(field).second) {
    declarations_ += "  Draw " + field + ";\n";
    fields_.push_back({Field::Kind::Draw, at(i).parameter});
  }
  return "args." + field;
}

std::string NestText::value_as(int i, DType dtype) const {
  auto known = renamed_.find(i);
  const std::string value = known != renamed_.end() ? known->second : name(i);
  if (widest(at(i).dtype) == widest(dtype)) return value;
  return "(" + std::string(held_type(dtype)) + ")" + value;
}

std::string NestText::reduced(int i, const std::string& value) const {
  if (accumulator(at(i)) == at(i).dtype) return value;
  return "convert<" + std::string(stored_type(at(i).dtype)) + ">(" + value + ")";
}

void NestText::declare_accumulator(int i) {
  const std::string acc = "acc_" + std::to_string(i), lanes = std::to_string(lanes_);
  line(accumulator_type(i) + " " + acc + "[" + lanes + "];");
  line("#pragma unroll");
  line("for (int v = 0; v < " + lanes + "; ++v) " + acc + "[v] = " + combine_name(at(i)) + "::identity<" +
       accumulator_type(i) + ">();");
}

std::string NestText::formula(int i) const {
  const Statement& s = at(i);
  std::string text = std::string("formula::") + op_of(s.op).formula + "(";
  const bool rough = rough_[static_cast<size_t>(i)];
  for (size_t k = 0; k < s.args.size(); ++k) {
    const std::string value = value_as(s.args[k], s.compute);
    text += (k ? ", " : "") + (rough ? "formula::Rough(" + value + ")" : value);
  }
  text += rough ? ").value" : ")";
  return s.dtype == s.compute ? text : "convert<" + std::string(stored_type(s.dtype)) + ">(" + text + ")";
}

bool NestText::steps_by_one(int i) const { return at(i).access.strides[last()] == 1; }

bool NestText::has_lane_index(int i) const {
  return std::any_of(at(i).indices.begin(), at(i).indices.end(),
                     [&](const kernel::IndexedDim& d) { return is_lane(d.statement); });
}

// Lane statements whose values come V at a time.
bool NestText::in_array(int i) const {
  const Statement& s = at(i);
  return is_lane(i) &&
         (s.kind == Kind::Load || s.kind == Kind::Random || (s.kind == Kind::LoadAt && !has_lane_index(i)));
}

std::string NestText::kept_type(int i) const {
  return in_array(i) && at(i).kind != Kind::Random ? stored_type(at(i).dtype) : held_type(at(i).dtype);
}

void NestText::scalar_statement(int i) {
  const Statement& s = at(i);
  std::string value;
  switch (s.kind) {
    case Kind::Load:
      value = "held(*(" + pointer(i, false) + "))";
      break;
    case Kind::LoadAt: {
      std::string where = pointer(i, false);
      bool readable = true;
      for (size_t k = 0; k < s.indices.size(); ++k) {
        where += " + " + place(i, k, "true");
        readable = readable && s.indices[k].size > 0;
      }
      value = readable ? "held(*(" + where + "))" : "((void)(" + where + "), " + held_type(s.dtype) + "())";
      break;
    }
    case Kind::Random: {
      const std::string to = "drawn_" + std::to_string(i);
      line(std::string(held_type(s.dtype)) + " " + to + "[1];");
      line(random_pack(i, offset(i, false) + ", 1", to));
      value = to + "[0]";
      break;
    }
    case Kind::Reduce:
      return;  // the loops' business
    case Kind::Store:
      line("*(" + pointer(i, false) + ") = stored<" + stored_type(s.dtype) + ">(" + value_as(s.args[0], s.dtype) +
           ");" + note_text(s));
      return;
    default:
      value = lane_value(i);
  }
  line("[[maybe_unused]] const " + std::string(held_type(s.dtype)) + " " + name(i) + " = " + value + ";" +
       note_text(s));
}

void NestText::scalar_statements(uint32_t over, std::set<int>* done) {
  for (int i = 0; i < count(); ++i) {
    const Statement& s = at(i);
    if (done->count(i) || is_lane(i) || s.kind == Kind::Store || s.kind == Kind::Reduce || (s.varies & ~over)) continue;
    auto known = [&](int32_t a) { return done->count(a) > 0; };
    const bool ready = std::all_of(s.args.begin(), s.args.end(), known) &&
                       std::all_of(s.indices.begin(), s.indices.end(),
                                   [&](const kernel::IndexedDim& d) { return known(d.statement); });
    if (!ready) continue;
    scalar_statement(i);
    done->insert(i);
  }
}

// Numbers are fields, so that a mean over other rows is no other source; but those of formulas' own making stay.
std::string NestText::constant(int i) {
  const Statement& s = at(i);
  const bool is_plain = is_float(s.dtype) ? s.number == 0 || s.number == 1 || s.number == -1 || s.number != s.number
                                          : s.integer == 0 || s.integer == 1;
  if (s.dtype == DType::Bool || is_plain) return constant_text(s);
  const std::string field = "number_" + std::to_string(i);
  if (declared_.insert(field).second) {
    declarations_ += std::string(is_float(s.dtype) ? "  double " : "  long ") + field + ";\n";
    fields_.push_back({Field::Kind::Number, 0, is_float(s.dtype) ? __builtin_bit_cast(int64_t, s.number) : s.integer});
  }
  return is_float(s.dtype) ? "convert<" + std::string(stored_type(s.dtype)) + ">(args." + field + ")" : "args." + field;
}

// Values that need no array, of lanes and of scalars.
std::string NestText::lane_value(int i) {
  const Statement& s = at(i);
  switch (s.kind) {
    case Kind::Constant:
      return constant(i);
    case Kind::Scalar: {
      const std::string field = "scalar_" + std::to_string(i);
      if (declared_.insert(field).second) {
        declarations_ += "  double " + field + ";\n";
        fields_.push_back({Field::Kind::Scalar, s.parameter});
      }
      return "convert<" + std::string(stored_type(s.dtype)) + ">(args." + field + ")";
    }
    case Kind::Position:
      return "(long)(" + offset(i, true) + ")";
    case Kind::Formula:
      return formula(i);
    case Kind::Convert: {
      auto known = renamed_.find(s.args[0]);
      return "convert<" + std::string(stored_type(s.dtype)) + ">(" +
             (known != renamed_.end() ? known->second : name(s.args[0])) + ")";
    }
    case Kind::LoadAt: {
      std::string where = pointer(i, true);
      bool readable = true;
      for (size_t k = 0; k < s.indices.size(); ++k) {
        where += " + " + place(i, k, "inside");
        readable = readable && s.indices[k].size > 0;
      }
      const std::string nothing = std::string(held_type(s.dtype)) + "()";
      return readable ? "inside ? held(*(" + where + ")) : " + nothing : "((void)(" + where + "), " + nothing + ")";
    }
    default:
      throw InternalError("a statement that is no value of lanes", __FILE__, __LINE__);
  }
}

std::string NestText::random_pack(int i, const std::string& elements, const std::string& to) {
  const bool bernoulli = at(i).distribution == kernel::Distribution::Bernoulli;
  const char* const pack = bernoulli                                             ? "kept_pack"
                           : at(i).distribution == kernel::Distribution::Uniform ? "uniform_pack"
                                                                                 : "normal_pack";
  return std::string(pack) + "<kAligned>(" + draw(i) + ", " + elements + ", " + (bernoulli ? threshold(i) + ", " : "") +
         to + ");";
}

void NestText::load_array(int i) {
  const Statement& s = at(i);
  const std::string array = "array_" + std::to_string(i), v = "[" + std::to_string(lanes_) + "]";
  if (s.kind == Kind::Random) {
    line(std::string(held_type(s.dtype)) + " " + array + v + ";");
    const int64_t step = s.access.strides[last()];
    const std::string width =
        step == 1 ? "1" : number("step_" + std::to_string(i) + "_" + std::to_string(last()), step);
    const std::string from = "(long)(" + offset(i, false) + ") + (long)first * " + width;
    line(random_pack(i, from + ", " + width, array) + note_text(s));
    return;
  }
  std::string from = pointer(i, false);
  bool readable = true;
  for (size_t k = 0; k < s.indices.size(); ++k) {
    from += " + " + place(i, k, "first < n");
    readable = readable && s.indices[k].size > 0;
  }
  line(std::string(stored_type(s.dtype)) + " " + array + v + (readable ? ";" : "{};") + note_text(s));
  if (!readable) {
    line("(void)(" + from + ");");
  } else if (steps_by_one(i)) {
    line("load_pack<kAligned>(" + from + ", first, n, " + array + ");");
    if (aligned_)
      aligned_accesses_.push_back({s.access.buffer, s.access.offset * static_cast<int64_t>(size_of(s.dtype)),
                                   std::min<int32_t>(16, lanes_ * static_cast<int32_t>(size_of(s.dtype)))});
  } else {
    line("load_apart(" + from + ", first, n, " +
         number("step_" + std::to_string(i) + "_" + std::to_string(last()), s.access.strides[last()]) + ", " + array +
         ");");
  }
}

void NestText::lane_statements(const Pass& pass, const std::string& keep) {
  auto kept = [&](int i) { return "kept_" + std::to_string(i) + keep + "[v]"; };
  auto is_kept = [&](int i) { return std::find(pass.keeps.begin(), pass.keeps.end(), i) != pass.keeps.end(); };
  const std::string size = "[" + std::to_string(lanes_) + "]";
  for (int i : pass.body) {
    if (in_array(i)) load_array(i);
    if (at(i).kind == Kind::Store)
      line(std::string(stored_type(at(i).dtype)) + " out_" + std::to_string(i) + "_array" + size + ";");
  }
  line("#pragma unroll");
  open("for (int v = 0; v < " + std::to_string(lanes_) + "; ++v)");
  line("[[maybe_unused]] const bool inside = " + std::string(aligned_ && lanes_ > 1 ? "first < n;" : "first + v < n;"));
  for (int i : pass.reads) {
    const std::string value = at(i).kind == Kind::Random || !in_array(i) ? kept(i) : "held(" + kept(i) + ")";
    line("const " + std::string(held_type(at(i).dtype)) + " " + name(i) + " = " + value + ";");
  }
  for (int i : pass.body) {
    const Statement& s = at(i);
    if (s.kind == Kind::Store) {
      line("out_" + std::to_string(i) + "_array[v] = stored<" + stored_type(s.dtype) + ">(" +
           value_as(s.args[0], s.dtype) + ");" + note_text(s));
      continue;
    }
    if (s.kind == Kind::Reduce) continue;
    const std::string array = "array_" + std::to_string(i) + "[v]";
    if (in_array(i)) {
      const bool raw = s.kind != Kind::Random;
      line("const " + std::string(held_type(s.dtype)) + " " + name(i) + " = " + (raw ? "held(" + array + ")" : array) +
           ";");
      if (is_kept(i)) line(kept(i) + " = " + array + ";");
    } else {
      line("const " + std::string(held_type(s.dtype)) + " " + name(i) + " = " + lane_value(i) + ";" + note_text(s));
      if (is_kept(i)) line(kept(i) + " = " + name(i) + ";");
    }
  }
  for (int i : pass.reduces) {
    const std::string acc = "acc_" + std::to_string(i) + "[v]";
    line("if (inside) " + acc + " = " + combine_name(at(i)) + "()(" + acc + ", " +
         value_as(at(i).args[0], accumulator(at(i))) + ");");
  }
  close();
  for (int i : pass.body) {
    const Statement& s = at(i);
    if (s.kind != Kind::Store) continue;
    const std::string array = "out_" + std::to_string(i) + "_array";
    if (steps_by_one(i)) {
      line("store_pack<kAligned>(" + pointer(i, false) + ", first, n, " + array + ");");
      if (aligned_)
        aligned_accesses_.push_back({s.access.buffer, s.access.offset * static_cast<int64_t>(size_of(s.dtype)),
                                     std::min<int32_t>(16, lanes_ * static_cast<int32_t>(size_of(s.dtype)))});
    } else {
      // What does not move along the dim is one value: the first element has it.
      const bool one_place = s.access.strides[last()] == 0;
      line(std::string(one_place ? "if (first == 0) " : "") + "store_apart(" + pointer(i, false) + ", first, " +
           (one_place ? "(Index)1" : "n") + ", " +
           number("step_" + std::to_string(i) + "_" + std::to_string(last()), s.access.strides[last()]) + ", " + array +
           ");");
    }
  }
}

}  // namespace fuselet::cuda::codegen
