"""Derivatives of functions, checkpoints, anomaly mode, and hooks behind the sum: values by hand."""

import gc
import math
import weakref

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn
from fuselet.autograd import functional as AF
from fuselet.utils.checkpoint import checkpoint, checkpoint_sequential


def close(got, want, tolerance=1e-6):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=tolerance, atol=tolerance)


# ---- autograd.functional
def quadratic(x):
    """x1² x2 with gradient (2 x1 x2, x1²) and Hessian [[2 x2, 2 x1], [2 x1, 0]]."""
    return x[0] * x[0] * x[1]


def test_products_with_the_jacobian():
    x = fl.tensor([2.0, 3.0])
    # f = (x1 x2, x1²): J = [[3, 2], [4, 0]]
    f = lambda t: fl.stack([t[0] * t[1], t[0] * t[0]])  # noqa: E731
    value, row = AF.vjp(f, x, fl.tensor([1.0, 10.0]))
    assert value.tolist() == [6, 4] and row.tolist() == [43, 2] and not row.requires_grad
    assert AF.jvp(f, x, fl.tensor([1.0, -1.0]))[1].tolist() == [1, 4]
    assert AF.jacobian(f, x).tolist() == [[3, 2], [4, 0]]
    assert AF.jacobian(lambda a, b: a * b, (fl.tensor([1.0, 2.0]), fl.tensor(5.0)))[1].tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="v has shapes"):
        AF.vjp(f, x, fl.ones(3))
    with pytest.raises(RuntimeError, match="strict"):
        AF.jacobian(lambda a, b: a, (x, x), strict=True)


def test_hessians_and_their_products():
    x = fl.tensor([2.0, 3.0])
    assert AF.hessian(quadratic, x).tolist() == [[6, 4], [4, 0]]
    assert AF.hvp(quadratic, x, fl.tensor([1.0, 1.0]))[1].tolist() == [10, 4]
    assert AF.vhp(quadratic, x, fl.tensor([0.0, 1.0]))[1].tolist() == [4, 0]
    (aa, ab), (ba, bb) = AF.hessian(lambda a, b: a * a * b, (fl.tensor(2.0), fl.tensor(3.0)))
    assert [t.item() for t in (aa, ab, ba, bb)] == [6, 4, 4, 0]
    # With create_graph the Hessian itself is differentiated: d/dx2 of 2 x2 is 2.
    y = fl.tensor([2.0, 3.0], requires_grad=True)
    AF.hessian(quadratic, y, create_graph=True)[0, 0].backward()
    assert y.grad.tolist() == [0, 2]


# ---- func
def test_func_grad_nests_and_takes_trees():
    f = lambda x: x ** 4  # noqa: E731
    x = fl.tensor(2.0)
    assert fl.func.grad(f)(x).item() == 32
    assert fl.func.grad(fl.func.grad(f))(x).item() == 48 and fl.func.grad(fl.func.grad(fl.func.grad(f)))(x).item() == 48
    params = {"w": fl.tensor([1.0, 2.0]), "rest": (fl.tensor(3.0),)}
    value, found = fl.func.value_and_grad(lambda p: (p["w"] * p["w"]).sum() * p["rest"][0])(params)
    assert value.item() == 15 and found["w"].tolist() == [6, 12] and found["rest"][0].item() == 5
    assert not value.requires_grad and not found["w"].requires_grad
    (g, aux) = fl.func.grad(lambda a, b: (a * b, {"b": b * 2}), argnums=1, has_aux=True)(fl.tensor(3.0), fl.tensor(4.0))
    assert g.item() == 3 and aux["b"].item() == 8
    both = fl.func.grad(lambda a, b: a * b, argnums=(0, 1))(fl.tensor(3.0), fl.tensor(4.0))
    assert [t.item() for t in both] == [4, 3]
    with pytest.raises(RuntimeError, match="one element"):
        fl.func.grad(lambda t: t)(fl.ones(2))


def test_func_of_tensors_that_require_grad():
    """d/dx of 3 x² w reaches x and w of the ordinary tape."""
    x, w = fl.tensor(2.0, requires_grad=True), fl.tensor(5.0, requires_grad=True)
    fl.func.grad(lambda t: t ** 3 * w)(x).backward()
    assert x.grad.item() == 60 and w.grad.item() == 12


