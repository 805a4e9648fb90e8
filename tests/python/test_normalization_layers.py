"""Normalisation layers against NumPy in double precision, and their running statistics."""

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F


def randomised(layer):
    for p in layer.parameters():
        nn.init.normal_(p)
    return layer


def normalised(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def affine(layer, x):
    shape = [1, -1] + [1] * (x.ndim - 2)
    return x * layer.weight.detach().numpy().reshape(shape) + layer.bias.detach().numpy().reshape(shape)


BATCH = [(nn.BatchNorm1d, (6, 3)), (nn.BatchNorm1d, (4, 3, 5)), (nn.BatchNorm2d, (4, 3, 2, 5)), (nn.BatchNorm3d, (2, 3, 2, 3, 2))]


@pytest.mark.parametrize("make,shape", BATCH, ids=lambda v: str(v))
def test_batch_norm(make, shape):
    fl.manual_seed(0)
    layer, x = randomised(make(3).double()), fl.randn(*shape, dtype=fl.float64) * 3 + 1
    axes = (0, *range(2, len(shape)))
    v = x.numpy()
    np.testing.assert_allclose(layer(x).detach().numpy(), affine(layer, normalised(v, axes)), atol=1e-9)
    mean, var = 0.1 * v.mean(axes), 0.9 + 0.1 * v.var(axes, ddof=1)
    np.testing.assert_allclose(layer.running_mean.numpy(), mean, atol=1e-12)
    np.testing.assert_allclose(layer.running_var.numpy(), var, atol=1e-12)
    assert layer.num_batches_tracked.item() == 1
    layer.eval()
    stretched = [1, -1] + [1] * (len(shape) - 2)
    want = (v - mean.reshape(stretched)) / np.sqrt(var.reshape(stretched) + 1e-5)
    np.testing.assert_allclose(layer(x).detach().numpy(), affine(layer, want), atol=1e-9)
    assert layer.num_batches_tracked.item() == 1


def test_momentum_none_and_no_running_statistics():
    layer = nn.BatchNorm1d(1, momentum=None, affine=False)
    for values in ([0.0, 2.0], [4.0, 8.0]):
        layer(fl.tensor(values).view(2, 1))
    assert layer.running_mean.item() == pytest.approx(3.5) and layer.running_var.item() == pytest.approx((2 + 8) / 2)
    layer.reset_running_stats()
    assert layer.running_mean.item() == 0 and layer.running_var.item() == 1 and layer.num_batches_tracked.item() == 0
    alone = nn.BatchNorm1d(1, affine=False, track_running_stats=False).eval()
    np.testing.assert_allclose(alone(fl.tensor([[0.0], [2.0]])).numpy(), [[-1], [1]], atol=1e-4)
    frozen = nn.BatchNorm1d(1)
    frozen.momentum = 0.0
    frozen(fl.tensor([[1.0], [5.0]]))
    assert frozen.running_mean.item() == 0


def test_gradients_of_batch_norm():
    layer = randomised(nn.BatchNorm1d(2).double())
    x = fl.randn(4, 2, dtype=fl.float64).requires_grad_()
    w, b = (p.detach().requires_grad_() for p in layer.parameters())

    def f(x, w, b):
        return fl.func.functional_call(layer, {"weight": w, "bias": b}, (x,))

    assert fl.autograd.gradcheck(f, (x, w, b))
    layer.eval()
    assert fl.autograd.gradcheck(f, (x, w, b))


def test_group_instance_and_rms_norm():
    fl.manual_seed(1)
    x = fl.randn(2, 4, 3, 5, dtype=fl.float64) + 2
    v = x.numpy()
    group = randomised(nn.GroupNorm(2, 4).double())
    want = normalised(v.reshape(2, 2, -1), (2,)).reshape(v.shape)
    np.testing.assert_allclose(group(x).detach().numpy(), affine(group, want), atol=1e-9)
    instance = randomised(nn.InstanceNorm2d(4, affine=True).double())
    np.testing.assert_allclose(instance(x).detach().numpy(), affine(instance, normalised(v, (2, 3))), atol=1e-9)
    assert fl.allclose(instance(x[1]), instance(x)[1])
    tracking = nn.InstanceNorm1d(4, track_running_stats=True).double()
    y = x.flatten(2)
    tracking(y)
    np.testing.assert_allclose(tracking.running_mean.numpy(), 0.1 * y.numpy().mean((0, 2)), atol=1e-12)
    np.testing.assert_allclose(tracking.running_var.numpy(), 0.9 + 0.1 * y.numpy().var(2, ddof=1).mean(0), atol=1e-12)
    rms = nn.RMSNorm(5, eps=1e-6).double()
    nn.init.normal_(rms.weight)
    want = v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-6) * rms.weight.detach().numpy()
    np.testing.assert_allclose(rms(x).detach().numpy(), want, atol=1e-9)
    assert list(rms.state_dict()) == ["weight"] and nn.RMSNorm((3, 5), elementwise_affine=False)(x.float()).shape == x.shape


def test_16_bit_statistics_are_wide():
    """The mean of 1000 values of 300 would overflow float16 as a sum."""
    layer = nn.BatchNorm1d(1).half()
    out = layer(fl.full((1000, 1), 300.0, dtype=fl.float16))
    assert out.dtype is fl.float16 and out.abs().max().item() < 1e-2
    assert layer.running_mean.item() == pytest.approx(30, rel=1e-2)


def test_a_compiled_step_updates_the_running_statistics():
    def trained(wrap):
        fl.manual_seed(2)
        net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
        opt = fl.optim.SGD(net.parameters(), lr=0.1)

        def step(x):
            opt.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            opt.step()
            return loss

        step = wrap(step)
        out = [step(fl.randn(6, 3)).item() for _ in range(3)]
        return out, {k: v.tolist() for k, v in net.state_dict().items()}

    assert trained(lambda f: fl.compile(f, numerics="exact")) == trained(lambda f: f)


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
