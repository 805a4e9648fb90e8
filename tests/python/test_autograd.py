"""Backward, hooks, custom functions and their traps."""

import gc
import math
import threading
import weakref

import pytest

import fuselet as fl
from custom_functions import Cube


def test_backward_grad_and_their_errors():
    x = fl.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    (g,) = fl.autograd.grad(y, x, retain_graph=True)
    assert g.tolist() == [2, 4] and x.grad is None
    y.backward()
    assert x.grad.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    with pytest.raises(RuntimeError, match=r"\[2\]"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        fl.ones(1).backward()
    unused = fl.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="allow_unused"):
        fl.autograd.grad((x * 1).sum(), unused)
    assert fl.autograd.grad((x * 1).sum(), unused, allow_unused=True) == (None,)


def test_grad_modes():
    x = fl.ones(1, requires_grad=True)
    with fl.no_grad():
        assert not (x * 2).requires_grad
        with fl.enable_grad():
            assert (x * 2).requires_grad

    @fl.no_grad()
    def f():
        return x * 2

    @fl.no_grad
    def g():
        return x * 2

    assert not f().requires_grad and not g().requires_grad and fl.is_grad_enabled()
    fl.set_grad_enabled(False)
    assert not fl.is_grad_enabled()
    fl.set_grad_enabled(True)
    with fl.set_grad_enabled(False):
        assert not fl.is_grad_enabled()
    assert fl.is_grad_enabled()


def test_properties():
    x = fl.ones(2, requires_grad=True)
    y = x * 2
    assert x.is_leaf and x.grad_fn is None and not y.is_leaf and y.grad_fn.name() == "mul"
    assert y.detach().requires_grad is False and y.grad_fn.line.startswith("test_autograd.py:")
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [1, 1]
    del x.grad
    assert x.grad is None
    x.data = fl.zeros(3)
    assert x.shape == (3,) and x.requires_grad
    with pytest.raises(RuntimeError):
        fl.tensor([1]).requires_grad_()


def test_version_counter_through_aliases():
    """A write through any alias of a saved tensor is noticed."""
    x = fl.zeros(2, requires_grad=True)
    y = x.sigmoid()
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [0.25, 0.25]
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="sigmoid.*version 0.*version 1"):
        y.sum().backward()
    y = x.sigmoid()
    y.data.view(2, 1)[0].zero_()
    with pytest.raises(RuntimeError, match="sigmoid"):
        y.sum().backward()


def test_hidden_intermediate_cannot_be_differentiated_again():
    """A value hidden on the context cannot be differentiated again silently."""
    x = fl.tensor(1.0, requires_grad=True)
    Cube.apply(x).backward()
    assert x.grad.item() == 12
    (g,) = fl.autograd.grad(Cube.apply(x), x, create_graph=True)
    assert g.item() == 12
    with pytest.raises(RuntimeError, match="Cube.*not tracked"):
        fl.autograd.grad(g, x)


