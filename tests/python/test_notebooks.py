"""The notebooks run from top to bottom and show what their text says. Each runs once, its cells in one namespace."""

import ast
import contextlib
import io
import json
from pathlib import Path

import pytest

import fuselet as fl

FOLDER = Path(__file__).resolve().parents[2] / "examples/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def run(path):
    """The names that the cells define, what they print, and the values that they show."""
    names, shown, printed = {"__name__": "__main__"}, [], io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, cell in enumerate(c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"):
            place = f"{path.stem}_{number}.py"
            tree = ast.parse("".join(cell["source"]), place)
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, place, "exec"), names)
            if last is not None:
                shown.append(eval(compile(ast.Expression(last.value), place, "eval"), names))
    return names, printed.getvalue(), [value for value in shown if value is not None]


@pytest.fixture(scope="module")
def stages():
    state = fl.get_rng_state()
    yield run(FOLDER / "compiler_stages.ipynb")
    fl.set_rng_state(state)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_kept_without_outputs(path):
    notebook = json.loads(path.read_text())
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["language"]) == (4, "python")
    for cell in notebook["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"] == [] and cell["execution_count"] is None)


def test_every_stage_leaves_its_value(stages):
    names, printed, _ = stages
    # The joint graph is split after its passes; each half goes through the rest.
    rest = ["fuse", "lower", "codegen", "order", "plan"]
    assert [s.name for s in names["model_report"].stages] == [
        "decompose", "passes", "partition", *rest, *(f"backward.{s}" for s in rest)]
    assert [s.name for s in names["step_report"].stages] == ["decompose", "passes", *rest]
    for text in ("cross_entropy_grad", "adam_step", "tile [8, 32]", "gelu_erf<f32>", "formula::gelu_erf", "arena "):
        assert text in printed, text


def test_the_recorded_graph_has_forward_and_backward(stages):
    names, _, _ = stages
    assert "gelu_erf_grad" in names["backward_nodes"] and "adam_step" not in names["backward_nodes"]


def test_fusion_makes_fewer_kernels_and_less_traffic(stages):
    names, _, _ = stages
    for report in (names["model_report"], names["step_report"]):
        # gelu shares a kernel with the bias that is added before it.
        assert len(report.kernels) < sum(len(k.nodes) for k in report.kernels)
        assert report.bytes_fused < report.bytes_unfused and report.arena_bytes < report.arena_bytes_unshared
    # Three layers: a product each forward, a product each for the weights, and one each for what two layers hand down.
    assert len(names["model_report"].calls) == len(names["step_report"].calls) == 8
    assert all(r.reason and r.bytes > 0 for r in names["step_report"].refused)


def test_a_budget_is_kept_and_changes_no_gradient(stages):
    names, _, _ = stages
    saved, gradients = names["saved"], names["gradients"]
    assert saved[None] > 1500 >= saved[1500] > saved[0] == 0
    for budget in (1500, 0):
        assert (gradients[None] - gradients[budget]).abs().max().item() <= 1e-6


def test_drawings_are_svg(stages):
    _, _, shown = stages
    assert len(shown) == 3
    for drawing in shown:
        svg = drawing._repr_svg_()
        assert "<svg" in svg and "matmul" in svg and svg.rstrip().endswith("</svg>")


def test_the_step_trains_and_its_calls_are_accounted_for(stages):
    names, _, _ = stages
    assert names["losses"][-1] < names["losses"][0] / 2
    ledger = fl.compiler.stats(names["compiled_step"])
    assert (ledger.compiled, ledger.eager) == (11, 0)
    assert all(c.reason for c in ledger.recompiles) and "[4, 16]" in ledger.recompiles[-1].reason


def test_own_stages_take_the_place_of_the_passes(stages):
    names, _, _ = stages
    assert names["counts"] == {"mul": 2, "maximum": 1, "add": 1}
    graph = fl.compiler.parse(fl.compiler.report(names["dropped"]).stage("passes").text)
    assert [n.op for n in graph.nodes] == ["maximum", "add"]
    assert len(fl.compiler.report(names["dropped"]).kernels) == 1


def test_exact_is_eager_and_fused_is_closer_to_the_truth(stages):
    names, _, _ = stages
    assert fl.equal(names["exact"], names["eager"])
    assert names["error"](names["fused"]) < names["error"](names["eager"])


def test_dumps_come_in_the_order_of_the_stages(stages):
    names, _, _ = stages
    stages_dumped = [name.split("_")[1] for name in names["dumped"]]
    order = ["decompose", "passes", "fuse", "lower", "codegen", "order", "plan"]
    assert [s for s in stages_dumped if s in order] == order
