"""Distances of all pairs of vectors: by the definition in double precision; gradients by hand and by finite differences."""

import math

import numpy as np
import pytest

import fuselet as fl


def by_definition(a, b, p):
    apart = np.abs(a[..., :, None, :] - b[..., None, :, :])
    if p == 0:
        return (apart != 0).sum(-1).astype(float)
    return apart.max(-1) if p == math.inf else (apart ** p).sum(-1) ** (1 / p)


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, math.inf])
def test_distances_by_definition(p):
    draws = np.random.default_rng(0)
    for left, right in (((5, 3), (4, 3)), ((2, 1, 5, 3), (3, 4, 3))):
        a, b = draws.standard_normal(left), draws.standard_normal(right)
        np.testing.assert_allclose(fl.cdist(fl.tensor(a), fl.tensor(b), p).cpu().numpy(), by_definition(a, b, p), rtol=1e-12)
    rows, columns = np.triu_indices(5, 1)
    np.testing.assert_allclose(fl.pdist(fl.tensor(a[0, 0]), p).cpu().numpy(), by_definition(a[0, 0], a[0, 0], p)[rows, columns], rtol=1e-12)


def test_near_vectors_lose_no_digits():
    """1000 and 1000 + 2^-10 are 2^-10 apart, which squares of them do not tell in float32."""
    x = fl.full([30, 2], 1000.0)
    assert (fl.cdist(x, x + 2.0 ** -10) == math.sqrt(2) * 2.0 ** -10).all().item()


def test_gradients():
    a = fl.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    b = fl.tensor([[0.0, 0.0]], requires_grad=True)
    fl.cdist(a, b).sum().backward()
    np.testing.assert_allclose(a.grad.tolist(), [[0, 0], [0.6, 0.8]], rtol=1e-6)  # 0 where the distance is 0
    np.testing.assert_allclose(b.grad.tolist(), [[-0.6, -0.8]], rtol=1e-6)
    x, y = fl.randn(3, 2, dtype=fl.float64, requires_grad=True), fl.randn(2, 2, dtype=fl.float64, requires_grad=True)
    for p in (1.5, 2, 3):
        assert fl.autograd.gradcheck(lambda x, y, p=p: fl.cdist(x, y, p), (x, y))
        assert fl.autograd.gradcheck(lambda x, p=p: fl.pdist(x, p), (x,))


def test_compiled_and_other_shapes():
    a, b = fl.randn(4, 3), fl.randn(5, 3)
    np.testing.assert_allclose(fl.compile(fl.cdist)(a, b).cpu().numpy(), fl.cdist(a, b).cpu().numpy(), rtol=1e-6)
    assert fl.cdist(fl.ones(2, 0), fl.ones(3, 0)).tolist() == [[0] * 3] * 2 and fl.cdist(fl.ones(0, 2), fl.ones(3, 2)).shape == (0, 3)
    assert fl.cdist(fl.ones(1, 2).bfloat16(), fl.zeros(1, 2).bfloat16(), 1).dtype is fl.bfloat16
    assert fl.pdist(fl.ones(1, 3)).shape == (0,)


def test_wrong_use():
    x = fl.ones(2, 3)
    for call, error, message in ((lambda: fl.cdist(x, fl.ones(2, 4)), RuntimeError, r"\[2, 3\] and \[2, 4\]"),
                                 (lambda: fl.cdist(x, x, -1), RuntimeError, "p must not be negative"),
                                 (lambda: fl.cdist(x[0], x), RuntimeError, "expected"), (lambda: fl.cdist(x.int(), x), RuntimeError, "floating"),
                                 (lambda: fl.cdist(x, x, compute_mode="fast"), ValueError, "compute_mode"),
                                 (lambda: fl.pdist(x[0]), RuntimeError, r"\(N, M\)")):
        with pytest.raises(error, match=message):
            call()
