"""Values that are easy to get wrong, in every floating dtype: infinities, NaN, ties, overflow between the steps, no elements."""

import math
from fractions import Fraction

import numpy as np
import pytest

import fuselet as fl
from fuselet.nn import functional as F

inf, nan = math.inf, math.nan
FLOATS = [fl.float64, fl.float32, fl.float16, fl.bfloat16]
INTS = [fl.int64, fl.int32, fl.int8, fl.uint8]
# A few units in the last place; gradients are products of several rounded factors.
TOLERANCE = {fl.float64: 1e-9, fl.float32: 2e-6, fl.float16: 4e-3, fl.bfloat16: 3e-2}
every_float = pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
every_int = pytest.mark.parametrize("dtype", [*INTS, fl.bool], ids=lambda d: d.name)


def close(got, want, dtype, scale=1):
    tolerance = TOLERANCE[dtype] * scale
    np.testing.assert_allclose(got.detach().double().cpu().numpy(), want, rtol=tolerance, atol=tolerance)


def make(dtype):
    return lambda values, **options: fl.tensor(values, dtype=dtype, **options)


@every_float
def test_masked_rows_of_softmax(dtype):
    t = make(dtype)
    x = t([[0.0, math.log(3)], [-inf, -inf], [nan, -inf]])
    close(fl.softmax(x, -1), [[0.25, 0.75], [nan, nan], [nan, nan]], dtype)
    close(F.safe_softmax(x, -1), [[0.25, 0.75], [0, 0], [nan, nan]], dtype)
    x = t([[0.0, math.log(3)], [-inf, -inf]], requires_grad=True)
    (F.safe_softmax(x, -1) * t([1.0, 2.0])).sum().backward()
    close(x.grad, [[-0.1875, 0.1875], [0, 0]], dtype)
    close(fl.softmax(fl.zeros(16384, dtype=dtype), 0).double().sum(), 1, dtype)


@every_float
def test_logsumexp(dtype):
    t = make(dtype)
    x = t([[1.0, 2.0], [-inf, -inf]], requires_grad=True)
    y = fl.logsumexp(x, 1)
    close(y, [2.313261687518223, -inf], dtype)
    y[0].backward(retain_graph=True)
    close(x.grad, [[0.26894142137, 0.73105857863], [0, 0]], dtype)
    x.grad = None
    y.sum().backward()
    close(x.grad, [[0.26894142137, 0.73105857863], [0, 0]], dtype)
    assert fl.logsumexp(t([1.0, inf]), 0).item() == inf and math.isnan(fl.logsumexp(t([1.0, nan]), 0).item())
    close(fl.logsumexp(fl.zeros(4096, dtype=dtype), 0), math.log(4096), dtype)


@pytest.mark.parametrize("dtype", [fl.float64, fl.float32], ids=lambda d: d.name)
def test_layer_norm_far_from_zero_and_its_gradient(dtype):
    x = make(dtype)([2.0 ** 20 + i for i in range(4)], requires_grad=True)
    y = F.layer_norm(x, (4,), eps=1e-5)
    np.testing.assert_allclose(y.detach().cpu().numpy(), [-1.3416354, -0.4472118, 0.4472118, 1.3416354], rtol=1e-6)
    g = np.array([1.0, 2.0, 3.0, 5.0])
    (y * make(dtype)(g.tolist())).sum().backward()
    r = 1 / math.sqrt(1.25 + 1e-5)
    hat = (np.arange(4) - 1.5) * r
    np.testing.assert_allclose(x.grad.cpu().numpy(), r * (g - g.mean() - hat * (g * hat).mean()), rtol=1e-4, atol=1e-6)
    assert x.detach().var(correction=0).item() == pytest.approx(1.25, rel=1e-6)


