#include <charconv>
#include <limits>

#include "compiler/ir/graph.h"

namespace fuselet::ir {
namespace {

// Reads one line from left to right; every failure names the line.
class LineReader {
 public:
  LineReader(std::string_view text, int number) : text_(text), number_(number) {}

  [[noreturn]] void fail_here(const std::string& expected) const {
    fail("graph text, line ", number_, ", column ", at_ + 1, ": expected ", expected, " in '", text_, "'");
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool done() {
    skip_space();
    return at_ == text_.size();
  }
  bool try_take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void take(std::string_view token) {
    if (!try_take(token)) fail_here("'" + std::string(token) + "'");
  }
  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  std::string take_until(std::string_view stops) {
    skip_space();
    size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    std::string out(text_.substr(at_, end - at_));
    at_ = end;
    return out;
  }
  std::string rest() { return take_until(""); }
  int64_t integer() {
    std::string t = take_until(" ,:)]}");
    int64_t v = 0;
    auto [end, err] = std::from_chars(t.data(), t.data() + t.size(), v);
    if (err != std::errc() || end != t.data() + t.size()) fail_here("an integer, not '" + t + "'");
    return v;
  }
  double number(const std::string& t) {
    if (t == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (t == "inf" || t == "-inf")
      return t[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    double v = 0;
    auto [end, err] = std::from_chars(t.data(), t.data() + t.size(), v);
    if (err != std::errc() || end != t.data() + t.size()) fail_here("a number, not '" + t + "'");
    return v;
  }
  std::string quoted() {
    take("\"");
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) out += text_[at_++];
    }
    take("\"");
    return out;
  }
  ValueId value() {
    take("%");
    return static_cast<ValueId>(integer());
  }
  Dims int_list(char open, char close) {
    take(std::string(1, open));
    Dims out;
    while (!next_is(close)) {
      out.push_back(integer());
      if (!try_take(",")) break;
    }
    take(std::string(1, close));
    return out;
  }
  TensorMeta type() {
    TensorMeta m;
    m.dtype = parse_dtype(take_until("["));
    m.sizes = int_list('[', ']');
    m.strides = next_is('{') ? int_list('{', '}') : contiguous_strides(m.sizes);
    if (try_take("@")) m.device = parse_device(take_until(" ,="));
    return m;
  }

 private:
  std::string_view text_;
  int number_;
  size_t at_ = 0;
};

Scalar read_scalar(LineReader& in) {
  std::string t = in.take_until(" ,)");
  if (t == "true" || t == "false") return t == "true";
  bool floating = t.find_first_of(".en") != std::string::npos;
  double v = in.number(t);
  if (floating) return v;
  int64_t i = 0;
  std::from_chars(t.data(), t.data() + t.size(), i);
  return i;
}

// What an argument may be is told by the operator's row, so the text needs no types.
GraphArg read_arg(LineReader& in, ArgType type) {
  if (in.try_take("none")) return std::monostate{};
  if (in.try_take("$")) return CellRef{static_cast<int32_t>(in.integer())};
  switch (type) {
    case ArgType::Tensor:
      return ValueRef{in.value()};
    case ArgType::Operand:
      return in.next_is('%') ? GraphArg(ValueRef{in.value()}) : GraphArg(read_scalar(in));
    case ArgType::Tensors: {
      std::vector<ValueRef> list;
      in.take("[");
      while (!in.next_is(']')) {
        list.push_back({in.value()});
        if (!in.try_take(",")) break;
      }
      in.take("]");
      return list;
    }
    case ArgType::Scalar:
      return read_scalar(in);
    case ArgType::Int:
      return SymInt(in.integer());
    case ArgType::Ints:
      return in.int_list('[', ']');
    case ArgType::Float:
      return in.number(in.take_until(" ,)"));
    case ArgType::Bool: {
      if (in.try_take("true")) return true;
      in.take("false");
      return false;
    }
    case ArgType::Text:
      return in.quoted();
    case ArgType::DType:
      return parse_dtype(in.take_until(" ,)"));
    case ArgType::Device: {
      in.take("@");
      return parse_device(in.take_until(" ,)"));
    }
    case ArgType::None:
      break;
  }
  in.fail_here("an argument");
}

Origin read_origin(LineReader& in) {
  Origin o;
  if (!in.try_take("#")) return o;
  o.backward = in.try_take("backward of");
  while (!in.done() && !in.next_is('@')) o.operators.push_back(static_cast<int32_t>(in.integer()));
  if (in.try_take("@ ")) o.line = in.rest();
  return o;
}

InputKind read_input_kind(LineReader& in) {
  for (InputKind kind : {InputKind::Argument, InputKind::Lifted, InputKind::Tangent}) {
    if (in.try_take(name_of(kind))) return kind;
  }
  in.fail_here("argument, lifted or tangent");
}

class GraphReader {
 public:
  void read_line(LineReader in) {
    if (in.done()) return;
    if (in.try_take("graph ")) {
      graph_.name = in.quoted();
      return in.take("{");
    }
    if (in.try_take("}")) {
      closed_ = true;
      return;
    }
    if (in.try_take("input ")) return read_input(in);
    if (in.try_take("cell $")) {
      in.integer();
      graph_.cells.push_back(in.quoted());
    } else if (in.try_take("advance $")) {
      CellRef cell{static_cast<int32_t>(in.integer())};
      in.take("by");
      graph_.advances.push_back({static_cast<int32_t>(graph_.nodes.size()), cell, in.number(in.take_until(" "))});
    } else if (in.try_take("draws ")) {
      graph_.draws = static_cast<int32_t>(in.integer());
      in.take("of the whole");
      graph_.draws_of_whole = true;
    } else if (in.try_take("write ")) {
      graph_.writes.push_back(read_write(in));
    } else if (in.try_take("grad ")) {
      graph_.grads.push_back(read_write(in));
    } else if (in.try_take("output ")) {
      graph_.outputs.push_back(known(in, in.value()));
    } else {
      read_node(in);
    }
    if (!in.done()) in.fail_here("the end of the line");
  }

