"""Activations that draw numbers while they train: the slopes of a leaky ReLU by chance."""

import math

import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F


def test_leaks_by_chance():
    fl.manual_seed(0)
    x = fl.full([1000], -1.0).requires_grad_()
    layer = nn.RReLU(0.25, 0.75)
    y = layer(x)
    y.sum().backward()
    slopes = -y.detach()
    assert slopes.amin().item() >= 0.25 and slopes.amax().item() <= 0.75 and slopes.mean().item() == pytest.approx(0.5, abs=0.03)
    assert slopes.std().item() == pytest.approx(0.5 / math.sqrt(12), abs=0.01) and fl.equal(x.grad, slopes)
    assert layer.eval()(fl.tensor([-2.0, 3.0])).tolist() == [-1, 3] and repr(layer) == "RReLU(lower=0.25, upper=0.75)"
    a = fl.tensor([-1.0, 2.0], requires_grad=True) * 1
    assert F.rrelu(a, 0.5, 0.5, True, inplace=True) is a and a.tolist() == [-0.5, 2]
    with pytest.raises(RuntimeError, match="lower 1 must not be above upper 0"):
        F.rrelu(x, 1, 0)