@every_float
def test_sums_of_narrow_numbers_are_taken_wide(dtype):
    t = make(dtype)
    ones = fl.ones(8192, dtype=dtype)
    assert ones.sum().item() == 8192 and fl.dot(ones, ones).item() == 8192 and fl.norm(ones, 1).item() == 8192
    assert fl.ones(8192, 2, dtype=dtype).sum(0).tolist() == [8192, 8192]
    many = fl.ones(70000, 2, dtype=dtype)
    assert many.mean().item() == 1 and many.mean(0).tolist() == [1, 1] and many.t().mean(1).tolist() == [1, 1]
    assert t([4e4, 4e4, -4e4, -4e4]).sum(0).item() == 0
    close(fl.norm(t([300.0, 400.0])), 500, dtype)
    assert fl.norm(fl.ones(16384, dtype=dtype)).item() == 128
    close(fl.norm(t([30.0, 40.0]), 3), (30 ** 3 + 40 ** 3) ** (1 / 3), dtype)
    close(t([300.0, -300.0]).std(correction=0), 300, dtype)
    close(F.mse_loss(t([300.0, 0.0, 0.0, 0.0]), fl.zeros(4, dtype=dtype)), 22500, dtype)
    close(F.layer_norm(t([300.0, -300.0]), (2,)), [1, -1], dtype)
    close(fl.dot(t([300.0, 300.0]), t([300.0, -300.0])), 0, dtype)


@every_int
def test_integer_sums_widen(dtype):
    total = fl.ones(300, dtype=dtype).sum()
    assert total.item() == 300 and total.dtype is fl.int64
    assert fl.ones(300, 2, dtype=dtype).sum(0).tolist() == [300, 300] and fl.ones(2, dtype=dtype).sum(0).dtype is fl.int64
    assert fl.full((200,), 2, dtype=fl.uint8).sum().item() == 400
    big = fl.tensor([2 ** 31 - 1] * 2, dtype=fl.int32)
    assert big.sum().item() == 4294967294
    kept = big.sum(dtype=fl.int32)
    assert kept.item() == -2 and kept.dtype is fl.int32
    twos = fl.full((200,), 2, dtype=fl.uint8)
    assert twos.cumsum(0)[-1].item() == 400 and twos.cumsum(0).dtype is fl.int64
    assert twos[:40].prod().item() == 2 ** 40 and twos[:40].cumprod(0)[-1].item() == 2 ** 40
    assert fl.compile(lambda x: x.cumsum(0))(twos)[-1].item() == 400 and fl.compile(lambda x: x.prod())(twos[:40]).item() == 2 ** 40
    assert fl.ones(3, dtype=dtype).cumsum(0).tolist() == [1, 2, 3] and fl.ones(3, dtype=dtype).prod().dtype is fl.int64


@every_float
def test_tensors_without_elements(dtype):
    e = fl.zeros(0, 4, dtype=dtype)
    assert e.sum().item() == 0 and math.isnan(e.mean().item()) and e.sum(0).tolist() == [0] * 4
    assert e.prod().item() == 1 and e.prod(0).tolist() == [1] * 4 and e.prod(1).shape == (0,)
    assert e.cumsum(0).shape == e.cumprod(1).shape == (0, 4) and fl.logsumexp(e, 0).tolist() == [-inf] * 4
    assert e.count_nonzero().item() == 0 and math.isnan(e.median().item()) and math.isnan(fl.nanmean(e).item())
    assert e.max(1).values.shape == e.max(1).indices.shape == (0,)
    assert fl.norm(e).item() == 0 and e.sum(1).shape == (0,) and fl.zeros(4, 0, dtype=dtype).sum(0).shape == (0,)
    assert fl.zeros(3, 0, 5, dtype=dtype).mean((0, 2)).shape == (0,) and fl.zeros(3, 0, dtype=dtype).amax(0).shape == (0,)
    product = fl.zeros(2, 0, dtype=dtype) @ fl.zeros(0, 3, dtype=dtype)
    assert product.tolist() == [[0] * 3] * 2
    for f in (lambda: e.max(), lambda: e.max(0), lambda: e.amax(), lambda: e.amin(0), lambda: e.argmax(), lambda: e.argmin(0)):
        with pytest.raises(RuntimeError, match=r"\[0, 4\]"):
            f()