  Graph take() {
    FUSELET_CHECK(closed_, "graph text: the closing '}' is missing");
    return std::move(graph_);
  }

 private:
  ValueId known(LineReader& in, ValueId v) {
    if (v < 0 || static_cast<size_t>(v) >= graph_.values.size())
      in.fail_here("a value that is defined before, not %" + std::to_string(v));
    return v;
  }
  void read_input(LineReader& in) {
    ValueId id = in.value();
    if (static_cast<size_t>(id) != graph_.values.size()) in.fail_here("values numbered in order");
    in.take(":");
    TensorMeta meta = in.type();
    InputKind kind = read_input_kind(in);
    graph_.add_input(kind, in.quoted(), std::move(meta));
  }
  Write read_write(LineReader& in) {
    ValueId target = in.value();
    in.take("<-");
    ValueId value = known(in, in.value());
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      if (graph_.inputs[i].value == target) return {static_cast<int32_t>(i), value};
    }
    in.fail_here("an input, not %" + std::to_string(target));
  }
  void read_node(LineReader& in) {
    std::vector<TensorMeta> metas;
    while (in.next_is('%')) {
      ValueId id = in.value();
      if (static_cast<size_t>(id) != graph_.values.size() + metas.size()) in.fail_here("values numbered in order");
      in.take(":");
      metas.push_back(in.type());
      if (!in.try_take(",")) break;
    }
    if (!metas.empty()) in.take("=");
    std::string name = in.take_until("(");
    const Op* op = find_op(name);
    if (!op) in.fail_here("an operator of the table, not '" + name + "'");
    in.take("(");
    std::vector<GraphArg> args;
    for (const ArgSpec& spec : op->args) {
      if (!args.empty()) in.take(",");
      args.push_back(read_arg(in, spec.type));
    }
    in.take(")");
    int32_t draw = -1;
    if (in.try_take("draw ")) {
      draw = static_cast<int32_t>(in.integer());
      graph_.draws = std::max(graph_.draws, draw + 1);
    }
    bool boundary = in.try_take("boundary");
    graph_.add_node(op->id, std::move(args), std::move(metas), read_origin(in), draw);
    graph_.nodes.back().boundary = boundary;
  }

  Graph graph_;
  bool closed_ = false;
};

}  // namespace

Graph parse(const std::string& text) {
  GraphReader reader;
  int number = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    // A line that begins with # is a remark: a reproducer says what failed.
    if (text[at] != '#') reader.read_line(LineReader(std::string_view(text).substr(at, end - at), number));
    at = end + 1;
  }
  return reader.take();
}

}  // namespace fuselet::ir
