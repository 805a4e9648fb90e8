"""The namespace special, and draws of Poisson's and other distributions, beside what mathematics says."""

import math

import numpy as np
import pytest

import fuselet as fl
from fuselet import special

nan, inf = math.nan, math.inf


def test_values():
    x = fl.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, inf, nan], dtype=fl.float64)
    np.testing.assert_allclose(special.entr(x).tolist(), [-inf, 0, 0.5 * math.log(2), 0, -2 * math.log(2), -inf, nan], rtol=1e-14)
    np.testing.assert_allclose(special.ndtr(fl.tensor([-inf, -10.0, 0.0, 1.0, inf], dtype=fl.float64)).tolist(),
                               [0, math.erfc(10 / math.sqrt(2)) / 2, 0.5, math.erfc(-math.sqrt(0.5)) / 2, 1], rtol=1e-13)
    y = fl.tensor([-1.0, -1.0, 1e-20, -2.0, nan], dtype=fl.float64)
    np.testing.assert_allclose(special.xlog1py(fl.tensor([0.0, 2.0, 3.0, 1.0, 0.0], dtype=fl.float64), y).tolist(), [0, -inf, 3e-20, nan, nan], rtol=1e-14)
    np.testing.assert_allclose(special.xlog1py(fl.tensor([0.0, 2.0]), 1.0).tolist(), [0, 2 * math.log(2)], rtol=1e-6)
    np.testing.assert_allclose(special.xlog1py(3.0, fl.tensor([1.0])).tolist(), [3 * math.log(2)], rtol=1e-6)
    assert special.entr(fl.tensor([1, 0])).tolist() == [0, 0] and special.ndtr(fl.tensor([0])).tolist() == [0.5]


def test_names_of_the_package():
    x = fl.tensor([[0.25, 0.5]])
    for name in "erf erfc erfinv exp2 expm1 log1p sinc logit round".split():
        assert fl.equal(getattr(special, name)(x), getattr(fl, name)(x))
    assert fl.equal(special.expit(x), x.sigmoid()) and fl.equal(special.softmax(x, 1), x.softmax(1))
    assert fl.equal(special.log_softmax(x, 1, dtype=fl.float64), x.double().log_softmax(1)) and fl.equal(special.logsumexp(x, 1), x.logsumexp(1))
    assert special.xlogy(x, x).shape == (1, 2)


def test_gradients():
    x = fl.tensor([0.3, 1.0, 2.5], dtype=fl.float64, requires_grad=True)
    y = fl.tensor([0.0, -0.5, 3.0], dtype=fl.float64, requires_grad=True)
    for f in (special.entr, special.ndtr):
        assert fl.autograd.gradcheck(f, (x,))
    assert fl.autograd.gradcheck(special.xlog1py, (x, y))


def slopes(f, *arguments):
    leaves = [fl.tensor(a, dtype=fl.float64, requires_grad=True) for a in arguments]
    value = f(*leaves)
    return value.tolist(), [g.tolist() for g in fl.autograd.grad(value.sum(), leaves)]


@pytest.mark.parametrize("wrap", [lambda f: f, fl.compile], ids=["eager", "compiled"])
def test_edges(wrap):
    """x log(1 + y) has the slopes log(1 + y) and x / (1 + y), at x = 0 too where the logarithm is finite; -x log(x) is upright at 0."""
    y = [1.0, -0.5, 0.0, -1.0, -2.0, inf, nan]
    value, (by_x, by_y) = slopes(wrap(special.xlog1py), [0.0] * 7, y)
    np.testing.assert_array_equal(value, [0, 0, 0, 0, 0, 0, nan])
    np.testing.assert_allclose(by_x, [math.log(2), -math.log(2), 0, 0, 0, 0, nan], rtol=1e-14)
    np.testing.assert_array_equal(by_y, [0, 0, 0, 0, 0, 0, nan])
    for number, slope in ((1.0, math.log(2)), (-1.0, 0), (-2.0, 0), (inf, 0)):
        value, (by_x,) = slopes(wrap(lambda x, number=number: special.xlog1py(x, number)), [0.0, 0.0])
        assert value == [0, 0] and by_x == pytest.approx([slope] * 2, rel=1e-14), number
    assert math.isnan(special.xlog1py(fl.zeros(1), nan).item())
    value, (by_x,) = slopes(wrap(special.entr), [0.0, -0.0, -1.0, 1.0, nan])
    np.testing.assert_array_equal(value, [0, 0, -inf, 0, nan])
    np.testing.assert_array_equal(by_x, [inf, inf, 0, -1, nan])


