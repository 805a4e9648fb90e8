"""Adafactor: steps by its formula in double precision; the same compiled; saved and loaded."""

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn, optim

SHAPES = [(3, 4), (5,), (2, 3, 2), ()]


def rms(x):
    return np.sqrt(np.mean(x * x))


def formula(p, g, state, t, lr=0.02, beta2_decay=-0.8, eps=(np.finfo(np.float32).eps, 1e-3), d=1.0, weight_decay=0.0):
    mixing, rate, size = t ** beta2_decay, min(lr, 1 / np.sqrt(t)), max(eps[1], rms(p))
    p = p - lr * weight_decay * p
    if g.ndim > 1:
        state["r"] = state.get("r", 0) * (1 - mixing) + mixing * np.mean(g * g, -1, keepdims=True)
        state["c"] = state.get("c", 0) * (1 - mixing) + mixing * np.mean(g * g, -2, keepdims=True)
        v = state["r"] * state["c"] / np.maximum(np.mean(state["r"], -2, keepdims=True), eps[0])
    else:
        state["v"] = v = state.get("v", 0) * (1 - mixing) + mixing * g * g
    u = g / np.sqrt(np.maximum(v, eps[0] ** 2))
    return p - size * rate * u / max(1, rms(u) / d)


@pytest.mark.parametrize("options", [{}, {"lr": 0.9, "weight_decay": 0.1}, {"beta2_decay": -0.5, "d": 2.0, "eps": (1e-3, 0.5)}, {"maximize": True}])
def test_steps_by_the_formula(options):
    draws = np.random.default_rng(0)
    values = [np.asarray(draws.standard_normal(s), np.float32) for s in SHAPES]
    params, states = [nn.Parameter(fl.tensor(v)) for v in values], [{} for _ in SHAPES]
    opt = optim.Adafactor(params, **{"lr": 0.02, **options})
    named = {name: value for name, value in options.items() if name != "maximize"}
    for t in range(1, 7):
        grads = [np.asarray(draws.standard_normal(s), np.float32) for s in SHAPES]
        for p, g in zip(params, grads):
            p.grad = fl.tensor(g)
        opt.step()
        values = [formula(v.astype(float), -g if "maximize" in options else g, s, t, **named) for v, g, s in zip(values, grads, states)]
    for p, v in zip(params, values):
        np.testing.assert_allclose(p.detach().cpu().numpy(), v, rtol=2e-5, atol=2e-6)
    # As many numbers as a row and a column have.
    assert opt.state[params[0]]["row_var"].shape == (3, 1) and opt.state[params[2]]["col_var"].shape == (2, 1, 2)


def test_compiled_with_a_new_learning_rate():
    w = fl.randn(4, 3)
    results = []
    for ways in (lambda f: f, fl.compile):
        p = nn.Parameter(w.clone())
        opt = optim.Adafactor([p])

        def step(x):
            opt.zero_grad()
            (x @ p).square().sum().backward()
            opt.step()

        step = ways(step)
        for k in range(4):
            opt.param_groups[0]["lr"] = 0.01 * (k + 1)
            step(fl.ones(2, 4) * (k + 1.0))
        results.append(p.detach())
    assert fl.allclose(*results, rtol=1e-5, atol=1e-6)


def test_a_state_goes_on_where_it_was():
    p, q = nn.Parameter(fl.ones(2, 3)), nn.Parameter(fl.ones(2, 3))
    a, b = optim.Adafactor([p]), optim.Adafactor([q])
    p.grad = fl.tensor([[1.0, -2.0, 3.0], [0.5, 0.0, 1.0]])
    a.step()
    q.data = p.detach().clone()
    b.load_state_dict(a.state_dict())
    q.grad = p.grad
    a.step(), b.step()
    assert p.tolist() == q.tolist()
    state = a.state_dict()
    state["state"][0]["row_var"] = fl.ones(3, 1)
    with pytest.raises(ValueError, match="row_var of parameter 0 has shape"):
        b.load_state_dict(state)


def test_wrong_use():
    for options, message in (({"d": 0.5}, "d must be at least 1"), ({"beta2_decay": 0.1}, "beta2_decay must not be positive"),
                             ({"eps": (None, -1.0)}, "eps must not be negative"), ({"lr": -1.0}, "learning rate")):
        with pytest.raises(ValueError, match=message):
            optim.Adafactor([nn.Parameter(fl.ones(1))], **options)
