"""Elementary functions, activations, reductions, losses and random numbers: values worked out by hand or by NumPy, names, in-place
forms, and wrong use."""

import math

import numpy as np
import pytest

import fuselet as fl
from fuselet.nn import functional as F

RNG = np.random.default_rng(3)
X = RNG.normal(size=(4, 5))
POSITIVE = np.abs(X) + 0.1
UNIT = np.tanh(X) * 0.95


def check(got, want, rtol=1e-6, atol=1e-6):
    np.testing.assert_allclose(got.detach().double().numpy(), want, rtol=rtol, atol=atol)


ELEMENTARY = {
    "trunc": (np.trunc, X), "frac": (lambda x: x - np.trunc(x), X), "expm1": (np.expm1, X), "exp2": (np.exp2, X),
    "log2": (np.log2, POSITIVE), "log10": (np.log10, POSITIVE), "tan": (np.tan, UNIT), "asin": (np.arcsin, UNIT),
    "acos": (np.arccos, UNIT), "atan": (np.arctan, X), "sinh": (np.sinh, X), "cosh": (np.cosh, X), "asinh": (np.arcsinh, X),
    "acosh": (np.arccosh, POSITIVE + 1), "atanh": (np.arctanh, UNIT), "signbit": (np.signbit, X), "isfinite": (np.isfinite, X),
    "erfc": (np.vectorize(math.erfc), X), "isinf": (np.isinf, X), "logit": (lambda p: np.log(p / (1 - p)), np.abs(UNIT) + 0.01),
}


@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary_functions(name):
    want, x = ELEMENTARY[name]
    t = fl.tensor(x)
    check(getattr(fl, name)(t), want(x))
    check(getattr(t, name)(), want(x))
    if getattr(fl, name)(t).is_floating_point() and name != "logit":
        written = t.clone()
        assert getattr(written, name + "_")() is written
        check(written, want(x))


def test_functions_of_two_and_more():
    a, b = fl.tensor(X), fl.tensor(POSITIVE)
    check(fl.atan2(a, b), np.arctan2(X, POSITIVE))
    check(fl.hypot(a, b), np.hypot(X, POSITIVE))
    check(fl.copysign(b, a), np.copysign(POSITIVE, X))
    check(fl.copysign(b, -1), -POSITIVE)
    check(fl.logaddexp(a, b), np.logaddexp(X, POSITIVE))
    check(fl.logaddexp2(a, b), np.logaddexp2(X, POSITIVE))
    check(fl.xlogy(a, b), X * np.log(POSITIVE))
    check(fl.lerp(a, b, 0.25), X + 0.25 * (POSITIVE - X))
    check(fl.lerp(a, b, fl.tensor([0.0, 0.25, 0.5, 0.75, 1.0], dtype=fl.float64)), X + np.linspace(0, 1, 5) * (POSITIVE - X))
    check(fl.addcmul(a, a, b, value=0.5), X + 0.5 * X * POSITIVE)
    check(fl.addcdiv(a, a, b, value=-2), X - 2 * X / POSITIVE)
    check(a.clone().addcmul_(a, b, value=3), X + 3 * X * POSITIVE)
    check(a.clone().addcdiv_(a, b), X + X / POSITIVE)
    check(a.clone().lerp_(b, 1.0), POSITIVE, rtol=0, atol=0)
    check(fl.nan_to_num(fl.tensor([math.nan, math.inf, -math.inf, 1.0]), nan=5, posinf=7), [5, 7, -np.finfo(np.float32).max, 1])
    check(fl.erfinv(fl.tensor([0.0, 0.5204998778130465], dtype=fl.float64)), [0, 0.5], rtol=1e-14)


def test_infinities_of_float64_keep_their_size_compiled():
    x = fl.tensor([math.inf, -math.inf, math.nan, 1.0], dtype=fl.float64)
    largest = np.finfo(np.float64).max
    for f in (fl.nan_to_num, fl.compile(fl.nan_to_num)):
        assert f(x).tolist() == [largest, -largest, 0, 1]


