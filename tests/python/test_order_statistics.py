"""Quantiles, histograms, extrema so far: values by hand or by NumPy in double precision, on any default device."""

import math

import numpy as np
import pytest

import fuselet as fl

nan, inf = math.nan, math.inf


def near(got, want, tolerance=1e-6):
    np.testing.assert_allclose(got.detach().cpu().numpy(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_are_numpys(interpolation):
    x, q = np.random.default_rng(0).standard_normal((3, 7, 4)), [0.0, 0.1, 0.5, 0.77, 1.0]
    for dim in (None, 0, 1, -1):
        for keepdim in (False, True):
            want = np.quantile(x, q, axis=dim, keepdims=keepdim, method=interpolation)
            near(fl.tensor(x).quantile(fl.tensor(q, dtype=fl.float64), dim, keepdim, interpolation=interpolation), want)
            near(fl.quantile(fl.tensor(x), 0.3, dim, keepdim, interpolation=interpolation),
                 np.quantile(x, 0.3, axis=dim, keepdims=keepdim, method=interpolation))


def test_quantiles_by_hand():
    x = fl.tensor([3.0, 1.0, 4.0, 2.0])  # rank 0.4 · 3 = 1.2
    got = {name: fl.quantile(x, 0.4, interpolation=name).item() for name in ("linear", "lower", "higher", "midpoint", "nearest")}
    assert got == {"linear": pytest.approx(2.2), "lower": 2, "higher": 3, "midpoint": 2.5, "nearest": 2}
    assert x.quantile(0.5, interpolation="nearest").item() == 3  # the rank 1.5 goes to the even one
    assert fl.quantile(fl.tensor(7.0), 0.2, keepdim=True).item() == 7 and x.quantile(fl.tensor([]), 0).shape == (0,)
    assert x.quantile(fl.tensor([0.0, 1.0]), keepdim=True).tolist() == [[1], [4]]


def test_nan_in_quantiles():
    x = fl.tensor([[1.0, nan, 3.0, 2.0], [4.0, 1.0, 2.0, 3.0], [nan, nan, nan, nan]])
    assert np.array_equal(x.quantile(0.5, 1).tolist(), [nan, 2.5, nan], equal_nan=True)
    assert np.array_equal(x.nanquantile(0.5, 1).tolist(), [2, 2.5, nan], equal_nan=True)
    assert x.nanquantile(fl.tensor([0.0, 1.0]), dim=0, keepdim=True).shape == (2, 1, 4)
    assert fl.tensor([1.0, inf, -inf]).quantile(0.5).item() == 1


def test_the_gradient_of_a_quantile_goes_to_its_neighbours():
    x = fl.tensor([3.0, 1.0, 4.0, 2.0], requires_grad=True)
    x.quantile(0.4).backward()
    near(x.grad, [0.2, 0, 0, 0.8])
    y = fl.tensor([[1.0, nan, 5.0]], requires_grad=True)
    y.nanquantile(0.75, 1).sum().backward()
    near(y.grad, [[0.25, 0, 0.75]])


def test_histograms():
    x = fl.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 4.0, -1.0, nan, 5.0])
    assert x.histc(4, 0, 4).tolist() == [2, 2, 1, 1] and x.histc(4, 0, 4).dtype is fl.float32
    assert fl.histc(fl.tensor([1.0, 2.0, 1.0, 4.0]), 3).tolist() == [2, 1, 1]  # the range of the elements
    assert fl.histc(fl.tensor([2.0, 2.0]), bins=4).tolist() == [0, 0, 2, 0]  # [1, 3]
    assert fl.histc(fl.zeros(0), 2).tolist() == [0, 0]
    draws = np.random.default_rng(0).standard_normal(5000)
    assert fl.histc(fl.tensor(draws), 20, -2, 2).tolist() == np.histogram(draws, 20, (-2, 2))[0].tolist()
    with pytest.raises(RuntimeError, match="not finite"):
        fl.tensor([1.0, inf]).histc(3)


def test_extrema_so_far():
    x = fl.tensor([2.0, 1.0, 2.0, 5.0, nan, 7.0, nan])
    values, at = x.cummax(0)
    assert np.array_equal(values.tolist(), [2, 2, 2, 5, nan, nan, nan], equal_nan=True)
    assert at.tolist() == [0, 0, 2, 3, 4, 4, 6] and at.dtype is fl.int64
    found = fl.tensor([[3, 1, 1], [2, 2, 0]]).cummin(dim=1)
    assert found.values.tolist() == [[3, 1, 1], [2, 2, 0]] and found.indices.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert fl.cummin(fl.tensor([[3, 1], [2, 2]]), 0).values.tolist() == [[3, 1], [2, 1]]
    assert fl.tensor(3.0).cummax(0).indices.item() == 0 and fl.zeros(0, 2).cummin(0).values.shape == (0, 2)
    long = np.random.default_rng(0).standard_normal((3, 100)).astype(np.float32)
    assert np.array_equal(fl.tensor(long).cummax(-1).values.cpu().numpy(), np.maximum.accumulate(long, 1))
    assert np.array_equal(fl.tensor(long).cummin(0).values.cpu().numpy(), np.minimum.accumulate(long, 0))


def test_the_gradient_of_an_extremum_goes_to_its_place():
    x = fl.tensor([2.0, 1.0, 2.0, 3.0], requires_grad=True)
    (x.cummax(0).values * fl.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert x.grad.tolist() == [11, 0, 100, 1000]
    x.grad = None
    (x.cummin(0).values * fl.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert x.grad.tolist() == [1, 1110, 0, 0]


def test_compiled():
    def f(x, q):
        low, (most, at) = x.nanquantile(q, 1), x.cummax(1)
        return low, most, at, x.histc(3, -1, 1), x.quantile(0.5)

    x, q = fl.tensor([[1.0, -0.5, 0.25], [0.0, 2.0, -1.0]]), fl.tensor([0.25, 1.0])
    for got, want in zip(fl.compile(f)(x, q), f(x, q)):
        assert got.tolist() == want.tolist()
    with pytest.raises(NotImplementedError, match="histc: without min and max"):
        fl.compile(lambda x: x.histc(3))(x)


def test_wrong_use():
    x = fl.ones(2, 3)
    for call, message in ((lambda: x.quantile(1.5), r"q must lie in \[0, 1\], got 1.5"), (lambda: x.quantile(fl.tensor([-0.1])), "elements of q"),
                          (lambda: x.quantile(fl.tensor([0.5], dtype=fl.float64)), "input's dtype"), (lambda: x.int().quantile(0.5), "float32 or float64"),
                          (lambda: x.quantile(0.5, interpolation="cubic"), "interpolation must be one of"), (lambda: fl.zeros(0).quantile(0.5), "no elements"),
                          (lambda: x.histc(0), "bins > 0"), (lambda: x.histc(2, 3, 1), "min <= max"), (lambda: x.int().histc(), "floating")):
        with pytest.raises(RuntimeError, match=message):
            call()
    for call in (lambda: x.cummax(2), lambda: x.cummin(-3), lambda: x.quantile(0.5, 2)):
        with pytest.raises(IndexError, match="out of range"):
            call()