@every_float
def test_backward_without_elements(dtype):
    e = fl.zeros(0, 4, dtype=dtype, requires_grad=True)
    weight = fl.zeros(3, 4, dtype=dtype, requires_grad=True)
    functions = [
        lambda: e.sum(), lambda: e.mean(), lambda: e.sum(0).sum(), lambda: (e * 2 + 1).sum(), lambda: e.amax(1).sum(),
        lambda: fl.softmax(e, 1).sum(), lambda: fl.log_softmax(e, 0).sum(), lambda: F.layer_norm(e, (4,)).sum(),
        lambda: F.linear(e, weight).sum(), lambda: F.gelu(e).sum(), lambda: fl.cat([e, e]).sum(), lambda: e.max(1).values.sum(),
        lambda: fl.logsumexp(e, 1).sum(), lambda: fl.norm(e), lambda: e.var(1).sum(), lambda: F.dropout(e).sum(),
        lambda: e[:, 1:].sum(), lambda: e.clamp(0, 1).sum(), lambda: e.expand(2, 0, 4).sum(), lambda: F.normalize(e).sum(),
        lambda: e.prod(), lambda: e.prod(0).sum(), lambda: e.cumsum(0).sum(), lambda: e.cumprod(1).sum(),
        lambda: F.rms_norm(e, (4,)).sum(), lambda: F.group_norm(e, 2).sum(),
        lambda: e.sort(1).values.sum(), lambda: e.index_select(1, fl.tensor([0, 0])).sum(), lambda: fl.maximum(e, e).sum(),
        lambda: F.mse_loss(e, e.detach(), "sum"), lambda: F.conv2d(e.view(0, 1, 2, 2), weight.view(3, 1, 2, 2)).sum()]
    for f in functions:
        e.grad = weight.grad = None
        f().backward()
        assert e.grad.shape == (0, 4)
        assert weight.grad is None or weight.grad.tolist() == [[0] * 4] * 3


def test_all_and_any_without_elements():
    assert fl.zeros(0, 4).all(0).tolist() == [True] * 4 and fl.zeros(0, 4).any(0).tolist() == [False] * 4
    assert fl.zeros(2, 0).all(1, True).tolist() == [[True], [True]] and fl.zeros(2, 0).any(1).tolist() == [False] * 2
    assert fl.zeros(0).all().item() is True and fl.zeros(0).any().item() is False
    assert fl.tensor([[1.0, nan], [0.0, 2.0]]).all(1).tolist() == [True, False]