def test_func_products_and_jacobians():
    f = lambda a, b: {"p": a * b, "s": a.sum()}  # noqa: E731
    a, b = fl.tensor([1.0, 2.0]), fl.tensor([3.0, 5.0])
    out, pull = fl.func.vjp(f, a, b)
    assert out["p"].tolist() == [3, 10]
    ga, gb = pull({"p": fl.ones(2), "s": fl.tensor(1.0)})
    assert ga.tolist() == [4, 6] and gb.tolist() == [1, 2]
    assert pull({"p": fl.zeros(2), "s": fl.tensor(1.0)})[0].tolist() == [1, 1]
    out, moved = fl.func.jvp(lambda t: t.sin(), (fl.tensor(0.5),), (fl.tensor(2.0),))
    assert moved.item() == pytest.approx(2 * math.cos(0.5))
    assert fl.func.jacrev(lambda t: t * t)(a).tolist() == [[2, 0], [0, 4]] == fl.func.jacfwd(lambda t: t * t)(a).tolist()
    assert fl.func.hessian(quadratic)(fl.tensor([2.0, 3.0])).tolist() == [[6, 4], [4, 0]]


def test_functional_call():
    model = nn.Sequential(nn.Linear(2, 1, bias=False), nn.Linear(1, 1, bias=False))
    own = [p.tolist() for p in model.parameters()]
    weights = {"0.weight": fl.tensor([[1.0, 2.0]], requires_grad=True), "1.weight": fl.tensor([[3.0]])}
    out = fl.func.functional_call(model, weights, fl.tensor([[1.0, 1.0]]))
    out.sum().backward()
    assert out.item() == 9 and weights["0.weight"].grad.tolist() == [[3, 3]]
    assert [p.tolist() for p in model.parameters()] == own and all(isinstance(p, nn.Parameter) for p in model.parameters())
    with pytest.raises(RuntimeError, match="unexpected: 2.weight"):
        fl.func.functional_call(model, {"2.weight": fl.ones(1)}, fl.ones(1, 2))
    tied = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    tied[1].weight = tied[0].weight
    assert fl.func.functional_call(tied, {"0.weight": fl.tensor([[3.0]])}, fl.ones(1, 1)).item() == 9
    per_sample = fl.func.grad(lambda p, x: fl.func.functional_call(model, p, (x,)).sum())(weights, fl.tensor([[1.0, 2.0]]))
    assert per_sample["0.weight"].tolist() == [[3, 6]]


# ---- checkpoint
class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.runs = nn.Linear(3, 4), nn.Linear(4, 2), 0

    def forward(self, x, scale=1.0):
        self.runs += 1
        return self.second(nn.functional.dropout(self.first(x).tanh(), 0.5)) * scale


def test_checkpoint_gives_the_same_gradients_and_random_numbers():
    def gradients(run):
        fl.manual_seed(1)
        model, x = Noisy(), fl.randn(5, 3, requires_grad=True)
        fl.manual_seed(7)
        out = run(model, x * 2)
        after = fl.rand(2).tolist()
        out.square().sum().backward()
        return [out.tolist(), after, x.grad.tolist(), *(p.grad.tolist() for p in model.parameters())], model.runs

    plain, once = gradients(lambda m, x: m(x, scale=2.0))
    kept, twice = gradients(lambda m, x: checkpoint(m, x, scale=2.0, use_reentrant=False))
    assert kept == plain and (once, twice) == (1, 2)


def test_checkpoint_through_grad_and_twice():
    """autograd.grad reaches a parameter that the part only meets; d²/dx² of w x³ is 6 w x."""
    w, x = fl.tensor(2.0, requires_grad=True), fl.tensor(3.0, requires_grad=True)
    part = lambda t: w * t * t * t  # noqa: E731
    gw, gx = fl.autograd.grad(checkpoint(part, x * 1), (w, x), create_graph=True)
    assert gw.item() == 27 and gx.item() == 54 and w.grad is None
    gx.backward()
    assert x.grad.item() == 36 and w.grad.item() == 27
    with fl.no_grad():
        assert not checkpoint(part, x).requires_grad
    out = checkpoint(lambda t: {"a": t * w, "b": (t.detach(), 5)}, x)
    assert out["b"][1] == 5 and not out["b"][0].requires_grad and out["a"].requires_grad


def test_checkpoint_keeps_nothing_between():
    alive = []

    def part(t):
        y = t.exp()
        alive.append(weakref.ref(y))
        return y.sin()

    out = checkpoint(part, fl.ones(3, requires_grad=True) * 2)
    gc.collect()
    assert alive[0]() is None
    out.sum().backward()
    assert len(alive) == 2


def test_checkpoint_sequential_and_compiled():
    fl.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1)), fl.randn(4, 2)
    want = fl.autograd.grad(model(x).sum(), list(model.parameters()))
    got = fl.autograd.grad(checkpoint_sequential(model, 2, x).sum(), list(model.parameters()))
    assert all(fl.equal(a, b) for a, b in zip(want, got))
    assert fl.allclose(fl.compile(lambda t: checkpoint(model, t))(x), model(x), atol=1e-6)


