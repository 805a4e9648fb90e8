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


def is_unsized(layer):
    return (type(layer) is nn.LazyLinear and layer.in_features == 0 and layer.weight.shape == (0, 0)
            and (layer.bias is None or layer.bias.shape == (0,)))


@pytest.mark.parametrize("strict,change", [
    (True, {"1.bias": None}), (True, {"0.bias": None}), (True, {"more": fl.ones(1)}), (False, {"1.weight": fl.ones(2, 2)}),
    (False, {"0.weight": fl.ones(5, 3)}), (False, {"0.weight": fl.ones(4)}), (False, {"0.bias": fl.ones(5)}), (True, {"0.weight": 1.0})])
def test_a_state_that_does_not_fit_sizes_no_lazy_layer(strict, change):
    net = nn.Sequential(nn.LazyLinear(4), nn.Linear(4, 2))
    state = {**nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)).state_dict(), **change}
    generator, before = fl.get_rng_state().tolist(), net[1].weight.tolist()
    with pytest.raises(RuntimeError, match="do not fit"):
        net.load_state_dict({name: value for name, value in state.items() if value is not None}, strict)
    assert is_unsized(net[0]) and net[1].weight.tolist() == before and fl.get_rng_state().tolist() == generator
    assert net(fl.ones(1, 7)).shape == (1, 2) and net[0].in_features == 7


def test_states_of_lazy_layers():
    """One that is not sized leaves another as it is; without a bias it is drawn; tied layers are sized once."""
    layer, other = nn.LazyLinear(4), nn.LazyLinear(4)
    other.load_state_dict(layer.state_dict())
    assert is_unsized(other)
    other.load_state_dict({"weight": fl.ones(4, 3)}, strict=False)
    assert type(other) is nn.Linear and fl.equal(other.weight, fl.ones(4, 3)) and 0 < other.bias.abs().max().item() <= 1 / math.sqrt(3)
    tied = nn.Sequential(layer, layer)
    w, b = fl.ones(4, 4), fl.ones(4)
    tied.load_state_dict({"0.weight": w, "0.bias": b, "1.weight": w, "1.bias": b})
    assert type(layer) is nn.Linear and fl.equal(layer.weight, w)
    layer = nn.LazyLinear(4, bias=False)
    with pytest.raises(RuntimeError, match=r"1.weight: expected shape \[4, 3\], got \[0, 0\]"):
        nn.Sequential(layer, layer).load_state_dict({"0.weight": fl.ones(4, 3), "1.weight": fl.ones(0, 0)})
    assert is_unsized(layer)
    renamed = nn.Sequential(nn.LazyLinear(4, bias=False))
    renamed.register_load_state_dict_pre_hook(lambda m, state, *_: state.update({"0.weight": state.pop("old")}))
    renamed.load_state_dict({"old": w}, assign=True)
    assert renamed[0].in_features == 4 and renamed[0].weight._shares_memory(w)


@pytest.mark.parametrize("x", [fl.ones(2, 3, dtype=fl.int64), fl.ones(2, 3, dtype=fl.bool), fl.tensor(1.0), [[1.0, 2.0]]])
def test_a_first_input_that_does_not_fit_sizes_no_lazy_layer(x):
    layer, generator = nn.LazyLinear(4), fl.get_rng_state().tolist()
    with pytest.raises(Exception):
        layer(x)
    assert is_unsized(layer) and fl.get_rng_state().tolist() == generator
    assert layer(fl.ones(2, 5)).shape == (2, 4)


def test_a_lazy_layer_in_a_compiled_function():
    layer = nn.LazyLinear(2)
    with pytest.raises(NotImplementedError, match="once outside"):
        fl.compile(layer)(fl.ones(1, 3))
    layer(fl.ones(1, 3))
    assert fl.compile(layer)(fl.ones(1, 3)).shape == (1, 2)