def test_small_functions():
    t = fl.tensor([0.0, 0.5, -2.0, math.nan])
    check(fl.sinc(t[:3]), np.sinc([0, 0.5, -2.0]))
    check(fl.fmax(t, fl.tensor(0.25)), [0.25, 0.5, 0.25, 0.25])
    check(t.fmin(fl.tensor([1.0, math.nan, 1.0, math.nan])), [0, 0.5, -2, math.nan])
    check(fl.heaviside(t[:3], fl.tensor(0.5)), [0.5, 1, 0])
    check(fl.deg2rad(fl.tensor([180.0])), [math.pi])
    check(fl.rad2deg(fl.tensor([math.pi])), [180])
    assert fl.float_power(fl.tensor([2, 3]), 0.5).dtype is fl.float64 and fl.sgn(t)[2].item() == -1
    check(fl.round(fl.tensor([1.25, 1.75]), decimals=1), [1.2, 1.8])
    check(fl.add(t[:2], t[1:3], alpha=2), [1, -3.5])
    check(t[:2].clone().sub_(t[1:3], alpha=2), [-1, 4.5])
    check(fl.rsub(t[:3], 1), [1, 0.5, 3])
    check(fl.tensor(X).var(correction=1.5), X.var() * 20 / 18.5)


def test_powers_of_integers_are_exact_and_negative_ones_refused():
    t = fl.tensor([3, -7, 1])
    assert (t ** 39)[0].item() == 3 ** 39 and (t ** 21)[1].item() == -7 ** 21
    assert fl.compile(lambda x: x ** 39)(t)[0].item() == 3 ** 39
    assert (t ** fl.tensor([-1, -2, -3])).tolist() == [0, 0, 1]
    for power in (lambda: t ** -1, lambda: fl.pow(t, -2), lambda: t.clone().pow_(-1)):
        with pytest.raises(RuntimeError, match="pow: integers to the negative power"):
            power()
    assert t.tolist() == [3, -7, 1] and (t ** -1.0).tolist() == pytest.approx([1 / 3, -1 / 7, 1])


def test_other_names_are_the_same_functions():
    a, b = fl.tensor([1.0, 5.0]), fl.tensor([2.0, 4.0])
    for alias, name in (("multiply", "mul"), ("subtract", "sub"), ("divide", "div"), ("true_divide", "div"), ("greater", "gt"),
                        ("less_equal", "le"), ("not_equal", "ne"), ("arctan2", "atan2")):
        assert getattr(fl, alias)(a, b).tolist() == getattr(fl, name)(a, b).tolist() == getattr(a, alias)(b).tolist()
    for alias, name in (("absolute", "abs"), ("negative", "neg"), ("fix", "trunc"), ("arctan", "atan"), ("arcsinh", "asinh")):
        assert getattr(fl, alias)(a).tolist() == getattr(a, name)().tolist()
        assert getattr(a.clone(), alias + "_")().tolist() == getattr(fl, name)(a).tolist()
    assert fl.clip(a, 2, 4).tolist() == a.clone().clip_(2, 4).tolist() == [2, 4]
    assert a.clone().div_(b, rounding_mode="floor").tolist() == [0, 1]


