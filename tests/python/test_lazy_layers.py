"""Layers that take their sizes from the first input: values, states, copies, and what a compiled function refuses."""

import copy
import math
import pickle

import pytest

import fuselet as fl
from fuselet import nn


@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_layer_takes_its_size_from_its_input(bias):
    layer = nn.LazyLinear(4, bias)
    net = nn.Sequential(layer, nn.ReLU())
    opt = fl.optim.SGD(net.parameters(), lr=0.1)
    assert repr(layer) == f"LazyLinear(out_features=4, bias={bias})"
    other = copy.deepcopy(net)
    y = net(fl.ones(2, 3))
    assert type(layer) is nn.Linear and y.shape == (2, 4) and layer.weight.shape == (4, 3) and layer.in_features == 3
    assert layer.weight.abs().max().item() <= 1 / math.sqrt(3) and layer.weight.std().item() > 0
    y.sum().backward()
    before = layer.weight.detach().clone()
    opt.step()
    assert fl.allclose(layer.weight.detach(), before - 0.1 * layer.weight.grad)
    for third in (copy.deepcopy(other), pickle.loads(pickle.dumps(other)), other):
        for _ in range(2):
            third.load_state_dict(net.state_dict())
        assert type(third[0]) is nn.Linear and third[0].in_features == 3
    assert type(other[0]) is nn.Linear and fl.equal(other[0].weight, layer.weight)


def test_a_lazy_layer_in_a_compiled_function():
    layer = nn.LazyLinear(2)
    with pytest.raises(NotImplementedError, match="once outside"):
        fl.compile(layer)(fl.ones(1, 3))
    layer(fl.ones(1, 3))
    assert fl.compile(layer)(fl.ones(1, 3)).shape == (1, 2)
