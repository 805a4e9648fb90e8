"""Modules, losses and what they compute."""

import collections
import math

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(4, 2, bias=False))
        self.scale = nn.Parameter(fl.ones(1))
        self.register_buffer("count", fl.zeros(1))
        self.register_buffer("scratch", fl.zeros(1), persistent=False)

    def forward(self, x):
        return self.rest(self.first(x)) * self.scale


def test_names_and_order():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["scale", "first.weight", "first.bias", "rest.1.weight"]
    assert [n for n, _ in net.named_buffers()] == ["count", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "rest", "rest.0", "rest.1"]
    assert list(net.state_dict()) == ["scale", "count", "first.weight", "first.bias", "rest.1.weight"]
    assert "(first): Linear(in_features=3, out_features=4, bias=True)" in repr(net)
    assert net.get_submodule("rest.1") is net.rest[1] and net.get_parameter("first.bias") is net.first.bias


def test_state_dict_round_trip_and_errors():
    a, b = Net(), Net()
    x = fl.randn(5, 3)
    assert not fl.allclose(a(x), b(x))
    b.load_state_dict(a.state_dict())
    assert fl.equal(a(x), b(x))
    state = a.state_dict()
    before = b.first.weight.tolist()
    state["first.weight"] = fl.zeros(2, 2)
    with pytest.raises(RuntimeError, match=r"first.weight: expected shape \[4, 3\], got \[2, 2\]"):
        b.load_state_dict(state)
    del state["first.weight"]
    state["other"] = fl.zeros(1)
    state["scale"] = fl.full((1,), 9.0)
    with pytest.raises(RuntimeError, match="missing: first.weight; unexpected: other"):
        b.load_state_dict(state)
    assert b.first.weight.tolist() == before and b.scale.tolist() == [1]
    missing, unexpected = b.load_state_dict(state, strict=False)
    assert missing == ["first.weight"] and unexpected == ["other"] and b.scale.tolist() == [9]


def test_modes_conversions_and_gradients():
    net = Net()
    net.eval()
    assert not any(m.training for m in net.modules())
    p = net.first.weight
    net.double()
    assert net.first.weight is p and p.dtype is fl.float64 and net.count.dtype is fl.float64
    net(fl.ones(1, 3, dtype=fl.float64)).sum().backward()
    assert p.grad.dtype is fl.float64
    net.zero_grad()
    assert p.grad is None
    names = []
    net.apply(lambda m: names.append(type(m).__name__))
    assert names == ["Linear", "ReLU", "Linear", "Sequential", "Net"]


def test_attributes():
    net = Net()
    net.first = nn.Linear(3, 4)
    assert len(list(net.parameters())) == 4
    net.first.bias = None
    assert len(list(net.parameters())) == 3
    with pytest.raises(TypeError):
        net.scale = 3
    net.count = fl.ones(1)
    assert net.state_dict()["count"].tolist() == [1]
    del net.rest
    with pytest.raises(AttributeError, match="rest"):
        net.rest
    with pytest.raises(AttributeError, match="__init__"):
        type("Early", (nn.Module,), {"__init__": lambda self: setattr(self, "p", nn.Parameter(fl.ones(1)))})()


def test_forward_hooks():
    layer, seen = nn.Linear(2, 2), []
    h = layer.register_forward_hook(lambda m, args, out: seen.append(tuple(out.shape)) or out * 0)
    layer.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    assert layer(fl.ones(3, 2)).tolist() == [[0, 0]] * 3 and seen == [(3, 2)]
    h.remove()
    assert layer(fl.zeros(1, 2)).abs().sum().item() > 0


def test_shared_parameters_appear_once():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.weight = a.weight
    assert len(list(nn.ModuleList([a, b]).parameters())) == 3


def test_linear_conv_and_pool_against_numpy():
    layer = nn.Linear(3, 4)
    x = fl.randn(2, 5, 3)
    want = x.numpy() @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(x).detach().numpy(), want, rtol=1e-5, atol=1e-6)

    conv = nn.Conv2d(2, 3, 3, stride=2, padding=1)
    x = fl.randn(2, 2, 5, 6)
    w, b = conv.weight.detach().numpy(), conv.bias.detach().numpy()
    padded = np.pad(x.numpy(), ((0, 0), (0, 0), (1, 1), (1, 1)))
    want = np.zeros((2, 3, 3, 3))
    for i in range(3):
        for j in range(3):
            window = padded[:, :, 2 * i:2 * i + 3, 2 * j:2 * j + 3]
            want[:, :, i, j] = np.tensordot(window, w, axes=([1, 2, 3], [1, 2, 3])) + b
    np.testing.assert_allclose(conv(x).detach().numpy(), want, rtol=1e-4, atol=1e-5)

    pooled = nn.MaxPool2d(2)(x).numpy()
    want = x.numpy()[:, :, :4, :6].reshape(2, 2, 2, 2, 3, 2).max(axis=(3, 5))
    np.testing.assert_array_equal(pooled, want)