def test_bits_and_shifts():
    a, b = fl.tensor([12, -7], dtype=fl.int32), fl.tensor([10, 3], dtype=fl.int32)
    assert (a & b).tolist() == [8, 1] and (a | b).tolist() == [14, -5] and (a ^ b).tolist() == [6, -6]
    assert (a << 1).tolist() == [24, -14] and (a >> 1).tolist() == [6, -4] and (1 << b).tolist() == [1024, 8]
    assert (a & 4).dtype is fl.int32 and (6 & a).tolist() == [4, 0]
    assert (a << 32).tolist() == [0, 0] and (a >> 100).tolist() == [0, -1]
    a &= 4
    a |= 1
    a ^= 5
    assert a.tolist() == [(12 & 4 | 1) ^ 5, (-7 & 4 | 1) ^ 5]
    x = fl.tensor([7.0, -7.0])
    x //= 2
    x %= 3
    assert x.tolist() == [0, 2]
    assert fl.bitwise_not(fl.tensor([True, False])).tolist() == [False, True]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x), "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)), "softplus": lambda x: np.log1p(np.exp(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "softsign": lambda x: x / (1 + np.abs(x)), "hardtanh": lambda x: np.clip(x, -1, 1), "relu6": lambda x: np.clip(x, 0, 6),
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6, "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))), "silu": lambda x: x * sigmoid(x), "logsigmoid": lambda x: np.log(sigmoid(x)),
    "softshrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0), "hardshrink": lambda x: np.where(np.abs(x) > 0.5, x, 0),
    "tanhshrink": lambda x: x - np.tanh(x),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    x = X * 4
    check(getattr(F, name)(fl.tensor(x)), ACTIVATIONS[name](x))
    check(fl.compile(getattr(F, name))(fl.tensor(x)), ACTIVATIONS[name](x))


@pytest.mark.parametrize("name", ["leaky_relu", "elu", "celu", "selu", "hardtanh", "relu6", "hardsigmoid", "hardswish", "mish", "silu", "relu"])
def test_activations_in_place_have_the_same_gradient(name):
    gradients = []
    for inplace in (False, True):
        x = fl.tensor(X * 4, requires_grad=True)
        y = x * 1
        out = getattr(F, name)(y, inplace=inplace)
        assert (out is y) == inplace
        (out * fl.tensor(POSITIVE)).sum().backward()
        gradients.append(x.grad.numpy())
    np.testing.assert_allclose(gradients[0], gradients[1])


def test_gated_and_bounded_activations():
    x = fl.tensor(X[:, :4])
    check(F.glu(x), X[:, :2] * sigmoid(X[:, 2:4]))
    with pytest.raises(RuntimeError, match="odd"):
        F.glu(fl.tensor(X))
    weight = fl.tensor([0.1, 0.2, 0.3, 0.4], dtype=fl.float64, requires_grad=True)
    y = F.prelu(x, weight)
    check(y, np.where(X[:, :4] > 0, X[:, :4], X[:, :4] * np.array([0.1, 0.2, 0.3, 0.4])))
    y.sum().backward()
    check(weight.grad, np.minimum(X[:, :4], 0).sum(0))
    check(F.threshold(x, 0.1, 20.0), np.where(X[:, :4] > 0.1, X[:, :4], 20))
    check(F.softplus(x, beta=2, threshold=0.5), np.where(2 * X[:, :4] > 0.5, X[:, :4], np.log1p(np.exp(2 * X[:, :4])) / 2))
    check(F.softmin(x, 1), np.exp(-X[:, :4]) / np.exp(-X[:, :4]).sum(1, keepdims=True))
    with pytest.raises(ValueError, match="min_val"):
        F.hardtanh(x, 1, -1)
    x = fl.tensor([-3.0, 3.0, -1.0, 1.0, 6.0, 0.0], requires_grad=True)
    for f, want in ((F.hardtanh, [0, 0, 1, 1, 0, 1]), (F.relu6, [0, 1, 0, 1, 1, 1]), (lambda v: v.clamp(-1, 1), [0, 0, 1, 1, 0, 1])):
        x.grad = None
        f(x).sum().backward()
        assert x.grad.tolist() == want


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
def test_reductions(dim):
    t = fl.tensor(X)
    kwargs = {} if dim is None else {"dim": dim}
    check(t.prod(**kwargs), X.prod(axis=dim))
    check(fl.std_mean(t, **kwargs)[0], X.std(axis=dim, ddof=1))
    check(fl.std_mean(t, **kwargs)[1], X.mean(axis=dim))
    check(fl.var_mean(t, correction=0, **kwargs)[0], X.var(axis=dim))
    assert fl.count_nonzero(t > 0, **kwargs).tolist() == np.count_nonzero(X > 0, axis=dim).tolist()
    assert (t > 0).any(**kwargs).tolist() == (X > 0).any(axis=dim).tolist()
    assert (t > -9).all(**kwargs).tolist() == (X > -9).all(axis=dim).tolist()
    assert t.argmin(**kwargs).tolist() == X.argmin(axis=dim).tolist()
    holes = np.where(X > 1, np.nan, X)
    check(fl.nansum(fl.tensor(holes), **kwargs), np.nansum(holes, axis=dim))
    check(fl.nanmean(fl.tensor(holes), **kwargs), np.nanmean(holes, axis=dim))
    low, high = fl.aminmax(t, **kwargs)
    check(low, X.min(axis=dim))
    check(high, X.max(axis=dim))
    axis = -1 if dim is None else dim
    check(t.cumsum(axis), X.cumsum(axis))
    check(t.cumprod(axis), X.cumprod(axis))
    check(t.logcumsumexp(axis), np.logaddexp.accumulate(X, axis))
    check(t.clone().cumsum_(axis), X.cumsum(axis))


