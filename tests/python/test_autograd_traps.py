"""Aliases, accumulation, and failures in the middle of a backward."""

import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F


def test_a_write_through_any_alias_is_noticed():
    for alias in (lambda y: y.detach(), lambda y: y.data, lambda y: y.detach().view(2, 1)[1], lambda y: y.detach()[:1],
                  lambda y: y.detach().t(), lambda y: y.detach().unsqueeze(0)):
        x = fl.zeros(2, requires_grad=True)
        y = x.sigmoid()
        alias(y).zero_()
        with pytest.raises(RuntimeError, match="sigmoid.*version 0.*version 1"):
            y.sum().backward()
        assert x.grad is None
    # An argument that was saved, not the result.
    x, w = fl.ones(2, requires_grad=True), fl.ones(2)
    y = x * w
    w.view(1, 2).mul_(3)
    with pytest.raises(RuntimeError, match="mul.*version"):
        y.sum().backward()


@pytest.mark.host_only("NumPy shares no memory of a device")
def test_writes_by_numpy_are_not_counted():
    """The documented limit: memory shared with NumPy has no version that NumPy's writes would raise."""
    x = fl.zeros(2, requires_grad=True)
    y = x.sigmoid()
    y.detach().numpy()[:] = 0
    assert y._version == 0
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]


LAYERS = {
    "linear": (lambda: nn.Linear(3, 2), (4, 3)),
    "conv": (lambda: nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)), (2, 1, 4, 4)),
    "layer_norm": (lambda: nn.LayerNorm(3), (4, 3)),
    "embedding": (lambda: nn.Embedding(5, 3), None),
    "gelu": (lambda: nn.Sequential(nn.Linear(3, 3), nn.GELU(), nn.LayerNorm(3), nn.SiLU(), nn.Softmax(-1)), (4, 3)),
    "tied": (lambda: nn.Sequential(*[nn.Linear(3, 3)] * 2), (4, 3)),
}