def test_dtypes_stay():
    half = fl.tensor([0.0, 2.0], dtype=fl.float16)
    for number in (1.0, -1.0, -2.0, inf):
        assert special.xlog1py(half, number).dtype is fl.float16, number
        assert special.xlog1py(half.double(), number).dtype is fl.float64, number
        assert special.xlog1py(half.long(), number).dtype is fl.float32, number
    assert special.entr(half).dtype is fl.float16
    whole = fl.tensor([1, 2])
    for name in "entr erf erfc erfinv exp2 expit expm1 log1p logit ndtr sinc".split():
        assert getattr(special, name)(whole).dtype is fl.float32, name
    assert special.logsumexp(whole, 0).dtype is fl.float32 and special.round(whole).dtype is fl.int64
    for f in (special.softmax, special.log_softmax):
        assert f(whole, 0, dtype=fl.float32).dtype is fl.float32
        with pytest.raises(RuntimeError, match="expected a floating dtype"):
            f(whole, 0)


def test_compiled():
    x = fl.tensor([0.0, 0.5, 2.0])
    both = fl.compile(lambda x: (special.entr(x), special.ndtr(x), special.xlog1py(x, x)))
    for got, f in zip(both(x), (special.entr, special.ndtr, lambda x: special.xlog1py(x, x))):
        np.testing.assert_allclose(got.tolist(), f(x).tolist(), rtol=1e-6)


@pytest.mark.parametrize("rate", [0.0, 0.5, 9.5, 10.5, 200.0])
def test_poisson_numbers(rate):
    """Counts beside their probabilities: none is off by more than 5 standard deviations."""
    fl.manual_seed(0)
    n = 20000
    drawn = fl.poisson(fl.full([n], rate))
    assert drawn.dtype is fl.float32 and fl.equal(drawn, drawn.floor())
    counts = np.bincount(drawn.cpu().numpy().astype(int), minlength=1)
    for k, count in enumerate(counts):
        p = math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) if rate else float(k == 0)
        assert abs(count - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1, k
    assert drawn.mean().item() == pytest.approx(rate, abs=5 * math.sqrt(rate / n))


def test_poisson_by_element_and_wrong_use():
    fl.manual_seed(1)
    rates = fl.tensor([[0.0, 3.0], [1e6, 20.0]], dtype=fl.float64, requires_grad=True)
    drawn = fl.poisson(rates)
    assert drawn.shape == (2, 2) and drawn[0, 0].item() == 0 and drawn[1, 0].item() == pytest.approx(1e6, abs=6000) and not drawn.requires_grad
    a, b = (fl.poisson(rates, generator=fl.Generator().manual_seed(5)) for _ in range(2))
    assert fl.equal(a, b)
    for bad, message in ((fl.tensor([-1.0]), "not negative"), (fl.tensor([nan]), "finite"), (fl.tensor([1]), "floating")):
        with pytest.raises(RuntimeError, match=message):
            fl.poisson(bad)
    with pytest.raises(NotImplementedError, match="poisson"):
        fl.compile(fl.poisson)(fl.ones(2))


def test_draws_in_place():
    fl.manual_seed(0)
    x = fl.empty(20000).geometric_(0.25)
    assert x.amin().item() == 1 and x.mean().item() == pytest.approx(4, abs=0.15) and (x == 2).float().mean().item() == pytest.approx(0.1875, abs=0.015)
    x.cauchy_(2.0, 3.0)
    assert ((x > -1) & (x < 5)).float().mean().item() == pytest.approx(0.5, abs=0.02)
    x.log_normal_(0.5, 0.25)
    assert x.log().mean().item() == pytest.approx(0.5, abs=0.01) and x.log().std().item() == pytest.approx(0.25, abs=0.01)
    assert fl.empty(3, dtype=fl.int64).geometric_(0.5).dtype is fl.int64
    for call, message in ((lambda: x.geometric_(1.0), "p must lie"), (lambda: x.cauchy_(0, 0), "positive sigma"), (lambda: x.long().log_normal_(), "floating")):
        with pytest.raises(RuntimeError, match=message):
            call()