def test_order_statistics():
    x = fl.tensor([[3.0, 1.0, 2.0, 4.0], [5.0, math.nan, 0.0, 1.0]])
    values, indices = x.median(1)
    assert values[0].item() == 2 and math.isnan(values[1].item()) and indices.tolist() == [2, 1]
    assert fl.nanmedian(x, 1).values.tolist() == [2, 1] and fl.nanmedian(x, 1).indices.tolist() == [2, 3]
    assert x[0].median().item() == 2 and math.isnan(x.median().item())
    x = fl.tensor([[1.0, 5.0, 2.0]], requires_grad=True)
    x.median(1).values.sum().backward()
    assert x.grad.tolist() == [[0, 0, 1]]
    assert fl.tensor([7, 1, 7, 1, 2]).mode().values.item() == 1 and fl.tensor([7, 1, 7, 1, 2]).mode().indices.item() == 3
    assert fl.tensor([[3, 3, 1], [2, 2, 2]]).mode(1, True).values.tolist() == [[3], [2]]
    assert fl.tensor(4).median().item() == 4 and fl.tensor([[1, 4], [3, 2]]).median(0).values.tolist() == [1, 2]


def test_norms():
    t = fl.tensor(X)
    for order in (0, 0.5, 1, 2, 3, math.inf, -math.inf):
        check(fl.linalg.vector_norm(t, order), np.linalg.norm(X.ravel(), order))
        check(fl.norm(t, order, dim=1), np.linalg.norm(X, order, axis=1))
    for order in ("fro", 1, -1, math.inf, -math.inf):
        check(fl.linalg.norm(t, order), np.linalg.norm(X, order))
        assert fl.linalg.matrix_norm(t, order, keepdim=True).shape == (1, 1)
    check(fl.linalg.norm(t), np.linalg.norm(X))
    check(fl.dist(t, t * 2, 1), np.abs(X).sum())
    for order in ("nuc", 2):
        with pytest.raises(RuntimeError, match="ord"):
            fl.linalg.matrix_norm(t, order)
    x = fl.tensor([0.0, 4.0], requires_grad=True)
    fl.norm(x, 0.5).backward()
    assert x.grad.tolist() == [0, 1]