def test_layer_norm_of_large_values():
    """A row whose mean dwarfs its spread: one-pass variance would lose every digit."""
    x = fl.tensor([2 ** 20 + i for i in range(4)], dtype=fl.float32)
    y = F.layer_norm(x, (4,), eps=1e-5)
    np.testing.assert_allclose(y.numpy(), [-1.3416354, -0.4472118, 0.4472118, 1.3416354], rtol=1e-5)
    assert nn.LayerNorm(4)(fl.randn(3, 4)).shape == (3, 4)


def test_embedding_padding():
    """The padding row is read as stored and gets no gradient, at any length."""
    w = fl.ones(5, 2, requires_grad=True)
    F.embedding(fl.tensor([[3, 3, 0, 2, 0]]), w, padding_idx=0).sum().backward()
    assert w.grad[:, 0].tolist() == [0, 0, 1, 2, 0]
    w2 = fl.ones(5, 2, requires_grad=True)
    F.embedding(fl.zeros(5000, dtype=fl.int64), w2, padding_idx=0).sum().backward()
    assert w2.grad.abs().sum().item() == 0
    w3 = fl.full((3, 1), 4.0).requires_grad_()
    y = F.embedding(fl.tensor([2, 1]), w3, padding_idx=-1)
    assert y.tolist() == [[4], [4]]
    y.sum().backward()
    assert w3.grad.tolist() == [[0], [1], [0]]
    assert nn.Embedding(4, 2, padding_idx=1).weight[1].tolist() == [0, 0]
    with pytest.raises(IndexError):
        F.embedding(fl.tensor([5]), w)


def test_cross_entropy():
    """Ignored rows count neither in the smoothed part nor in the mean."""
    z = fl.tensor([[math.log(2), 0.0], [5.0, -5.0]], requires_grad=True)
    t = fl.tensor([0, -100])
    loss = F.cross_entropy(z, t, label_smoothing=0.2)
    loss.backward()
    assert loss.item() == pytest.approx(0.4747798, rel=1e-6)
    np.testing.assert_allclose(z.grad.numpy(), [[-0.2333333, 0.2333333], [0, 0]], atol=1e-6)
    z.grad = None
    total = F.cross_entropy(z, fl.tensor([-100, -100]), reduction="sum")
    total.backward()
    assert total.item() == 0 and z.grad.tolist() == [[0, 0], [0, 0]]
    assert math.isnan(nn.CrossEntropyLoss()(z, fl.tensor([-100, -100])).item())
    with pytest.raises(IndexError):
        F.cross_entropy(z, fl.tensor([0, 2]))


def test_losses_do_not_broadcast():
    """Predictions (N, 1) against targets (N,) are refused; gradients are summed to the operand's shape."""
    p, t = fl.tensor([[1.0], [2.0]], requires_grad=True), fl.tensor([1.0, 2.0])
    for loss in (nn.MSELoss(), nn.L1Loss(), nn.BCEWithLogitsLoss()):
        with pytest.raises(RuntimeError, match="shape"):
            loss(p, t)
    assert F.mse_loss(p.squeeze(1), t).item() == 0
    b, c = fl.zeros(3, requires_grad=True), fl.zeros(2, 1, requires_grad=True)
    (b + c + fl.zeros(2, 3)).sum().backward()
    assert b.grad.tolist() == [2, 2, 2] and c.grad.tolist() == [[3], [3]]


def test_dropout():
    fl.manual_seed(0)
    layer = nn.Dropout(0.25)
    y = layer(fl.ones(10000))
    kept = (y != 0).float().mean().item()
    assert kept == pytest.approx(0.75, abs=0.02) and y.max().item() == pytest.approx(4 / 3, rel=1e-4)
    x = fl.ones(5)
    assert layer.eval()(x).tolist() == [1] * 5


@pytest.mark.parametrize("layer,f", [
    (nn.ReLU(), lambda x: np.maximum(x, 0)), (nn.Tanh(), np.tanh), (nn.Sigmoid(), lambda x: 1 / (1 + np.exp(-x))),
    (nn.SiLU(), lambda x: x / (1 + np.exp(-x))), (nn.Softplus(), lambda x: np.log1p(np.exp(x))),
    (nn.GELU(), lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
    (nn.LeakyReLU(0.1), lambda x: np.where(x > 0, x, 0.1 * x)), (nn.ELU(), lambda x: np.where(x > 0, x, np.exp(x) - 1)),
    (nn.Softmax(-1), lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True))], ids=lambda v: type(v).__name__)
def test_activations(layer, f):
    x = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    np.testing.assert_allclose(layer(fl.tensor(x)).numpy(), f(x), rtol=1e-5, atol=1e-6)


def test_containers():
    s = nn.Sequential(collections.OrderedDict(a=nn.Linear(1, 2), b=nn.ReLU()))
    assert list(dict(s.named_children())) == ["a", "b"] and len(s) == 2 and s[-1] is s.b
    l = nn.ModuleList(nn.Linear(1, 1) for _ in range(3))
    assert len(l) == 3 and len(list(l.parameters())) == 6 and len(l[1:]) == 2
    d = nn.ModuleDict({"x": nn.ReLU()})
    assert "x" in d and list(d.keys()) == ["x"]