# ---- anomaly mode
def test_anomaly_mode_names_the_forward_line():
    x = fl.tensor([0.0, 1.0], requires_grad=True)

    def loss():
        y = x.sqrt() * 0  # sqrt has an infinite slope at 0, times 0 is NaN
        return y.sum()

    loss().backward()
    assert math.isnan(x.grad[0].item())
    line = loss.__code__.co_firstlineno + 1
    x.grad = None
    with fl.autograd.detect_anomaly():
        with pytest.raises(RuntimeError, match=rf"sqrt.*NaN.*test_autograd_tools.py:{line}"):
            loss().backward()
        with pytest.raises(RuntimeError, match="NaN"):
            fl.autograd.grad(loss(), x)
    assert x.grad is None and not fl.autograd.is_anomaly_enabled()
    with fl.autograd.set_detect_anomaly(True):
        (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


# ---- hooks behind the sum
def test_post_accumulate_hooks():
    a, b = fl.ones(2, requires_grad=True), fl.ones(2, requires_grad=True)
    seen = []
    handle = a.register_post_accumulate_grad_hook(lambda t: seen.append(("a", t is a, t.grad.tolist(), b.grad is not None)))
    a.register_post_accumulate_grad_hook(lambda t: seen.append("second"))
    (a * b * 3).sum().backward()
    assert seen == [("a", True, [3, 3], True), "second"]
    handle.remove()
    fl.autograd.grad((a * 2).sum(), a)
    assert len(seen) == 2
    (a * 2).sum().backward()
    assert seen[2:] == ["second"] and a.grad.tolist() == [5, 5]
    with pytest.raises(RuntimeError, match="leaf"):
        (a * 2).register_post_accumulate_grad_hook(print)


def test_an_optimizer_in_backward():
    """Each parameter is updated and its gradient dropped when it is there."""
    model = nn.Linear(2, 1, bias=False)
    nn.init.ones_(model.weight)
    optimizers = {p: fl.optim.SGD([p], lr=0.5) for p in model.parameters()}

    def step(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(step)
    model(fl.tensor([[1.0, 2.0]])).sum().backward()
    assert model.weight.tolist() == [[0.5, 0.0]] and model.weight.grad is None


# ---- modes and functions
def test_inference_mode_and_setup_context():
    x = fl.ones(1, requires_grad=True)
    with fl.inference_mode():
        assert not (x * 2).requires_grad
    with fl.inference_mode(False):
        assert (x * 2).requires_grad
    assert not fl.inference_mode()(lambda: x * 2)().requires_grad and not fl.inference_mode(lambda: x * 2)().requires_grad

    class Scale(fl.autograd.Function):
        @staticmethod
        def forward(t, factor):
            return t * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    Scale.apply(x, 4.0).sum().backward()
    assert x.grad.item() == 4


def test_grad_materializes():
    x, y = fl.ones(2, requires_grad=True), fl.ones(3, requires_grad=True)
    assert fl.autograd.grad(x.sum(), (x, y), materialize_grads=True)[1].tolist() == [0, 0, 0]
    assert fl.autograd.grad(x.sum(), (x, y), allow_unused=True)[1] is None


def test_jacobians_keep_the_structure_of_the_output():
    a = fl.tensor([1.0, 2.0])
    for jacobian in (fl.func.jacrev, fl.func.jacfwd):
        found, aux = jacobian(lambda t: ({"double": t * 2, "sum": (t.sum(),)}, t + 1), has_aux=True, chunk_size=1)(a)
        assert found["double"].tolist() == [[2, 0], [0, 2]] and found["sum"][0].tolist() == [1, 1]
        assert aux.tolist() == [2, 3] and not aux.requires_grad
    by_both = fl.func.jacrev(lambda s, t: [s * t], argnums=(0, 1))(a, fl.tensor([3.0, 5.0]))
    assert [[t.tolist() for t in row] for row in by_both] == [[[[3, 0], [0, 5]], [[1, 0], [0, 2]]]]


@pytest.mark.parametrize("transform", [
    lambda t: fl.func.grad(lambda x: x.sum())(t), lambda t: fl.func.vjp(lambda x: x * 2, t), lambda t: fl.func.jacrev(lambda x: x * 2)(t),
    lambda t: fl.func.jvp(lambda x: x * 2, (t,), (fl.ones(3),))])
def test_integers_have_no_derivatives(transform):
    with pytest.raises(RuntimeError, match="only floating tensors have derivatives, got an argument of dtype .*int64"):
        transform(fl.arange(3))


def test_tensors_read_besides_the_arguments_get_their_gradients():
    """With f = sin(w x): df/dx = w cos(w x), and d²f/(dx dw) = cos(w x) - w x sin(w x)."""
    w, x = fl.tensor(1.5, requires_grad=True), fl.tensor(0.5)
    want = math.cos(0.75) - 0.75 * math.sin(0.75)

    def f(t):
        return (w * t).sin()

    for derivative in (fl.func.grad(f), fl.func.jacrev(f), lambda t: fl.func.jvp(f, (t,), (fl.ones([]),))[1],
                       lambda t: fl.func.vjp(f, t)[1](fl.ones([]))[0], lambda t: fl.func.grad_and_value(f)(t)[0]):
        found = derivative(x)
        assert found.item() == pytest.approx(1.5 * math.cos(0.75))
        assert fl.autograd.grad(found, w)[0].item() == pytest.approx(want)
        with fl.no_grad():
            assert not derivative(x).requires_grad
    w.requires_grad_(False)
    assert not fl.func.grad(f)(x).requires_grad and not fl.func.hessian(f)(x).requires_grad


def test_a_penalty_on_derivatives_trains_a_network():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x = fl.tensor([0.3, -0.4])
    loss = (fl.func.grad(lambda t: model(t).sum())(x) ** 2).sum()
    loss.backward()
    y = x.clone().requires_grad_()
    wanted = (fl.autograd.grad(model(y).sum(), y, create_graph=True)[0] ** 2).sum()
    for p, g in zip(model.parameters(), fl.autograd.grad(wanted, list(model.parameters()), allow_unused=True)):
        assert (p.grad is None and g is None) or np.allclose(p.grad.tolist(), 0 if g is None else g.tolist(), rtol=1e-5)
    assert model[0].weight.grad.abs().sum().item() > 0


def test_a_pull_is_a_function_of_its_cotangents():
    """It is linear: the derivative of c cos(a) by c is cos(a), whatever the transform and wherever the pull was made."""
    a, ones = fl.tensor([0.5, 1.0]), fl.ones(2)
    want = a.cos().tolist()
    _, pull = fl.func.vjp(fl.sin, a)
    summed = fl.func.grad(lambda c: pull(c)[0].sum())(ones)
    close(summed, want)
    assert not summed.requires_grad and not pull(ones)[0].requires_grad
    close(fl.func.jacrev(lambda c: pull(c)[0])(ones), np.diag(want))
    close(fl.func.jvp(lambda c: pull(c)[0], (ones,), (ones * 2,))[1], [2 * w for w in want])
    close(fl.func.vjp(lambda c: pull(c)[0], ones)[1](ones)[0], want)
    c = ones.clone().requires_grad_()
    pull(c)[0].sum().backward()
    close(c.grad, want)
    with fl.no_grad():
        assert not pull(c)[0].requires_grad
    _, pull_both = fl.func.vjp(lambda x, y: {"product": x * y}, a, ones * 3)
    assert fl.func.grad(lambda c: (pull_both({"product": c})[0] + pull_both({"product": c})[1]).sum())(ones).tolist() == [3.5, 4]


def test_tensors_of_inner_transforms_give_no_history():
    x, y = fl.tensor(2.0), fl.tensor(3.0)
    mixed = fl.func.grad(lambda x: fl.func.grad(lambda t: (x * t).sin())(y))(x)
    assert mixed.item() == pytest.approx(math.cos(6) - 6 * math.sin(6)) and not mixed.requires_grad


def test_what_is_given_besides_keeps_its_history():
    """g = 2 x, and aux = x w alone reads w: with g + aux + w, the derivative by w is x + 1; the derivative of aux by x is w."""
    func = fl.func
    one = fl.ones([])

    def f(t):
        return t * t, {"aux": t * w}

    calls = {
        "grad": lambda x: func.grad(f, has_aux=True)(x), "grad_and_value": lambda x: func.grad_and_value(f, has_aux=True)(x)[1],
        "jacrev": lambda x: func.jacrev(f, has_aux=True)(x), "jacfwd": lambda x: func.jacfwd(f, has_aux=True)(x),
        "vjp": lambda x: func.vjp(f, x, has_aux=True)[::2], "pull": lambda x: (func.vjp(f, x, has_aux=True)[1](one)[0], func.vjp(f, x, has_aux=True)[2]),
        "jvp": lambda x: func.jvp(f, (x,), (one,), has_aux=True)[1:]}
    for name, call in calls.items():
        w, x = fl.tensor(2.0, requires_grad=True), fl.tensor(3.0)
        found, aux = call(x)
        assert aux["aux"].item() == 6, name
        (found + aux["aux"] + w).backward()
        assert w.grad.item() == 4, name
        with fl.no_grad():
            assert not call(x)[1]["aux"].requires_grad, name
        w = fl.tensor(2.0)
        assert not call(x)[1]["aux"].requires_grad, name
        assert func.grad(lambda x, call=call: call(x)[1]["aux"])(x).item() == 2, name