def test_normalizations():
    x = RNG.normal(size=(3, 4, 5)) * 3 + 1
    t, weight, bias = fl.tensor(x), fl.tensor(POSITIVE[:, 0]), fl.tensor(X[:, 0])
    w, b = POSITIVE[:, 0][None, :, None], X[:, 0][None, :, None]
    grouped = x.reshape(3, 2, 10)
    grouped = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + 1e-5)
    check(F.group_norm(t, 2, weight, bias), grouped.reshape(3, 4, 5) * w + b)
    each = (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True) + 1e-5)
    check(F.instance_norm(t, weight=weight, bias=bias), each * w + b)
    check(F.rms_norm(t, (5,), fl.tensor(POSITIVE[0]), eps=1e-3), x / np.sqrt((x ** 2).mean(2, keepdims=True) + 1e-3) * POSITIVE[0])
    mean, variance = fl.zeros(4, dtype=fl.float64), fl.ones(4, dtype=fl.float64)
    whole = (x - x.mean((0, 2), keepdims=True)) / np.sqrt(x.var((0, 2), keepdims=True) + 1e-5)
    check(F.batch_norm(t, mean, variance, weight, bias, True, 0.1), whole * w + b)
    check(mean, 0.1 * x.mean((0, 2)))
    check(variance, 0.9 + 0.1 * x.var((0, 2), ddof=1))
    stored = (x - mean.numpy()[None, :, None]) / np.sqrt(variance.numpy()[None, :, None] + 1e-5)
    check(F.batch_norm(t, mean, variance, weight, bias), stored * w + b)
    moved = fl.zeros(4, dtype=fl.float64)
    F.instance_norm(t, moved, None, momentum=1.0)
    check(moved, x.mean((0, 2)))
    for wrong in (lambda: F.group_norm(t, 3), lambda: F.batch_norm(t, mean[:3], variance), lambda: F.rms_norm(t, (4,)),
                  lambda: F.batch_norm(t, None, None)):
        with pytest.raises(RuntimeError, match=r"norm: "):
            wrong()


def test_compiled_batch_norm_moves_its_statistics():
    x = fl.tensor(X, dtype=fl.float32)
    states = []
    for wrap in (lambda f: f, fl.compile):
        mean, variance = fl.zeros(5), fl.ones(5)
        step = wrap(lambda v: F.batch_norm(v, mean, variance, training=True))
        outs = [step(x * k).numpy() for k in (1, 2)]
        states.append([*outs, mean.numpy(), variance.numpy()])
    for eager, compiled in zip(*states):
        np.testing.assert_allclose(compiled, eager, rtol=1e-5, atol=1e-6)


def test_regression_losses():
    a, b = fl.tensor(X), fl.tensor(X[::-1].copy())
    d = np.abs(X - X[::-1])
    check(F.l1_loss(a, b), d.mean())
    check(F.smooth_l1_loss(a, b, beta=0.5), np.where(d < 0.5, d * d, d - 0.25).mean())
    check(F.smooth_l1_loss(a, b, beta=0, reduction="sum"), d.sum())
    check(F.huber_loss(a, b, delta=0.5, reduction="none"), np.where(d <= 0.5, d * d / 2, 0.5 * (d - 0.25)))
    check(F.mse_loss(a, b, reduction="sum"), (d * d).sum())
    check(F.l1_loss(a, b, size_average=False), d.sum())
    check(F.l1_loss(a, b, reduce=False), d)
    rate = fl.tensor(POSITIVE)
    check(F.poisson_nll_loss(a, rate), (np.exp(X) - POSITIVE * X).mean())
    stirling = np.where(POSITIVE > 1, POSITIVE * np.log(POSITIVE) - POSITIVE + 0.5 * np.log(2 * np.pi * POSITIVE), 0)
    check(F.poisson_nll_loss(rate, rate, log_input=False, full=True),
          (POSITIVE - POSITIVE * np.log(POSITIVE + 1e-8) + stirling).mean())
    check(F.gaussian_nll_loss(a, b, rate), (0.5 * (np.log(POSITIVE) + d * d / POSITIVE)).mean())
    check(F.gaussian_nll_loss(a, b, rate[:, 0], full=True),
          (0.5 * (np.log(POSITIVE[:, :1]) + d * d / POSITIVE[:, :1]) + 0.5 * math.log(2 * math.pi)).mean())
    with pytest.raises(ValueError, match="reduction"):
        F.l1_loss(a, b, "median")


