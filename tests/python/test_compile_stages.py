"""Functions of the user's own in the place of stages, and what goes wrong in them."""

import pytest

import fuselet as fl


def doubled(x):
    return x * 2


def same(graph):
    return graph


def test_an_exception_comes_out_as_it_is():
    def fails(graph):
        raise LookupError(graph.name)

    with pytest.raises(LookupError, match="doubled") as caught:
        fl.compile(doubled, stages={"passes": fails})(fl.ones(3))
    assert caught.traceback[-1].name == "fails"
    # With a backward that comes later, and on the next call too.
    layer = fl.compile(fl.nn.Linear(3, 3), stages={"decompose": fails})
    for _ in range(2):
        with pytest.raises(LookupError, match="Linear"):
            layer(fl.ones(2, 3))


def test_a_stage_that_there_is_none_of():
    with pytest.raises(RuntimeError, match="'fuse' cannot be replaced; decompose and passes can"):
        fl.compile(doubled, stages={"fuse": same})


def test_a_stage_must_return_a_graph():
    with pytest.raises(TypeError, match="the stage 'passes' returned a str, expected a Graph"):
        fl.compile(doubled, stages={"passes": str})(fl.ones(3))


def test_a_rewritten_graph_is_what_runs():
    def tripled(graph):
        return fl.compiler.parse(str(graph).replace(", 2)", ", 3)"))

    assert fl.compile(doubled, stages={"passes": tripled})(fl.ones(3)).tolist() == [3, 3, 3]


def test_the_state_of_a_call_whose_stage_fails_is_as_before():
    def step(x):
        x.mul_(2)
        return x + 1

    x, failing = fl.ones(3), [True]

    def sometimes(graph):
        if failing and failing.pop():
            raise LookupError
        return graph

    compiled = fl.compile(step, stages={"passes": sometimes})
    with pytest.raises(LookupError):
        compiled(x)
    assert x.tolist() == [1, 1, 1]
    assert compiled(x).tolist() == [3, 3, 3] and x.tolist() == [2, 2, 2]
