"""Layers that few models have: local response, leaks by chance, unpooling, margins of many classes, sizes found later."""

import copy
import math
import pickle

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_local_response(size):
    x = np.random.default_rng(0).standard_normal((2, 5, 3))
    want = np.empty_like(x)
    for c in range(5):
        around = x[:, max(c - size // 2, 0):c - size // 2 + size]
        want[:, c] = x[:, c] / (2 + 0.5 * (around ** 2).sum(1) / size) ** 0.75
    layer = nn.LocalResponseNorm(size, alpha=0.5, k=2)
    np.testing.assert_allclose(layer(fl.tensor(x)).cpu().numpy(), want, rtol=1e-12)
    assert fl.autograd.gradcheck(layer, (fl.tensor(x[:1]).requires_grad_(),))
    np.testing.assert_allclose(fl.compile(layer)(fl.tensor(x)).cpu().numpy(), want, rtol=1e-12)


def test_local_response_in_16_bits_and_wrong_use():
    assert F.local_response_norm(fl.full([1, 2, 1], 300.0).half(), 2).dtype is fl.float16
    assert F.local_response_norm(fl.full([1, 1, 1], 300.0).half(), 1, alpha=1.0, beta=0.5, k=0).item() == 1  # 300² is above float16
    assert repr(nn.LocalResponseNorm(3)) == "LocalResponseNorm(3, alpha=0.0001, beta=0.75, k=1.0)"
    with pytest.raises(ValueError, match="3 dimensions"):
        F.local_response_norm(fl.ones(2, 3), 2)


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


@pytest.mark.parametrize("n", [1, 2, 3])
def test_unpooling_puts_values_back(n):
    x = fl.randn(2, 3, *([6] * n)).requires_grad_()
    pool, unpool = getattr(nn, f"MaxPool{n}d")(2, return_indices=True), getattr(nn, f"MaxUnpool{n}d")(2)
    values, at = pool(x)
    back = unpool(values, at)
    assert back.shape == x.shape and fl.equal(back, fl.where(back != 0, x, 0.0)) and (back != 0).sum().item() == values.numel()
    back.sum().backward()
    assert fl.equal(x.grad, (back != 0).float())
    assert unpool(values, at, output_size=[7] * n).shape == (2, 3, *([7] * n))
    assert repr(unpool) == f"MaxUnpool{n}d(kernel_size=2, stride=2, padding=0)"
    with pytest.raises(RuntimeError, match="one shape"):
        unpool(values, at[:1])


def test_adaptive_max_pooling_of_volumes():
    x = fl.arange(64.0).view(1, 1, 4, 4, 4)
    values, at = nn.AdaptiveMaxPool3d((1, 2, None), return_indices=True)(x)
    assert values.flatten().tolist() == [52, 53, 54, 55, 60, 61, 62, 63] and at.flatten().tolist() == values.flatten().tolist()


def test_margins_of_many_classes():
    x = fl.tensor([[0.1, 0.2, 0.4, 0.8]], requires_grad=True)
    # Classes 3 and 0 against 1 and 2: (1 - (0.8 - 0.2)) + (1 - (0.8 - 0.4)) + (1 - (0.1 - 0.2)) + (1 - (0.1 - 0.4)), over 4.
    loss = nn.MultiLabelMarginLoss()(x, fl.tensor([[3, 0, -1, 1]]))
    assert loss.item() == pytest.approx((0.4 + 0.6 + 1.1 + 1.3) / 4)
    loss.backward()
    np.testing.assert_allclose(x.grad.tolist(), [[-0.5, 0.5, 0.5, -0.5]], rtol=1e-6)
    assert F.multilabel_margin_loss(x[0], fl.tensor([-1, 0, 0, 0])).item() == 0
    assert nn.MultiLabelMarginLoss(reduction="none")(x, fl.tensor([[3, 0, -1, 1]])).shape == (1,)
    assert nn.MultiMarginLoss()(fl.tensor([[1.0, 2.0, 0.5]]), fl.tensor([0])).item() == pytest.approx((2 + 0.5) / 3)
    assert nn.MultiMarginLoss(2, 0.5, fl.tensor([3.0, 1.0, 1.0]))(fl.tensor([[1.0, 2.0, 0.5]]), fl.tensor([0])).item() == pytest.approx(3 * 2.25 / 3)
    assert nn.MultiLabelSoftMarginLoss()(fl.zeros(2, 3), fl.ones(2, 3)).item() == pytest.approx(math.log(2))
    assert nn.MultiLabelSoftMarginLoss(fl.tensor([3.0, 0.0]))(fl.zeros(1, 2), fl.zeros(1, 2)).item() == pytest.approx(1.5 * math.log(2))
    compiled = fl.compile(lambda x: F.multilabel_margin_loss(x, fl.tensor([[3, 0, -1, 1]])))
    assert compiled(x).item() == pytest.approx(0.85)
    with pytest.raises(ValueError, match="p must be 1 or 2"):
        nn.MultiMarginLoss(3)
    with pytest.raises(RuntimeError, match="must have one shape"):
        F.multilabel_margin_loss(x, fl.tensor([3]))
    with pytest.raises(IndexError):
        F.multilabel_margin_loss(x, fl.tensor([[4, 0, -1, 1]])).item()


def test_triplets_by_another_distance():
    a, p, n = fl.tensor([[0.0, 0.0]]), fl.tensor([[1.0, 1.0]]), fl.tensor([[3.0, 0.0]])
    city = nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().sum(-1), margin=2.0)
    assert city(a, p, n).item() == 1  # 2 - 3 + 2
    assert nn.TripletMarginWithDistanceLoss()(a, p, n).item() == pytest.approx(nn.TripletMarginLoss()(a, p, n).item(), abs=1e-6)
    swapped = nn.TripletMarginWithDistanceLoss(swap=True, margin=2.0)
    assert swapped(a, p, n).item() == pytest.approx(2 + math.sqrt(2) - math.sqrt(5), abs=1e-5)


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


def test_modules_by_pytorchs_places():
    from fuselet.utils.data.dataloader import DataLoader, default_collate
    from fuselet.utils.data.sampler import RandomSampler

    assert DataLoader is fl.utils.data.DataLoader and default_collate is fl.utils.data.default_collate and RandomSampler is fl.utils.data.RandomSampler