def test_class_losses():
    logs = np.log(POSITIVE / POSITIVE.sum(1, keepdims=True))
    target, weight = np.array([1, 4, 0, 2]), POSITIVE[0]
    t, y, w = fl.tensor(logs), fl.tensor(target), fl.tensor(weight)
    picked = -logs[np.arange(4), target]
    check(F.nll_loss(t, y), picked.mean())
    check(F.nll_loss(t, y, w), (picked * weight[target]).sum() / weight[target].sum())
    ignoring = fl.tensor([1, -100, 0, 2])
    check(F.nll_loss(t, ignoring, w, reduction="sum"), (picked * weight[target])[[0, 2, 3]].sum())
    check(F.nll_loss(t.reshape(2, 2, 5).permute(0, 2, 1), y.reshape(2, 2), reduction="none"), picked.reshape(2, 2))
    check(F.nll_loss(t[0], y[0]), picked[0])
    for wrong in (5, -1):
        with pytest.raises(IndexError):
            F.nll_loss(t, fl.tensor([0, 1, wrong, 2]))
    soft = POSITIVE / POSITIVE.sum(1, keepdims=True)
    mixed = soft * 0.9 + 0.1 / 5
    check(F.cross_entropy(t, fl.tensor(soft), w, label_smoothing=0.1), -(mixed * logs * weight).sum(1).mean())
    p, q = sigmoid(X), soft
    check(F.binary_cross_entropy(fl.tensor(p), fl.tensor(q), w), (-weight * (q * np.log(p) + (1 - q) * np.log(1 - p))).mean())
    check(F.binary_cross_entropy_with_logits(fl.tensor(X), fl.tensor(q), w, pos_weight=w),
          (-weight * (weight * q * np.log(p) + (1 - q) * np.log(1 - p))).mean())
    check(F.kl_div(t, fl.tensor(soft), reduction="batchmean"), 0, atol=1e-12)
    check(F.kl_div(t * 0.5, fl.tensor(logs), log_target=True), (soft * (logs - 0.5 * logs)).mean())


def test_margin_losses():
    a, b, c = fl.tensor(X), fl.tensor(POSITIVE), fl.tensor(X[::-1].copy())
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    s = fl.tensor(signs)
    cosine = (X * POSITIVE).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(POSITIVE, axis=1)
    check(F.cosine_similarity(a, b), cosine)
    check(F.cosine_embedding_loss(a, b, s, margin=0.1), np.where(signs > 0, 1 - cosine, np.maximum(cosine - 0.1, 0)).mean())
    check(F.margin_ranking_loss(a[:, 0], b[:, 0], s, margin=0.2), np.maximum(0.2 - signs * (X[:, 0] - POSITIVE[:, 0]), 0).mean())
    check(F.hinge_embedding_loss(b[:, 0], s), np.where(signs > 0, POSITIVE[:, 0], np.maximum(1 - POSITIVE[:, 0], 0)).mean())
    check(F.soft_margin_loss(a[:, 1], s), np.log1p(np.exp(-signs * X[:, 1])).mean())
    far, near = np.linalg.norm(X - X[::-1] + 1e-6, axis=1), np.linalg.norm(X - POSITIVE + 1e-6, axis=1)
    check(F.triplet_margin_loss(a, b, c), np.maximum(1 + near - far, 0).mean())
    swapped = np.minimum(far, np.linalg.norm(POSITIVE - X[::-1] + 1e-6, axis=1))
    check(F.triplet_margin_loss(a, b, c, swap=True), np.maximum(1 + near - swapped, 0).mean())
    classes = np.array([1, 4, 0, 2])
    apart = np.maximum(1 - X[np.arange(4), classes][:, None] + X, 0) ** 2
    apart[np.arange(4), classes] = 0
    check(F.multi_margin_loss(a, fl.tensor(classes), p=2), apart.sum(1).mean() / 5)
    labels = (X > 0.3) * 1.0
    check(F.multilabel_soft_margin_loss(a, fl.tensor(labels)), np.log1p(np.exp(-X * (2 * labels - 1))).mean())
    zero = fl.zeros(2, 3, requires_grad=True)
    F.cosine_similarity(zero, fl.ones(2, 3)).sum().backward()
    assert fl.isfinite(zero.grad).all()


