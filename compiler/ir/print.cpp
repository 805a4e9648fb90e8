#include <charconv>
#include <cmath>

#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"

namespace fuselet::ir {

std::string number_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  char buffer[40];
  auto [end, err] = std::to_chars(buffer, buffer + sizeof buffer, v);
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// f32[2, 3], with {strides} where the layout is not row-major.
std::string type_text(const TensorMeta& m) {
  std::string text = std::string(short_name_of(m.dtype)) + to_string(m.sizes);
  bool plain = is_contiguous(m.sizes, m.strides) && m.strides == contiguous_strides(m.sizes);
  if (!plain) {
    std::string strides = to_string(m.strides);
    text += "{" + strides.substr(1, strides.size() - 2) + "}";
  }
  if (m.device != Device{}) text += "@" + to_string(m.device);
  return text;
}

namespace {

std::string dims_text(DimsView dims) { return to_string(dims); }

std::string value_text(ValueId v) { return "%" + std::to_string(v); }

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

struct ArgPrinter {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(ValueRef v) const { return value_text(v.id); }
  std::string operator()(const std::vector<ValueRef>& list) const {
    std::string out = "[";
    for (size_t i = 0; i < list.size(); ++i) out += (i ? ", " : "") + value_text(list[i].id);
    return out + "]";
  }
  std::string operator()(const Scalar& s) const {
    if (s.category() == Category::Bool) return s.to_int() ? "true" : "false";
    return s.category() == Category::Int ? std::to_string(s.to_int()) : number_text(s.to_double());
  }
  std::string operator()(CellRef c) const { return "$" + std::to_string(c.index); }
  std::string operator()(SymInt i) const { return to_string(i); }
  std::string operator()(const Dims& d) const { return dims_text(d); }
  std::string operator()(double d) const { return number_text(d); }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(const std::string& s) const { return quoted(s); }
  std::string operator()(DType t) const { return std::string(short_name_of(t)); }
  std::string operator()(Device d) const { return "@" + to_string(d); }
};

std::string origin_text(const Origin& o) {
  if (o.operators.empty() && o.line.empty()) return "";
  std::string out = "  #";
  if (o.backward) out += " backward of";
  for (int32_t id : o.operators) out += " " + std::to_string(id);
  return o.line.empty() ? out : out + " @ " + o.line;
}

}  // namespace

std::string node_text(const Graph& g, const Node& node) {
  std::string out;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    out += (i ? ", " : "") + value_text(node.outputs[i]) + ": " + type_text(g.meta(node.outputs[i]));
  }
  out += std::string(node.outputs.empty() ? "" : " = ") + op_of(node.op).name + "(";
  for (size_t i = 0; i < node.args.size(); ++i) out += (i ? ", " : "") + arg_text(node.args[i]);
  out += ")";
  if (node.draw >= 0) out += " draw " + std::to_string(node.draw);
  return out + origin_text(node.origin);
}

std::string arg_text(const GraphArg& arg) { return std::visit(ArgPrinter{}, arg); }

std::string print(const Graph& g) {
  std::string out = "graph " + quoted(g.name) + " {\n";
  for (const Input& in : g.inputs) {
    out += "  input " + value_text(in.value) + ": " + type_text(g.meta(in.value)) + " " + name_of(in.kind) + " " +
           quoted(in.name) + "\n";
  }
  if (g.draws_of_whole) out += "  draws " + std::to_string(g.draws) + " of the whole\n";
  for (size_t i = 0; i < g.cells.size(); ++i) out += "  cell $" + std::to_string(i) + " " + quoted(g.cells[i]) + "\n";
  size_t next = 0;
  for (size_t n = 0; n <= g.nodes.size(); ++n) {
    for (; next < g.advances.size() && static_cast<size_t>(g.advances[next].before_node) <= n; ++next) {
      const Advance& a = g.advances[next];
      out += "  advance $" + std::to_string(a.cell.index) + " by " + number_text(a.by) + "\n";
    }
    if (n < g.nodes.size()) out += "  " + node_text(g, g.nodes[n]) + "\n";
  }
  for (const Write& w : g.writes)
    out += "  write " + value_text(g.inputs[static_cast<size_t>(w.input)].value) + " <- " + value_text(w.value) + "\n";
  for (const Write& w : g.grads)
    out += "  grad " + value_text(g.inputs[static_cast<size_t>(w.input)].value) + " <- " + value_text(w.value) + "\n";
  for (ValueId v : g.outputs) out += "  output " + value_text(v) + "\n";
  return out + "}\n";
}

}  // namespace fuselet::ir