@pytest.mark.parametrize("dtype", [fl.float32, fl.float64, fl.float16, fl.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("make,shape", LAYERS.values(), ids=LAYERS)
def test_two_backwards_add_up_to_twice_one(make, shape, dtype):
    fl.manual_seed(1)
    layer = make().to(dtype)
    x = fl.tensor([1, 1, 4]) if shape is None else fl.randn(shape).to(dtype).requires_grad_()
    leaves = [*layer.parameters(), *([x] if shape else [])]
    layer(x).square().sum().backward()
    once = [p.grad.clone() for p in leaves]
    layer(x).square().sum().backward()
    assert all(fl.equal(p.grad, g * 2) and p.grad.dtype is dtype for p, g in zip(leaves, once))
    assert any((g != 0).any() for g in once)


def test_every_operator_adds_to_a_gradient_that_is_there():
    x = fl.rand(2, 1, 4, 4) + 0.5
    for f in (fl.exp, lambda t: t * t, lambda t: t.sum((0, 3)), lambda t: t.mean(), lambda t: t.amax(3), lambda t: t.var(2),
              lambda t: t.permute(3, 1, 0, 2), lambda t: t[0, :, 1:], lambda t: t.expand(2, 5, 4, 4), lambda t: fl.cat([t, t], 1),
              lambda t: t.gather(3, fl.tensor([[[[0, 0]]]])), lambda t: t.index_select(2, fl.tensor([1, 1])), lambda t: t @ t,
              lambda t: t.softmax(-1), lambda t: F.log_softmax(t, 1), lambda t: F.layer_norm(t, (4,)),
              lambda t: F.max_pool2d(t, 2), lambda t: t.clamp(0.7, 1.2), lambda t: F.cross_entropy(t.view(8, 4), fl.arange(8) % 4),
              lambda t: F.mse_loss(t, t.detach() * 2), lambda t: fl.where(t > 1, t, t * 2), lambda t: t.masked_fill(t > 1, 0.0)):
        leaf = x.clone().requires_grad_()
        f(leaf).sum().backward()
        once = leaf.grad.clone()
        f(leaf).sum().backward()
        assert fl.equal(leaf.grad, once * 2)


def failing_function(error):
    class Fails(fl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return error(g)

    return Fails.apply


def raise_key_error(g):
    raise KeyError("mine")


FAILURES = {
    "hook raises": lambda b: b.register_hook(raise_key_error),
    "hook of another shape": lambda b: b.register_hook(lambda g: g.sum()),
    "hook of another dtype": lambda b: b.register_hook(lambda g: g.double()),
    "hook of no tensor": lambda b: b.register_hook(lambda g: 3),
    "data replaced": lambda b: setattr(b, "data", fl.ones(3)),
}


@pytest.mark.parametrize("prepare", FAILURES.values(), ids=FAILURES)
def test_a_failure_at_a_leaf_leaves_every_gradient(prepare):
    a, b, c = (fl.ones(2, requires_grad=True) for _ in range(3))
    for leaf in (a, c):
        leaf.grad = fl.full((2,), 5.0)
    middle = a * 2
    middle.retain_grad()
    loss = (middle + b * c).sum()
    prepare(b)
    before = None if b.grad is None else b.grad.tolist()
    with pytest.raises((KeyError, RuntimeError, TypeError)):
        loss.backward()
    assert a.grad.tolist() == c.grad.tolist() == [5, 5] and middle.grad is None
    assert (None if b.grad is None else b.grad.tolist()) == before


@pytest.mark.parametrize("error", [raise_key_error, lambda g: g.sum(), lambda g: (g, g), lambda g: "no tensor"],
                         ids=["raises", "shape", "count", "type"])
def test_a_failing_custom_backward_leaves_every_gradient(error):
    a, b = fl.ones(2, requires_grad=True), fl.ones(2, requires_grad=True)
    a.grad = fl.full((2,), 5.0)
    kept = a * 3
    kept.retain_grad()
    # The failing node is the last to run: all of a's gradient is there already.
    first = failing_function(error)(b)
    with pytest.raises((KeyError, RuntimeError, TypeError)):
        (first * kept).sum().backward()
    assert a.grad.tolist() == [5, 5] and b.grad is None and kept.grad is None
    (a * b).sum().backward()
    assert a.grad.tolist() == [6, 6] and b.grad.tolist() == [1, 1]


def test_a_custom_backward_of_another_dtype_is_cast():
    x = fl.ones(2, requires_grad=True)
    failing_function(lambda g: g.double() * 3)(x).sum().backward()
    assert x.grad.dtype is fl.float32 and x.grad.tolist() == [3, 3]


def test_retained_gradients_belong_to_their_tensors():
    x = fl.ones(2, requires_grad=True)
    a, b = x * 1, x * 2
    a.retain_grad()
    b.retain_grad()
    (a + b).sum().backward()
    a.grad.add_(100)
    assert b.grad.tolist() == [1, 1] and x.grad.tolist() == [3, 3]


def test_a_second_backward_leaves_the_gradients():
    x = fl.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="mul: backward.*second time.*retain_graph"):
        y.backward()
    assert x.grad.tolist() == [2, 2]


def test_a_failed_in_place_operator_leaves_the_graph():
    x = fl.ones(2, requires_grad=True)
    y = x * 3
    node, version = y.grad_fn, y._version
    for write in (lambda: y.add_(fl.ones(3)), lambda: y.mul_(fl.ones(5, 2)), lambda: y.__setitem__([7], 1.0)):
        with pytest.raises((RuntimeError, IndexError)):
            write()
        assert y.grad_fn == node and y._version == version
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_hook_may_remove_itself_and_add_others():
    for make in (lambda x: x, lambda x: x * 1):
        x = fl.ones(1, requires_grad=True)
        t, handles = make(x), []

        def once(g):
            handles[0].remove()
            t.register_hook(lambda g: g * 100)

        handles.append(t.register_hook(once))
        t.register_hook(lambda g: g * 10)
        (t * 2).sum().backward()
        assert x.grad.tolist() == [20]


def test_a_tensor_that_is_both_sides_of_an_in_place_operator():
    x = fl.full((2,), 3.0, requires_grad=True)
    y = x * 1
    y += y
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]
    y = x * 1
    y *= y
    y.sum().backward()
    assert x.grad.tolist() == [2 + 2 * 3] * 2