def test_attention_with_a_row_that_sees_nothing():
    q = fl.randn(1, 2, 4)
    mask = fl.tensor([[True, False], [False, False]])
    out = F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
    np.testing.assert_allclose(out[0, 0].numpy(), q[0, 0].numpy(), rtol=1e-6)
    assert out[0, 1].tolist() == [0] * 4


def test_initial_values():
    fl.manual_seed(0)
    w = nn.Linear(400, 300).weight
    bound = 1 / math.sqrt(400)
    assert w.abs().max().item() <= bound and w.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
    nn.init.xavier_uniform_(w)
    assert w.abs().max().item() <= math.sqrt(6 / 700)
    assert w.requires_grad and w.is_leaf


def test_clip_grad_norm():
    p = nn.Parameter(fl.zeros(2))
    p.grad = fl.tensor([3.0, 4.0])
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == pytest.approx(5)
    np.testing.assert_allclose(p.grad.numpy(), [0.6, 0.8], rtol=1e-5)
    assert nn.utils.clip_grad_norm_(p, 10.0).item() == pytest.approx(1, rel=1e-5)
    np.testing.assert_allclose(p.grad.numpy(), [0.6, 0.8], rtol=1e-5)


def test_two_backwards_accumulate():
    """Two backwards without zeroing give twice one; micro-batches weigh by their tokens."""
    fl.manual_seed(0)
    for layer, x in ((nn.Linear(3, 2), fl.randn(4, 3)), (nn.Conv2d(1, 2, 3), fl.randn(2, 1, 5, 5)), (nn.LayerNorm(3), fl.randn(4, 3)),
                     (nn.Embedding(5, 3), fl.tensor([1, 1, 4]))):
        layer(x).square().sum().backward()
        once = [p.grad.clone() for p in layer.parameters()]
        layer(x).square().sum().backward()
        assert all(fl.equal(p.grad, g * 2) for p, g in zip(layer.parameters(), once))
    w = fl.tensor(1.0, requires_grad=True)
    total = 0.0
    for tokens in ([1.0, 1.0, 1.0], [5.0]):
        loss = (w * fl.tensor(tokens)).sum() / 4
        loss.backward()
        total += loss.item()
    assert total == 2 and w.grad.item() == 2


def test_convolution_and_pooling_of_one_image_and_named_padding():
    images, kernel = fl.randn(2, 3, 6, 5), fl.randn(4, 3, 3, 3)
    F = nn.functional
    assert fl.equal(F.conv2d(images[0], kernel, padding=1), F.conv2d(images, kernel, padding=1)[0])
    assert fl.equal(F.max_pool2d(images[0], 2), F.max_pool2d(images, 2)[0])
    assert fl.equal(F.conv2d(images, kernel, padding="same"), F.conv2d(images, kernel, padding=1))
    assert fl.equal(F.conv2d(images, kernel, padding="valid"), F.conv2d(images, kernel))
    # An even kernel of ones sums each element with the one below, right and below right.
    line = fl.tensor([[[1.0, 2.0], [4.0, 8.0]]])
    assert F.conv2d(line, fl.ones(1, 1, 2, 2), padding="same").tolist() == [[[15, 10], [12, 8]]]
    layer = nn.Conv2d(3, 4, 3, padding="same")
    assert layer(images).shape == (2, 4, 6, 5) and "padding='same'" in repr(layer)
    with pytest.raises(ValueError, match="needs stride 1"):
        F.conv2d(images, kernel, stride=2, padding="same")
    with pytest.raises(ValueError, match="'valid', 'same' or numbers"):
        F.conv2d(images, kernel, padding="full")


def test_cross_entropy_of_class_probabilities():
    logits, target = fl.randn(5, 4, dtype=fl.float64), fl.tensor([0, 3, 1, 1, 2])
    F = nn.functional
    sure = F.one_hot(target, 4).double()
    for options in ({}, {"label_smoothing": 0.2}, {"reduction": "sum"}, {"reduction": "none"}):
        assert fl.allclose(F.cross_entropy(logits, sure, **options), F.cross_entropy(logits, target, **options))
    # Of a distribution with itself: its entropy.
    p = F.softmax(logits, -1)
    assert F.cross_entropy(logits, p).item() == pytest.approx(-(p * p.log()).sum().item() / 5)
    with pytest.raises(RuntimeError, match="must have one shape"):
        F.cross_entropy(logits, fl.ones(5, 3, dtype=fl.float64))


def test_optimizers_take_the_options_that_change_nothing():
    p = nn.Parameter(fl.ones(1))
    fl.optim.AdamW([p], foreach=True, fused=False)
    fl.optim.SGD([p], lr=0.1, foreach=True)
    for optimizer in (fl.optim.Adam, fl.optim.AdamW):
        with pytest.raises(NotImplementedError, match="differentiable"):
            optimizer([p], differentiable=True)
    assert fl.clip(fl.tensor([-1.0, 5.0]), 0, 2).tolist() == [0, 2]
