"""Muon by what its iteration does to singular values, ASGD by its formula; both compiled with a learning rate that changes."""

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn, optim
from fuselet.optim.muon import orthogonalized

JORDAN = (3.4445, -4.775, 2.0315)


def spectral(x, coefficients=JORDAN, steps=5):
    """U p(S) Vᵀ: the odd polynomial a s + b s³ + c s⁵, as often, of the singular values over their norm."""
    u, s, v = np.linalg.svd(x, full_matrices=False)
    s = s / np.linalg.norm(s)
    for _ in range(steps):
        s = coefficients[0] * s + coefficients[1] * s ** 3 + coefficients[2] * s ** 5
    return u @ np.diag(s) @ v


@pytest.mark.parametrize("shape", [(4, 4), (3, 6), (6, 3)])
def test_the_iteration_is_a_polynomial_of_singular_values(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    got = orthogonalized(fl.tensor(x), JORDAN, 5, 1e-7).cpu().numpy()
    np.testing.assert_allclose(got, spectral(x), atol=1e-9)
    assert 0.5 < np.linalg.svd(got)[1].min() and np.linalg.svd(got)[1].max() < 1.3
    # (3 s - s³) / 2 goes to 1 exactly: that of Newton and Schulz.
    exact = orthogonalized(fl.tensor(x), (1.5, -0.5, 0.0), 40, 1e-7)
    gram = exact.T @ exact if shape[0] > shape[1] else exact @ exact.T
    np.testing.assert_allclose(gram.cpu().numpy(), np.eye(min(shape)), atol=1e-9)
    assert orthogonalized(fl.zeros(2, 3), JORDAN, 5, 1e-7).tolist() == [[0] * 3] * 2


@pytest.mark.parametrize("options", [{}, {"nesterov": False, "weight_decay": 0.0}, {"adjust_lr_fn": "match_rms_adamw"}])
def test_steps_of_muon(options):
    draws = np.random.default_rng(1)
    for shape in ((5, 3), (3, 5)):
        p, b = draws.standard_normal(shape), np.zeros(shape)
        q = nn.Parameter(fl.tensor(p))
        opt = optim.Muon([q], lr=0.1, **options)
        scale = 0.2 * np.sqrt(max(shape)) if "adjust_lr_fn" in options else np.sqrt(max(1, shape[0] / shape[1]))
        for _ in range(4):
            g = draws.standard_normal(shape)
            q.grad = fl.tensor(g)
            opt.step()
            b = 0.95 * b + 0.05 * g
            u = 0.95 * b + 0.05 * g if options.get("nesterov", True) else b
            p = p * (1 - 0.1 * options.get("weight_decay", 0.1)) - 0.1 * scale * spectral(u)
        np.testing.assert_allclose(q.detach().cpu().numpy(), p, rtol=1e-8)


@pytest.mark.parametrize("alpha", [0.5, 2.0, -1.0])
def test_steps_of_asgd(alpha):
    draws = np.random.default_rng(2)
    p, average = draws.standard_normal(4), 0.0
    q = nn.Parameter(fl.tensor(p))
    opt = optim.ASGD([q], lr=0.2, lambd=0.1, alpha=alpha, t0=2, weight_decay=0.3)
    for t in range(1, 7):
        g = draws.standard_normal(4)
        q.grad = fl.tensor(g)
        opt.step()
        e = 0.2 / (1 + 0.1 * 0.2 * (t - 1)) ** alpha
        p = p * (1 - 0.1 * e) - e * (g + 0.3 * p)
        average = average + (p - average) / max(1, t - 1 - 2)
    np.testing.assert_allclose(q.detach().cpu().numpy(), p, rtol=1e-10)
    np.testing.assert_allclose(opt.state[q]["ax"].cpu().numpy(), average, rtol=1e-10)


@pytest.mark.parametrize("make", [optim.Muon, optim.ASGD])
def test_compiled_with_a_new_learning_rate(make):
    w, results = fl.randn(4, 3), []
    for ways in (lambda f: f, fl.compile):
        p = nn.Parameter(w.clone())
        opt = make([p], lr=0.1)

        def step(x):
            opt.zero_grad()
            (x @ p).square().sum().backward()
            opt.step()

        step = ways(step)
        for k in range(3):
            opt.param_groups[0]["lr"] = 0.1 / (k + 1)
            step(fl.ones(2, 4) * (k + 1.0))
        results.append(p.detach())
    assert fl.allclose(*results, rtol=1e-4, atol=1e-5) and not fl.allclose(results[0], w)


def test_wrong_use():
    for arguments, options, message in (([nn.Parameter(fl.ones(2))], {}, "must be matrices"), ([nn.Parameter(fl.ones(2, 2))], {"ns_steps": 0}, "ns_steps"),
                                        ([nn.Parameter(fl.ones(2, 2))], {"adjust_lr_fn": "none"}, "adjust_lr_fn"),
                                        ([nn.Parameter(fl.ones(2, 2))], {"momentum": -1.0}, "momentum")):
        with pytest.raises(ValueError, match=message):
            optim.Muon(arguments, **options)
