"""Layers of windows, padding and resizing: what they hand to the functions, and values by hand."""

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy() if isinstance(b, fl.Tensor) else b, atol=1e-5)


@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [1, (2, 0), "same"])
def test_padding_modes(mode, padding):
    """The convolution of an image that is padded by hand."""
    conv = nn.Conv2d(2, 3, (3, 2), padding=padding, padding_mode=mode)
    x = fl.randn(2, 2, 5, 6)
    top, left = {1: ((1, 1), (1, 1)), "same": ((1, 1), (0, 1))}.get(padding, ((2, 2), (0, 0)))
    names = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    padded = fl.tensor(np.pad(x.numpy(), ((0, 0), (0, 0), top, left), mode=names[mode]))
    close(conv(x), F.conv2d(padded, conv.weight, conv.bias))


def test_groups_and_dilation():
    """Each group sees its own channels alone."""
    conv, x = nn.Conv2d(4, 6, 3, stride=2, dilation=2, groups=2, padding=2), fl.randn(2, 4, 7, 7)
    halves = [F.conv2d(x[:, 2 * g:2 * g + 2], conv.weight[3 * g:3 * g + 3], conv.bias[3 * g:3 * g + 3], 2, 2, 2) for g in (0, 1)]
    close(conv(x), fl.cat(halves, 1))
    deep, y = nn.Conv1d(4, 4, 3, groups=4, bias=False), fl.randn(1, 4, 6)
    want = np.stack([np.correlate(y[0, c].numpy(), deep.weight[c, 0].detach().numpy(), "valid") for c in range(4)])
    close(deep(y)[0], want)
    assert nn.Conv3d(1, 2, 2)(fl.randn(1, 1, 3, 4, 5)).shape == (1, 2, 2, 3, 4)


def test_a_transposed_convolution_is_the_gradient_of_one():
    conv = nn.Conv2d(2, 3, 3, stride=2, padding=1, bias=False)
    up = nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, bias=False)
    up.weight.data = conv.weight.data
    x = fl.randn(1, 2, 7, 7, requires_grad=True)
    y = conv(x)
    g = fl.randn(*y.shape)
    (want,) = fl.autograd.grad(y, x, g)
    close(up(g), want)
    assert up(g, output_size=(8, 8)).shape == (1, 2, 8, 8) and nn.ConvTranspose1d(3, 2, 4, 2)(fl.randn(1, 3, 5)).shape == (1, 2, 12)
    grouped = nn.ConvTranspose2d(4, 2, 2, groups=2, output_padding=1, stride=2)
    assert grouped(fl.randn(1, 4, 3, 3)).shape == (1, 2, 7, 7)


def test_pooling():
    x = fl.arange(16.0).view(1, 1, 4, 4)
    assert nn.AvgPool2d(2)(x).tolist() == [[[[2.5, 4.5], [10.5, 12.5]]]]
    assert nn.AvgPool2d(3, 2, 1, count_include_pad=False)(x)[0, 0, 0].tolist() == [2.5, 4.0]
    assert nn.AvgPool2d(2, divisor_override=1)(x)[0, 0, 0].tolist() == [10, 18]
    assert nn.MaxPool2d(2, ceil_mode=True, stride=3)(x)[0, 0].tolist() == [[5, 7], [13, 15]]
    values, places = nn.MaxPool2d(2, return_indices=True)(x)
    assert values.tolist() == [[[[5, 7], [13, 15]]]] and places.tolist() == [[[[5, 7], [13, 15]]]]
    assert nn.MaxPool1d(2, dilation=2, stride=1)(fl.tensor([[[1.0, 5.0, 2.0, 0.0]]])).tolist() == [[[2, 5]]]
    assert nn.AvgPool1d(2)(fl.arange(4.0).view(1, 1, 4)).tolist() == [[[0.5, 2.5]]]
    assert nn.AvgPool3d(2)(fl.arange(8.0).view(1, 1, 2, 2, 2)).item() == 3.5
    assert nn.AdaptiveAvgPool2d((1, None))(x).tolist() == [[[[6, 7, 8, 9]]]]
    assert nn.AdaptiveAvgPool1d(3)(fl.arange(5.0).view(1, 1, 5)).tolist() == [[[0.5, 2.0, 3.5]]]
    assert nn.AdaptiveMaxPool2d(2)(x).tolist() == [[[[5, 7], [13, 15]]]]
    assert nn.AdaptiveMaxPool1d(2, return_indices=True)(fl.arange(4.0).view(1, 1, 4))[1].tolist() == [[[1, 3]]]
    assert repr(nn.AdaptiveAvgPool2d(1)) == "AdaptiveAvgPool2d(output_size=1)"


def test_padding_layers():
    x = fl.tensor([[[1.0, 2.0, 3.0]]])
    assert nn.ReflectionPad1d(2)(x).tolist() == [[[3, 2, 1, 2, 3, 2, 1]]]
    assert nn.ReplicationPad1d((1, 2))(x).tolist() == [[[1, 1, 2, 3, 3, 3]]]
    assert nn.CircularPad1d(1)(x).tolist() == [[[3, 1, 2, 3, 1]]]
    assert nn.ReflectionPad2d((1, 0, 0, 1))(fl.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).tolist() == [[[[2, 1, 2], [4, 3, 4], [2, 1, 2]]]]


def test_resizing():
    x = fl.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    assert nn.Upsample(scale_factor=2)(x).tolist() == [[[[1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]]]]
    assert nn.UpsamplingBilinear2d(size=(3, 3))(x).tolist() == [[[[1, 1.5, 2], [2, 2.5, 3], [3, 3.5, 4]]]]
    close(nn.Upsample(scale_factor=2, mode="bilinear")(x)[0, 0, 0], [1, 1.25, 1.75, 2])
    shuffled = nn.PixelShuffle(2)(fl.arange(4.0).view(1, 4, 1, 1))
    assert shuffled.tolist() == [[[[0, 1], [2, 3]]]] and nn.PixelUnshuffle(2)(shuffled).flatten().tolist() == [0, 1, 2, 3]
    columns = nn.Unfold(2)(fl.arange(9.0).view(1, 1, 3, 3))
    assert columns[0, :, 0].tolist() == [0, 1, 3, 4]
    assert nn.Fold((3, 3), 2)(fl.ones(1, 4, 4)).tolist() == [[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]]


def test_a_small_network_trains():
    fl.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular"), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                        nn.Conv2d(4, 4, 3, groups=2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
    x, y = fl.randn(8, 1, 8, 8), fl.tensor([0, 1] * 4)
    opt = fl.optim.RMSprop(net.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


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