class Square(fl.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x


class Exp(fl.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


def test_saved_inputs_and_outputs_differentiate_twice():
    x = fl.tensor([0.3, -0.7], dtype=fl.float64, requires_grad=True)
    for f in (Square.apply, Exp.apply):
        assert fl.autograd.gradcheck(f, x)
        assert fl.autograd.gradgradcheck(f, x)
    y = Exp.apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    y = Exp.apply(x)
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="ExpBackward.*version"):
        y.sum().backward()


def test_context_and_output_make_no_leak():
    """An output kept on the context makes no leak."""
    refs = []

    class Keep(fl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            refs.append(weakref.ref(ctx))
            y = x.clone()
            ctx.y = y
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    y = Keep.apply(fl.ones(1000, requires_grad=True))
    del y
    gc.collect()
    assert refs[0]() is None

    class Save(Keep):
        @staticmethod
        def forward(ctx, x):
            refs.append(weakref.ref(ctx))
            y = x.clone()
            ctx.save_for_backward(y)
            return y

    gc.disable()
    try:
        y = Save.apply(fl.ones(1000, requires_grad=True))
        del y
        assert refs[1]() is None
    finally:
        gc.enable()


def test_function_details():
    class Two(fl.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            ctx.factor, ctx.needs = factor, ctx.needs_input_grad
            order = x.argmax()
            ctx.mark_non_differentiable(order)
            return x * factor, x + y, order

        @staticmethod
        def backward(ctx, ga, gb, _=None):
            assert ctx.needs == (True, False, False)
            return ga * ctx.factor + gb, None, None

    x = fl.ones(2, requires_grad=True)
    a, b, order = Two.apply(x, 3.0, fl.ones(2))
    assert not order.requires_grad and a.grad_fn.name() == "TwoBackward"
    a.sum().backward()
    assert x.grad.tolist() == [3, 3]

    class Wrong(Square):
        @staticmethod
        def backward(ctx, g):
            return g, g

    with pytest.raises(RuntimeError, match="Wrong.*2 gradients for 1"):
        Wrong.apply(x).sum().backward()

    class Raises(Square):
        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Raises.apply(x).sum().backward()

    class Once(Square):
        @staticmethod
        @fl.autograd.once_differentiable
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    (g,) = fl.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
    assert g.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_gradients_do_not_alias():
    """Gradients of two leaves never share memory."""
    x, y = fl.ones(3, requires_grad=True), fl.ones(3, requires_grad=True)
    (x + y).sum().backward()
    x.grad.add_(100)
    assert y.grad.tolist() == [1, 1, 1]
    (x + y).sum().backward()
    assert y.grad.tolist() == [2, 2, 2]


def test_hooks_belong_to_the_version_they_were_registered_on():
    """A hook belongs to the version of the tensor that it was registered on."""
    x = fl.tensor(2.0, requires_grad=True)
    t, seen = x * 1, {}
    t.register_hook(lambda g: seen.__setitem__("before", float(g)))
    t.mul_(3)
    t.register_hook(lambda g: seen.__setitem__("after", float(g)))
    t.backward()
    assert seen == {"after": 1.0, "before": 3.0} and x.grad.item() == 3


def test_hooks_replace_once_in_order_and_can_be_removed():
    x, order = fl.ones(1, requires_grad=True), []
    first = x.register_hook(lambda g: order.append(1) or g * 2)
    x.register_hook(lambda g: order.append(2) or g + 1)
    (x * 5).sum().backward()
    assert x.grad.tolist() == [11] and order == [1, 2]
    first.remove()
    first.remove()
    x.grad = None
    (x * 5).sum().backward()
    assert x.grad.tolist() == [6]

    class Mine(Exception):
        pass

    def fail(g):
        raise Mine("from the hook")

    y = fl.ones(1, requires_grad=True)
    y.register_hook(fail)
    with pytest.raises(Mine, match="from the hook"):
        (y * 2).sum().backward()
    assert y.grad is None
    z = fl.ones(1, requires_grad=True)
    z.register_hook(lambda g: 3)
    with pytest.raises(TypeError, match="Tensor or None"):
        (z * 2).sum().backward()


def test_grad_mode_and_threads():
    """Grad mode is the thread's own; concurrent backwards add up exactly."""
    with fl.no_grad():
        big = fl.ones(1_000_000, requires_grad=True) * 2
        inherited = []
        t = threading.Thread(target=lambda: inherited.append(fl.is_grad_enabled()))
        t.start()
        t.join()
    assert not big.requires_grad and inherited == [True]
    w = fl.ones(1, requires_grad=True)
    threads = [threading.Thread(target=lambda: [(w * 1).sum().backward() for _ in range(100)]) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert w.grad.tolist() == [800]


def test_in_place_on_a_leaf():
    """A leaf that requires grad is not written in place."""
    w = fl.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="no_grad"):
        w.add_(1)
    assert w.tolist() == [1, 1]
    with fl.no_grad():
        w.add_(1)
    assert w.tolist() == [2, 2] and w.requires_grad


def test_pow_and_ties():
    """pow at a zero base, and ties."""
    x = fl.tensor([0.0, 3.0], requires_grad=True)
    (x ** 0).sum().backward()
    assert x.grad.tolist() == [0, 0]
    a, b = fl.tensor([0.0, 2.0]), fl.ones(2, requires_grad=True)
    (a ** b).sum().backward()
    assert b.grad.tolist() == pytest.approx([0, 2 * math.log(2)])
    a, b = fl.tensor([1.0, 2.0], requires_grad=True), fl.tensor([1.0, 5.0], requires_grad=True)
    fl.maximum(a, b).sum().backward()
    assert a.grad.tolist() == [0.5, 0] and b.grad.tolist() == [0.5, 1]
    r = fl.tensor([1.0, 3.0, 3.0], requires_grad=True)
    r.amax().backward()
    assert r.grad.tolist() == [0, 0.5, 0.5]
    r.grad = None
    r.max(0).values.backward()
    assert r.grad.tolist() == [0, 1, 0]


@pytest.mark.host_only("the length of a tape is no matter of the device")
def test_long_chains():
    x = fl.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 0.0
    y.backward()
    del y
    assert x.grad.tolist() == [1]


def test_gradcheck_finds_a_wrong_backward():
    class Wrong(Square):
        @staticmethod
        def backward(ctx, g):
            return g

    x = fl.tensor([0.3], dtype=fl.float64, requires_grad=True)
    with pytest.raises(fl.autograd.GradcheckError):
        fl.autograd.gradcheck(Wrong.apply, x)
    assert not fl.autograd.gradcheck(Wrong.apply, x, raise_exception=False)


def test_a_function_may_write_its_input():
    class Double(fl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            assert y.tolist() == [2, 2]
            return g * 2

    x = fl.ones(2, requires_grad=True)
    y = x * 1
    z = Double.apply(y)
    assert z is y
    z.sum().backward()
    assert x.grad.tolist() == [2, 2]
    ref = weakref.ref(z)
    del y, z
    gc.collect()
    assert ref() is None
    with pytest.raises(RuntimeError, match="leaf"):
        Double.apply(x)


@pytest.mark.parametrize("materialize", [True, False])
def test_a_function_gets_a_gradient_for_every_output(materialize):
    """Zeros or None for outputs that are marked, integers or no tensors."""
    seen = []

    class Several(fl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            marked, order = x * 3, x.argmax(0)
            ctx.mark_non_differentiable(marked)
            ctx.set_materialize_grads(materialize)
            return marked, x * 2, order, "text", x * 5

        @staticmethod
        def backward(ctx, marked, double, order, text, fivefold):
            seen[:] = [marked, double, order, text, fivefold]
            return double * 2

    x = fl.ones(2, requires_grad=True)
    marked, double, order, text, _ = Several.apply(x)
    double.sum().backward()
    assert x.grad.tolist() == [2, 2] and text == "text" and not marked.requires_grad and not order.requires_grad
    assert seen[1].tolist() == [1, 1] and seen[3] is None
    if materialize:
        assert seen[0].tolist() == [0, 0] and seen[2].tolist() == 0 and seen[2].dtype is fl.int64 and seen[4].tolist() == [0, 0]
    else:
        assert seen[0] is seen[2] is seen[4] is None


def test_a_retained_gradient_is_what_all_hooks_leave():
    x = fl.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    z = y * 1
    z.register_hook(lambda g: g + 1)
    z.retain_grad()
    z.sum().backward()
    assert z.grad.tolist() == [2, 2] and y.grad.tolist() == [10, 10] and x.grad.tolist() == [20, 20]


def test_a_tensor_is_not_its_own_gradient():
    x = fl.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="its own gradient"):
        x.grad = x
    assert x.grad is None