def test_random_numbers():
    generator = fl.Generator().manual_seed(7)
    again = fl.Generator().manual_seed(7)
    for draw in (lambda g: fl.normal(2.0, 3.0, (1000,), generator=g), lambda g: fl.zeros(1000).exponential_(2.0, generator=g),
                 lambda g: fl.zeros(1000).random_(10, generator=g), lambda g: fl.randperm(1000, generator=g),
                 lambda g: fl.randint_like(fl.zeros(1000), 3, 9, generator=g), lambda g: fl.rand_like(fl.zeros(9), generator=g),
                 lambda g: fl.multinomial(fl.ones(5), 1000, True, generator=g), lambda g: fl.zeros(9).normal_(generator=g)):
        assert fl.equal(draw(generator), draw(again))
    x = fl.normal(2.0, 3.0, (20000,), generator=generator)
    assert abs(x.mean().item() - 2) < 0.1 and abs(x.std().item() - 3) < 0.1
    x = fl.normal(fl.tensor([[0.0], [100.0]]), fl.tensor([1.0, 2.0, 3.0]))
    assert x.shape == (2, 3) and x[1].min().item() > 50
    x = fl.zeros(20000).exponential_(2.0, generator=generator)
    assert x.min().item() >= 0 and abs(x.mean().item() - 0.5) < 0.02
    x = fl.zeros(5000, dtype=fl.int64).random_(3, 6, generator=generator)
    assert sorted(set(x.tolist())) == [3, 4, 5]
    assert fl.zeros(99, dtype=fl.uint8).random_().max().item() > 127 and fl.zeros(99, dtype=fl.bool).random_().any().item()
    assert sorted(fl.randperm(50).tolist()) == list(range(50)) and fl.randperm(0).tolist() == []
    drawn = fl.multinomial(fl.tensor([[0.0, 1.0, 3.0, 0.0], [1.0, 1.0, 0.0, 1.0]]), 2)
    assert sorted(drawn[0].tolist()) == [1, 2] and 2 not in drawn[1].tolist() and len(set(drawn[1].tolist())) == 2
    counts = fl.multinomial(fl.tensor([1.0, 3.0]), 20000, True, generator=generator).sum().item()
    assert abs(counts / 20000 - 0.75) < 0.02
    assert fl.zeros(20000).bernoulli_(0.25, generator=generator).mean().item() == pytest.approx(0.25, abs=0.02)
    for wrong in (lambda: fl.normal(0.0, -1.0, (2,)), lambda: fl.normal(0.0, 1.0), lambda: fl.zeros(2).exponential_(0)):
        with pytest.raises(RuntimeError):
            wrong()


def test_gradients_of_a_step_through_many_functions():
    """Second derivatives through rows whose VJP comes from their expression, and through numbers of the row."""
    for f in (F.mish, lambda x: F.elu(x, 0.5), lambda x: F.celu(x, 2.0), F.softplus, F.hardswish, F.logsigmoid, F.selu, fl.expm1,
              lambda x: fl.logaddexp(x, x * 0.5), lambda x: x.cumprod(0), lambda x: x.logcumsumexp(0)):
        x = fl.tensor([0.3, -0.7, 1.9], dtype=fl.float64, requires_grad=True)
        assert fl.autograd.gradcheck(f, (x,)) and fl.autograd.gradgradcheck(f, (x,))
