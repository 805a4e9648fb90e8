"""Layers of few lines: dropout of channels, bilinear maps, embeddings, shapes."""

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn


@pytest.mark.parametrize("make,shape", [(nn.Dropout1d, (50, 20, 4)), (nn.Dropout2d, (50, 20, 2, 3)), (nn.Dropout3d, (20, 2, 2, 2))])
def test_whole_channels_are_dropped(make, shape):
    fl.manual_seed(0)
    layer, x = make(0.25), fl.ones(*shape)
    y = layer(x).reshape(int(np.prod(shape[:-(len(shape) - 2 if shape[0] == 50 else 3)])), -1)
    assert fl.equal(y.amin(1), y.amax(1))
    kept = (y[:, 0] != 0).float().mean().item()
    if shape[0] == 50:
        assert kept == pytest.approx(0.75, abs=0.05)
    assert set(np.round(np.unique(y.numpy()), 4)) <= {0, np.float32(1.3333)}
    assert layer.eval()(x) is x
    with pytest.raises(RuntimeError, match="dimensions"):
        make(0.5)(fl.ones(2))
    with pytest.raises(ValueError, match=make.__name__):
        make(1.5)


def test_alpha_dropout_keeps_mean_and_variance():
    fl.manual_seed(0)
    y = nn.AlphaDropout(0.2)(fl.randn(40000))
    assert y.mean().item() == pytest.approx(0, abs=0.03) and y.var().item() == pytest.approx(1, abs=0.03)
    assert nn.AlphaDropout(0.2).eval()(y) is y


def test_bilinear():
    layer, a, b = nn.Bilinear(2, 3, 4), fl.randn(5, 2), fl.randn(5, 3)
    want = np.einsum("ni,oij,nj->no", a.numpy(), layer.weight.detach().numpy(), b.numpy()) + layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(a, b).detach().numpy(), want, atol=1e-5)
    assert list(layer.state_dict()) == ["weight", "bias"] and layer.weight.abs().max().item() <= 2 ** -0.5


def test_embeddings():
    layer = nn.Embedding.from_pretrained(fl.arange(6.0).view(3, 2), padding_idx=0)
    assert layer(fl.tensor([2, 0])).tolist() == [[4, 5], [0, 1]] and not layer.weight.requires_grad
    assert nn.Embedding(4, 2, padding_idx=-1).padding_idx == 3
    assert repr(nn.Embedding(4, 2, padding_idx=1)) == "Embedding(4, 2, padding_idx=1)"
    with pytest.raises(ValueError, match="padding_idx"):
        nn.Embedding(3, 2, padding_idx=3)
    with pytest.raises(NotImplementedError, match="max_norm"):
        nn.Embedding(3, 2, max_norm=1.0)


def test_shapes():
    x = fl.arange(16.0).view(1, 4, 2, 2)
    assert nn.ChannelShuffle(2)(x)[0, :, 0, 0].tolist() == [0, 8, 4, 12]
    assert nn.ZeroPad2d((1, 0, 0, 1))(fl.ones(1, 1, 1, 1)).tolist() == [[[[0, 1], [0, 0]]]]
    assert nn.ConstantPad1d(1, 5.0)(fl.ones(1, 1)).tolist() == [[5, 1, 5]]
    assert nn.Unflatten(1, (2, 2))(x).shape == (1, 2, 2, 2, 2) and nn.Flatten(2)(x).shape == (1, 4, 4)
    assert nn.Flatten(0, 1)(x).shape == (4, 2, 2)
    with pytest.raises(ValueError, match="4 counts"):
        nn.ZeroPad2d((1, 2))


def test_norms_keep_their_state():
    layer = nn.BatchNorm2d(3)
    assert list(layer.state_dict()) == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert layer.num_batches_tracked.dtype is fl.int64 and repr(layer) == (
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)")
    assert list(nn.BatchNorm1d(3, affine=False, track_running_stats=False).state_dict()) == []
    assert list(nn.InstanceNorm2d(3).state_dict()) == [] and list(nn.InstanceNorm2d(3, affine=True).state_dict()) == ["weight", "bias"]
    half = layer.half()
    assert half.running_mean.dtype is fl.float16 and half.num_batches_tracked.dtype is fl.int64
    with pytest.raises(ValueError, match="4 dimensions"):
        layer(fl.ones(2, 3))
    with pytest.raises(ValueError, match="divisible"):
        nn.GroupNorm(3, 4)


def test_convolutions_refuse_what_cannot_be():
    for make, message in ((lambda: nn.Conv2d(3, 4, 3, groups=2), "groups"), (lambda: nn.Conv1d(1, 1, 0), "positive"),
                          (lambda: nn.Conv2d(1, 1, 3, stride=2, padding="same"), "stride 1"),
                          (lambda: nn.Conv2d(1, 1, 3, padding_mode="mirror"), "padding_mode"),
                          (lambda: nn.Conv2d(1, 1, 3, padding="full"), "full")):
        with pytest.raises(ValueError, match=message):
            make()
    assert nn.ConvTranspose2d(4, 6, 3, groups=2).weight.shape == (4, 3, 3, 3) and nn.Conv1d(4, 6, 5, groups=2).weight.shape == (6, 2, 5)
    assert repr(nn.Conv2d(2, 4, 3, padding=1, dilation=2, groups=2, bias=False)) == (
        "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(2, 2), groups=2, bias=False)")
    layer = nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1)
    assert layer._extra(fl.ones(1, 1, 4, 4), (8, 7)) == (1, 0)
    with pytest.raises(ValueError, match="out of reach"):
        layer._extra(fl.ones(1, 1, 4, 4), (9, 7))


def test_gumbel_softmax():
    """Hard samples are one-hot, as often as softmax says, and have the gradient of the soft ones."""
    fl.manual_seed(0)
    logits = fl.tensor([0.0, np.log(3.0)], dtype=fl.float32).expand(4000, 2).clone().requires_grad_()
    hard = nn.functional.gumbel_softmax(logits, hard=True)
    assert fl.equal(hard.sum(1), fl.ones(4000)) and hard[:, 1].mean().item() == pytest.approx(0.75, abs=0.03)
    (hard * fl.tensor([1.0, 0.0])).sum().backward()
    assert logits.grad.abs().sum().item() > 0 and logits.grad.sum(1).abs().max().item() < 1e-6
    soft = nn.functional.gumbel_softmax(logits.detach(), tau=10.0)
    assert soft.min().item() > 0 and fl.allclose(soft.sum(1), fl.ones(4000))