@every_float
def test_norms_at_the_zero_vector(dtype):
    t = make(dtype)
    slope = [(v / 91 ** (1 / 3)) ** 2 for v in (3, 4)]
    for order, want in ((2, [[0, 0], [0.6, 0.8]]), (1, [[0, 0], [1, 1]]), (3, [[0, 0], slope]), (inf, [[0, 0], [0, 1]])):
        x = t([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
        fl.norm(x, order, dim=1).sum().backward()
        close(x.grad, want, dtype)
    assert fl.norm(t([0.0, 3.0]), 0).item() == 1 and fl.norm(t([-5.0, 3.0]), -inf).item() == 3
    x = t([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    y = F.normalize(x, dim=1)
    close(y, [[0, 0], [0.6, 0.8]], dtype)
    y.sum().backward()
    assert fl.isfinite(x.grad).all()
    close(x.grad[1], [0.032, -0.024], dtype)


@every_float
def test_powers_of_zero(dtype):
    t = make(dtype)
    for n, value, first, second in ((0, [1, 1], [0, 0], [0, 0]), (1, [0, 3], [1, 1], [0, 0]), (2, [0, 9], [0, 6], [2, 2])):
        for exponent in (n, t(float(n)), t([float(n)] * 2)):
            x = t([0.0, 3.0], requires_grad=True)
            y = x ** exponent
            assert y.tolist() == pytest.approx(value, rel=4e-16)  # CUDA's pow is good to 2 ulp
            (g,) = fl.autograd.grad(y.sum(), x, create_graph=True)
            assert g.tolist() == first
            if g.requires_grad:
                (g2,) = fl.autograd.grad(g.sum(), x, allow_unused=True)
                assert g2 is None or g2.tolist() == second
    b = fl.ones(2, dtype=dtype, requires_grad=True)
    (t([0.0, 2.0]) ** b).sum().backward()
    close(b.grad, [0, 2 * math.log(2)], dtype)


@every_float
def test_ties_share_the_gradient(dtype):
    t = make(dtype)
    for f, want_a, want_b in ((fl.maximum, [0.5, 0], [0.5, 1]), (fl.minimum, [0.5, 1], [0.5, 0])):
        a, b = t([1.0, 2.0], requires_grad=True), t([1.0, 5.0], requires_grad=True)
        f(a, b).sum().backward()
        assert a.grad.tolist() == want_a and b.grad.tolist() == want_b
    for values, reduce, want in (([1.0, 3.0, 3.0], "amax", [0, 0.5, 0.5]), ([3.0, 1.0, 1.0], "amin", [0, 0.5, 0.5])):
        x = t(values, requires_grad=True)
        getattr(x, reduce)().backward()
        assert x.grad.tolist() == want
    x = t([1.0, 3.0, 3.0], requires_grad=True)
    x.max(0).values.backward()
    assert x.grad.tolist() == [0, 1, 0]
    x = t([0.0, -0.0, 1.0], requires_grad=True)
    F.relu(x).sum().backward()
    assert x.grad.tolist() == [0, 0, 1]


@every_float
def test_clamp(dtype):
    t = make(dtype)
    close(t([nan, -2.0, 0.5, 2.0]).clamp(-1, 1), [nan, -1, 0.5, 1], dtype)
    assert t([0.0]).clamp(min=2, max=1).tolist() == [1]
    for bound in (nan, t(nan)):
        assert math.isnan(t(0.0).clamp(min=bound).item()) and math.isnan(t(0.0).clamp(max=bound).item())
    for low in (-1.0, t(-1.0), t([-1.0] * 3)):
        for high in (1.0, t(1.0), t([1.0] * 3)):
            for values, want in (([-2.0, 0.5, 2.0], [0, 1, 0]), ([-1.0, 0.5, 1.0], [1, 1, 1])):
                x = t(values, requires_grad=True)
                x.clamp(low, high).sum().backward()
                assert x.grad.tolist() == want
    low, high = t([-1.0] * 3, requires_grad=True), t([1.0] * 3, requires_grad=True)
    t([-2.0, 0.5, 2.0]).clamp(low, high).sum().backward()
    assert low.grad.tolist() == [1, 0, 0] and high.grad.tolist() == [0, 0, 1]


@every_float
def test_cross_entropy_ignores_smooths_and_weighs(dtype):
    t = make(dtype)
    z, target = t([[math.log(2), 0.0], [5.0, -5.0]], requires_grad=True), fl.tensor([0, -100])
    loss = F.cross_entropy(z, target, label_smoothing=0.2)
    loss.backward()
    close(loss, 0.4747798, dtype, 100 if dtype is fl.float64 else 1)
    close(z.grad, [[-0.7 / 3, 0.7 / 3], [0, 0]], dtype)
    logs, weight = np.log([2 / 3, 1 / 3]), np.array([1.0, 3.0])
    want = (-0.8 * weight[0] * logs[0] - 0.1 * (weight * logs).sum()) / weight[0]
    close(F.cross_entropy(z, target, weight=t([1.0, 3.0]), label_smoothing=0.2), want, dtype)
    z.grad = None
    total = F.cross_entropy(z, fl.tensor([-100, -100]), weight=t([1.0, 3.0]), reduction="sum", label_smoothing=0.1)
    total.backward()
    assert total.item() == 0 and z.grad.tolist() == [[0, 0], [0, 0]]
    assert math.isnan(F.cross_entropy(z, fl.tensor([-100, -100])).item())


@every_float
def test_repeated_indices(dtype):
    t = make(dtype)
    v = t([10.0, 20.0], requires_grad=True)
    v[fl.tensor([0, 0, 1])].sum().backward()
    assert v.grad.tolist() == [2, 1]
    x = fl.zeros(4, dtype=dtype)
    x.index_put_((fl.tensor([1, 1, 3]),), t(0.5), accumulate=True)
    assert x.tolist() == [0, 1, 0, 0.5]
    y = fl.zeros(3, dtype=dtype)
    y[fl.tensor([0, 0])] += 1
    assert y.tolist() == [1, 0, 0]
    # One addition after another in 16 bits would stall at 2048 or 256.
    many = fl.zeros(4096, dtype=fl.int64)
    v = fl.zeros(2, dtype=dtype, requires_grad=True)
    v[many].sum().backward()
    assert v.grad.tolist() == [4096, 0]
    x = fl.zeros(2, dtype=dtype)
    assert x.index_put_((many,), t(1.0), accumulate=True).tolist() == [4096, 0]
    # Overwritten entries get no gradient, and each cell has one winner.
    source, base = t([5.0, 6.0, 7.0], requires_grad=True), fl.zeros(3, dtype=dtype, requires_grad=True)
    copy = base * 1
    copy[fl.tensor([0, 0, 1])] = source
    copy.sum().backward()
    assert sum(source.grad.tolist()[:2]) == 1 and source.grad[2].item() == 1 and base.grad.tolist() == [0, 0, 1]


@every_float
def test_padding_row_of_embedding(dtype):
    w = fl.ones(5, 2, dtype=dtype, requires_grad=True)
    F.embedding(fl.tensor([[3, 3, 0, 2, 0]]), w, padding_idx=0).sum().backward()
    assert w.grad[:, 0].tolist() == [0, 0, 1, 2, 0]
    w = fl.ones(5, 2, dtype=dtype, requires_grad=True)
    # The last row by either name is the padding row.
    F.embedding(fl.tensor([4, -1, 0]), w, padding_idx=-1).sum().backward()
    assert w.grad[:, 0].tolist() == [1, 0, 0, 0, 0]
    w = fl.ones(5, 2, dtype=dtype, requires_grad=True)
    F.embedding(fl.zeros(5000, dtype=fl.int64), w, padding_idx=0).sum().backward()
    assert w.grad.tolist() == [[0, 0]] * 5


@every_float
def test_casts_saturate(dtype):
    t = make(dtype)
    big = inf if dtype is fl.float16 else 3e9
    assert t([nan, inf, -inf, big, -1.9]).to(fl.int32).tolist() == [0, 2 ** 31 - 1, -2 ** 31, 2 ** 31 - 1, -1]
    assert t([nan, inf, -inf, 300, -1.9, 255]).to(fl.uint8).tolist() == [0, 255, 0, 255, 0, 255]
    assert t([nan, inf, -inf, 300, -130, 127]).to(fl.int8).tolist() == [0, 127, -128, 127, -128, 127]
    assert t([nan, inf, -inf]).to(fl.int64).tolist() == [0, 2 ** 63 - 1, -2 ** 63]
    assert t([nan, 0.0, -0.0, 0.5]).to(fl.bool).tolist() == [True, False, False, True]


def test_matmul_keeps_every_bit_of_float32():
    a = fl.eye(64) * (1 + 2 ** -12)
    assert fl.equal(a @ fl.eye(64), a) and a[0, 0].item() == 1.000244140625


@every_float
def test_small_arguments_keep_their_digits(dtype):
    t = make(dtype)
    small = t([1e-4, -1e-4])
    ratio = 1 + 2 * TOLERANCE[dtype]
    for f in (fl.log1p, F.elu, lambda x: F.softplus(-9 + 0 * x) * math.exp(9) * x):
        assert all(1 / ratio - 1e-4 < r < ratio + 1e-4 for r in (f(small).double() / small.double()).tolist())
    x = t([-1.0, inf, -2.0, nan, -0.0, 1.0])
    close(fl.log1p(x), [-inf, inf, nan, nan, 0, math.log(2)], dtype)
    assert math.copysign(1, fl.log1p(x)[4].item()) == -1
    x = t([0.0, 1.0], requires_grad=True)
    fl.log1p(x).sum().backward()
    assert x.grad.tolist() == [1, 0.5]


@every_float
def test_order_with_nan(dtype):
    x = make(dtype)([3.0, 1.0, nan, 2.0, 1.0])
    assert x.argsort().tolist() == [1, 4, 3, 0, 2] and x.argsort(descending=True).tolist() == [2, 0, 3, 1, 4]
    assert x.topk(2).indices.tolist() == [2, 0] and x.topk(2, largest=False).indices.tolist() == [1, 4]
    assert x.max(0).indices.item() == 2 and x.min(0).indices.item() == 2


@every_int
def test_order_of_integers(dtype):
    x = fl.tensor([1, 0, 1], dtype=dtype)
    assert x.argmin().item() == 1 and x.min(0).indices.item() == 1 and x.min(0).values.item() == 0 and x.max(0).values.item() == 1
    assert x.argsort().tolist() == [1, 0, 2] and x.argsort(descending=True).tolist() == [0, 2, 1]
    assert x.sort(descending=True).values.tolist() == [1, 1, 0] and x.topk(1).indices.tolist() == [0]
    if dtype is not fl.bool:
        limits = fl.iinfo(dtype)
        x = fl.tensor([limits.max, limits.min, limits.max - 1], dtype=dtype)
        assert x.argmin().item() == 1 and x.argsort(descending=True).tolist() == [0, 2, 1]


def test_numbers_beside_float64_keep_float64():
    x = fl.tensor([91.0], dtype=fl.float64, requires_grad=True)
    for f, want in ((lambda v: v ** (1 / 3), 91 ** (-2 / 3) / 3), (lambda v: 0.3 ** (v / 91), math.log(0.3) * 0.3 / 91),
                    (lambda v: v * 0.1, 0.1), (lambda v: v / 0.3, 1 / 0.3), (lambda v: fl.where(v > 0, v * 0.1, 0.1), 0.1),
                    (lambda v: fl.maximum(v, 0.1) * 0.1, 0.1), (lambda v: v.clamp(max=95.1) * 0.7, 0.7)):
        (g,) = fl.autograd.grad(f(x).sum(), x, create_graph=True)
        assert g.item() == pytest.approx(want, rel=1e-14)
    (g,) = fl.autograd.grad((x ** 2.5).sum(), x, create_graph=True)
    (g2,) = fl.autograd.grad(g.sum(), x)
    assert g2.item() == pytest.approx(2.5 * 1.5 * 91 ** 0.5, rel=1e-14)


@every_float
def test_products_through_zeros(dtype):
    t = make(dtype)
    for values, want in (([2.0, 3.0, 4.0], [12, 8, 6]), ([2.0, 0.0, 4.0], [0, 8, 0]), ([0.0, 3.0, 0.0], [0, 0, 0])):
        x = t(values, requires_grad=True)
        x.prod().backward()
        assert x.grad.tolist() == want
    # d/dx of the sum of all products up to each place, times 1, 10, 100.
    x = t([2.0, 0.0, 3.0], requires_grad=True)
    (x.cumprod(0) * t([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [1, 2 * 10 + 6 * 100, 0]
    x = t([[2.0, 5.0], [0.0, 3.0]], requires_grad=True)
    x.prod(0).sum().backward()
    assert x.grad.tolist() == [[0, 3], [2, 5]]
    x = t([2.0, 0.0, 3.0], requires_grad=True)
    (g,) = fl.autograd.grad(x.prod(), x, create_graph=True)
    (h,) = fl.autograd.grad(g.sum(), x)
    assert h.tolist() == [3, 5, 2]


@every_float
def test_running_sums(dtype):
    t = make(dtype)
    x = t([[1.0, 2.0, 3.0], [4.0, nan, 6.0]], requires_grad=True)
    close(x.cumsum(1), [[1, 3, 6], [4, nan, nan]], dtype)
    (x.cumsum(1) * t([1.0, 2.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [[7, 6, 4]] * 2
    # One addition after another in 16 bits would stall at 2048 or 256.
    assert fl.ones(4096, dtype=dtype).cumsum(0)[-1].item() == 4096
    y = t([-inf, 0.0, 0.0, -inf]).requires_grad_()
    close(y.logcumsumexp(0), [-inf, 0, math.log(2), math.log(2)], dtype)
    y.logcumsumexp(0)[1:].sum().backward()
    close(y.grad, [0, 2, 1, 0], dtype)


@every_float
def test_division_rounds_the_exact_quotient(dtype):
    t = make(dtype)
    x, y = t([7.0, -7.0, 7.0, -7.0, 5.0, -5.0, 1.0]), t([2.0, 2.0, -2.0, -2.0, inf, inf, 0.0])
    assert (x // y).tolist() == [3, -4, -4, 3, 0, -1, inf]
    close(x % y, [1, 1, -1, -1, 5, inf, nan], dtype)
    close(fl.fmod(x, y), [1, -1, 1, -1, 5, -5, nan], dtype)
    close(fl.div(x, y, rounding_mode="trunc"), [3, -3, -3, 3, 0, -0.0, inf], dtype)
    # A tenth is a little more or less than 1/10 in every dtype; the quotient in whole numbers must know which.
    tenth = t([0.1])
    assert (t([1.0]) // tenth).item() == (9 if Fraction(tenth.item()) > Fraction(1, 10) else 10)
    assert fl.div(7, tenth * 0 + 2, rounding_mode="floor").item() == 3
    with pytest.raises(RuntimeError, match="rounding_mode"):
        fl.div(x, y, rounding_mode="up")


@every_int
def test_division_of_integers_by_zero_is_zero(dtype):
    if dtype is fl.bool:
        return
    x = fl.tensor([5, 7], dtype=dtype)
    zero = fl.zeros_like(x)
    assert (x // zero).tolist() == [0, 0] and (x % zero).tolist() == [0, 0] and (x // zero).dtype is dtype
    assert fl.compile(lambda a, b: a // b)(x, zero).tolist() == [0, 0]


@every_float
def test_logarithms_of_probabilities(dtype):
    t = make(dtype)
    # PyTorch's bound: a logarithm in the loss is at least -100.
    p, target = t([0.0, 1.0, 0.5, 0.0]), t([1.0, 0.0, 0.5, 0.0])
    close(F.binary_cross_entropy(p, target, reduction="none"), [100, 100, math.log(2), 0], dtype)
    x = t([1000.0, -1000.0, 0.0], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, t([0.0, 1.0, 1.0]), reduction="sum", pos_weight=t(2.0))
    close(loss, 1000 + 2000 + 2 * math.log(2), dtype)
    loss.backward()
    close(x.grad, [1, -2, -1], dtype)
    q = t([0.5, 0.5, 0.0], requires_grad=True)
    logs = t([math.log(0.25), math.log(0.75), -1.0], requires_grad=True)
    loss = F.kl_div(logs, q, reduction="sum")
    close(loss, 0.5 * math.log(2) + 0.5 * math.log(2 / 3), dtype)
    loss.backward()
    close(logs.grad, [-0.5, -0.5, 0], dtype)
    for function, value in ((F.logsigmoid, [-1000, 0]), (F.softplus, [0, 1000])):
        close(function(t([-1000.0, 1000.0])), value, dtype)
    close(fl.logaddexp(t([-inf, inf, 1000.0]), t([-inf, -inf, 1000.0])), [-inf, inf, 1000 + math.log(2)], dtype)


@pytest.mark.parametrize("dtype", [fl.float64, fl.float32], ids=lambda d: d.name)
def test_batch_statistics_far_from_zero(dtype):
    x = make(dtype)([[2.0 ** 20 + i] for i in range(4)], requires_grad=True)
    mean, variance = fl.zeros(1, dtype=dtype), fl.ones(1, dtype=dtype)
    y = F.batch_norm(x, mean, variance, training=True, momentum=0.5)
    np.testing.assert_allclose(y.detach().cpu().numpy()[:, 0], [-1.3416354, -0.4472118, 0.4472118, 1.3416354], rtol=1e-6)
    assert mean.item() == (2.0 ** 20 + 1.5) / 2 and variance.item() == pytest.approx(0.5 + 0.5 * 5 / 3, rel=1e-6)
    z = F.group_norm(x.detach().reshape(1, 4), 1)
    np.testing.assert_allclose(z.cpu().numpy()[0], y.detach().cpu().numpy()[:, 0], rtol=1e-6)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        F.batch_norm(x[:1], mean, variance, training=True)


def test_losses_do_not_broadcast():
    a, b = fl.zeros(3, 1), fl.zeros(3)
    for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy,
                 F.binary_cross_entropy_with_logits, F.kl_div, F.poisson_nll_loss, F.soft_margin_loss):
        with pytest.raises(RuntimeError, match=r"\[3, 1\].*\[3\]"):
            loss(a, b)
