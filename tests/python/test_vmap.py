"""vmap: what a loop over the batch gives; gradients of each sample; nested, compiled, with random numbers."""

import pytest

import fuselet as fl
from fuselet import func, nn


def test_dimensions_of_arguments_and_results():
    a, b = fl.randn(4, 3), fl.randn(3, 4)
    dots = fl.stack([a[i] @ b[:, i] for i in range(4)])
    assert fl.equal(fl.vmap(fl.dot, in_dims=(0, 1))(a, b), dots) and fl.vmap is func.vmap
    assert fl.equal(fl.vmap(lambda x, w: x * w, in_dims=(0, None), out_dims=1)(a, b[:, 0]), (a * b[:, 0]).T)
    got = fl.vmap(lambda d, scale: {"sum": d["x"].sum() + d["y"], "pair": (d["x"] * scale, d["y"])}, in_dims=({"x": 0, "y": None}, None))(
        {"x": a, "y": b[0, 0]}, 2.0)
    assert fl.equal(got["sum"], a.sum(1) + b[0, 0]) and fl.equal(got["pair"][0], a * 2) and got["pair"][1].shape == (4,)
    assert fl.equal(fl.vmap(lambda x, *, y: x + y)(a, y=b.T), a + b.T)
    assert fl.equal(fl.vmap(fl.vmap(fl.mul, in_dims=(None, 0)), in_dims=(0, None))(a[:, 0], b[0]), a[:, :1] * b[:1])


def test_gradients_of_each_sample():
    w, x, y = fl.randn(3), fl.randn(5, 3), fl.randn(5)
    got = fl.vmap(func.grad(lambda w, x, y: (x @ w - y).square()), in_dims=(None, 0, 0))(w, x, y)
    assert fl.allclose(got, 2 * (x @ w - y).unsqueeze(1) * x, atol=1e-5)
    jacobian = fl.vmap(lambda v: func.vjp(fl.tanh, w)[1](v)[0])(fl.eye(3))
    assert fl.allclose(jacobian, fl.diag(1 - w.tanh().square()), atol=1e-6)
    leaf = x.clone().requires_grad_()
    fl.vmap(lambda r: r.square().sum())(leaf).sum().backward()
    assert fl.allclose(leaf.grad, 2 * x)


def test_a_function_with_its_own_control_flow():
    assert fl.vmap(lambda v: v * 2 if v.sum() > 0 else -v)(fl.tensor([[1.0, 1.0], [-1.0, -1.0]])).tolist() == [[2, 2], [1, 1]]


def test_an_ensemble_compiled():
    layers = [nn.Linear(3, 2) for _ in range(3)]
    weights, biases, x = fl.stack([m.weight.detach() for m in layers]), fl.stack([m.bias.detach() for m in layers]), fl.randn(4, 3)
    got = fl.compile(lambda w, b: fl.vmap(lambda w, b: nn.functional.linear(x, w, b).relu())(w, b))(weights, biases)
    assert fl.allclose(got, fl.stack([m(x).relu() for m in layers]), atol=1e-6)


def test_random_numbers():
    x = fl.zeros(3, 100)
    with pytest.raises(RuntimeError, match="randomness='different' or 'same'"):
        fl.vmap(lambda r: r + fl.rand(100))(x)
    same = fl.vmap(lambda r: r + fl.rand(100), randomness="same")(x)
    assert fl.equal(same[0], same[1])
    different = fl.vmap(lambda r: r + fl.rand(100), randomness="different")(x)
    assert not fl.equal(different[0], different[1])


def test_a_refused_draw_leaves_the_generator_alone():
    fl.manual_seed(3)
    want = fl.rand(4)
    fl.manual_seed(3)
    with pytest.raises(RuntimeError, match="draws random numbers"):
        fl.vmap(lambda r: r + fl.rand(2))(fl.zeros(3, 2))
    assert fl.equal(fl.rand(4), want)


def test_random_numbers_of_other_generators_and_compiled():
    x = fl.zeros(2, 50)
    own = fl.Generator().manual_seed(1)
    for randomness in ("error", "same"):
        rows = fl.vmap(lambda r: r + fl.rand(50, generator=own), randomness=randomness)(x)
        assert not fl.equal(rows[0], rows[1])
    for randomness, error in (("error", RuntimeError), ("same", NotImplementedError)):
        with pytest.raises(error):
            fl.compile(lambda x, randomness=randomness: fl.vmap(lambda r: r + fl.rand(50), randomness=randomness)(x))(x)
    rows = fl.compile(lambda x: fl.vmap(lambda r: r + fl.rand(50), randomness="different")(x))(x)
    assert not fl.equal(rows[0], rows[1])


def test_results_are_tensors_in_one_structure():
    a = fl.tensor([[1.0, 1.0], [-1.0, -1.0]])
    for f in (lambda r: (r, r.sum().item()), lambda r: {"r": r, "name": "x"}, lambda r: [r, None], lambda r: 1.0):
        with pytest.raises(ValueError, match="the function must give tensors, in lists, tuples or dicts, got "):
            fl.vmap(f)(a)
    for positive, negative in ((lambda r: (r, r), lambda r: [r, r]), (lambda r: {"a": r, "b": -r}, lambda r: {"b": r, "a": -r}),
                               (lambda r: {"a": r}, lambda r: {"b": r}), (lambda r: (r, (r,)), lambda r: ((r,), r)),
                               (lambda r: (r,), lambda r: (r, r)), (lambda r: r, lambda r: (r,))):
        with pytest.raises(ValueError, match="must give tensors in one structure, got a differing structure for entry 1"):
            fl.vmap(lambda r, yes=positive, no=negative: yes(r) if r.sum() > 0 else no(r))(a)
    with pytest.raises(ValueError, match="must give tensors, got none"):
        fl.vmap(lambda r: [])(a)


def test_wrong_use():
    a = fl.ones(2, 3)
    for call, error, message in ((lambda: fl.vmap(fl.add)(a, fl.ones(3, 3)), ValueError, r"one batch size.*\[2, 3\]"),
                                 (lambda: fl.vmap(fl.add, in_dims=None)(a, a), ValueError, "there must be one"),
                                 (lambda: fl.vmap(fl.neg, in_dims=2)(a), IndexError, "out of range"),
                                 (lambda: fl.vmap(fl.add, in_dims=(0,))(a, a), ValueError, "1 dimensions for 2 values"),
                                 (lambda: fl.vmap(lambda r: 1.0)(a), ValueError, "must give tensors"),
                                 (lambda: fl.vmap(fl.neg, out_dims=None)(a), ValueError, "out_dims"),
                                 (lambda: fl.vmap(fl.neg)(fl.ones(0, 3)), ValueError, "no entries"),
                                 (lambda: fl.vmap(fl.neg, randomness="any"), RuntimeError, "randomness must be")):
        with pytest.raises(error, match=message):
            call()
