"""What the reference site is made of: every public name and every row has a text, and the generators read what they should."""

import importlib
import inspect
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "core/ops")]

from generator.rows import load_rows  # noqa: E402
from pages import operator_facts, operator_pages, public_names  # noqa: E402
from pages.cpp_headers import Reader, top_comment  # noqa: E402
from pages.definitions import Sources  # noqa: E402
from pages.plain_text import to_rst  # noqa: E402
from pages.readable import formula  # noqa: E402
from pages.stated_errors import stated_errors  # noqa: E402

ROWS = load_rows(ROOT / "core/ops")
SOURCES = Sources(ROOT)


# ---- every public name says what it is
@pytest.mark.parametrize("module_name", public_names.modules())
def test_public_names_have_docstrings(module_name):
    module = importlib.import_module(module_name)
    silent = [] if module.__doc__ else ["the module itself"]
    for name in public_names.names(module_name):
        value = getattr(module, name)
        if not callable(value):
            continue
        if not public_names.text_of(value):
            silent.append(name)
        if inspect.isclass(value):
            silent += [f"{name}.{m}" for m, v in public_names.members(value) if public_names.needs_doc(value, m, v)]
    assert silent == []


def test_the_public_names_are_those_that_users_call():
    modules = public_names.modules()
    assert {"fuselet", "fuselet.nn", "fuselet.nn.functional", "fuselet.optim.lr_scheduler", "fuselet.utils.data",
            "fuselet.cuda", "fuselet.compiler"} <= set(modules)
    assert "fuselet.composed" not in modules and "fuselet._C" not in modules
    assert {"Tensor", "add", "topk", "compile", "no_grad", "save"} <= set(public_names.names("fuselet"))
    # What a module only imports for itself is not its own.
    assert "no_grad" not in public_names.names("fuselet.nn.init")
    assert {"linear", "softmax"} <= set(public_names.names("fuselet.nn.functional"))


# ---- every row of the operator table
def test_rows_have_texts():
    assert [row.name for row in ROWS if not row.doc.strip().endswith((".", "!"))] == []


def test_every_row_has_a_section_and_a_family():
    text = "".join(operator_pages.pages(ROWS, SOURCES).values())
    assert [row.name for row in ROWS if f".. _op-{row.name}:\n" not in text] == []


def test_sources_written_by_hand_are_found():
    lost = []
    for row in ROWS:
        roles = {role for role, _ in operator_facts.places(row, SOURCES)}
        wanted = {"composite"} if row.composite else {"shape rule"}
        if row.get("decompose") is True and row.kind != "pointwise":
            wanted.add("decomposition")
        lost += [(row.name, role) for role in wanted - roles]
    assert lost == []


def test_errors_of_a_shape_rule_and_of_what_it_calls():
    rows = {row.name: row for row in ROWS}
    errors = operator_facts.errors(rows["select"], SOURCES)
    assert ("IndexError", "select: a 0-d tensor cannot be indexed") in errors
    assert any(kind == "IndexError" and "dimension {dim} is out of range" in text for kind, text in errors)
    assert any(text.startswith("matmul: shapes {a.sizes()} and {b.sizes()} cannot be multiplied")
               for _, text in operator_facts.errors(rows["matmul"], SOURCES))


# ---- the generators' parts
@pytest.mark.parametrize("expression, lines", [
    ("std::fmax(self, other)", ["max(self, other)"]),
    ("self > 0 ? self : 0", ["self if self > 0, else 0"]),
    ("a ? x : b ? y : z", ["x if a, else y if b, else z"]),
    ('self != self ? std::nan("") : self', ["NaN if self ≠ self, else self"]),
    ("[&] { double s = 1 / (1 + std::exp(-x)); return s * x; }()", ["s = 1 / (1 + exp(-x))", "s * x"])])
def test_formulas_are_readable(expression, lines):
    assert formula(expression) == lines


def test_plain_text_never_means_markup():
    assert to_rst(["|x| * y_ of `dim`"]) == ["\\ \\|x\\| \\* y\\_ of ``dim``\\", ""]
    assert to_rst(["first: a thing", "    of two lines", "second: another"]) == [
        "``first``", "    a thing of two lines", "", "``second``", "    another", ""]
    assert to_rst(["Adam:", "", "    p -= lr * m"]) == ["Adam:", "", "::", "", "    p -= lr * m", ""]
    assert to_rst(["(N) -> (N, M)"])[0].startswith("\\ ")


HEADER = """// What the header is for.
//
// More of it.
#pragma once
#include <vector>

namespace fuselet::nn {

class Other;

// A layer.
class Layer : public Module {
 public:
  // Starts at zero.
  explicit Layer(int size) : Module("Layer"), size_{size} {}
  Tensor forward(const Tensor& x) override {
    if (size_ > 0) { return x; }
    return -x;
  }
  std::function<void()> done = {};  // called at the end
  Layer(const Layer&) = delete;

 private:
  int size() const;
  int size_ = 0;
};

namespace detail {
int hidden();
}  // namespace detail

template <class T>
T twice(T x) {
  return 2 * x;
}
inline int Layer::size() const { return size_; }
using Layers = std::vector<Layer>;

}  // namespace fuselet::nn
"""


def test_a_header_is_read_as_users_see_it():
    layer, twice, layers = Reader(HEADER).read()
    assert top_comment(HEADER) == ["What the header is for.", "", "More of it."]
    assert (layer.text, layer.comment, layer.scope) == ("class Layer : public Module", ["A layer."], "fuselet::nn")
    assert [(m.kind, m.text, m.comment) for m in layer.members] == [
        ("function", "explicit Layer(int size)", ["Starts at zero."]),
        ("function", "Tensor forward(const Tensor& x) override", []),
        ("value", "std::function<void()> done = {}", ["called at the end"])]
    assert twice.text == "template <class T> T twice(T x)"
    assert (layers.kind, layers.name) == ("alias", "Layers")


def test_stated_errors_keep_the_order_and_name_the_operator(tmp_path):
    (tmp_path / "rule.cpp").write_text(
        'void inner(int n) {\n  FUSELET_CHECK_INDEX(n > 0, op, ": expected n > 0, got ", to_string(n));\n}\n'
        'void rule(const Call& call) {\n  FUSELET_CHECK(f(1, 2), call.op->name, ": f, said \\"no\\"");\n  inner(3);\n}\n')
    functions = Sources(tmp_path).of("*.cpp")
    assert functions["rule"].place == "rule.cpp:4"
    assert stated_errors(functions["rule"], functions, "op") == [
        ("RuntimeError", 'op: f, said "no"'), ("IndexError", "op: expected n > 0, got {n}")]
