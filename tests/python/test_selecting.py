"""Results whose size depends on elements, folds by index, order with NaN: values stated."""

import math

import numpy as np
import pytest

import fuselet as fl

nan, inf = math.nan, math.inf


def test_nonzero_and_masks():
    x = fl.tensor([[0.0, 2.0, 0.0], [3.0, 0.0, nan]])
    assert fl.nonzero(x).tolist() == [[0, 1], [1, 0], [1, 2]] == fl.argwhere(x).tolist()
    assert [i.tolist() for i in fl.where(x != 0)] == [[0, 1, 1], [1, 0, 2]] == [i.tolist() for i in x.nonzero(as_tuple=True)]
    assert tuple(fl.nonzero(fl.tensor(5)).shape) == (1, 0) and fl.nonzero(fl.zeros(0, 2)).tolist() == []
    assert x.masked_select(x > 0).tolist() == [2, 3]
    assert x.masked_select(fl.tensor([True, False, False])).tolist() == [0, 3]
    assert fl.zeros(2, 2).masked_scatter(fl.tensor([[True, False], [True, True]]), fl.arange(1.0, 9.0)).tolist() == [[1, 0], [2, 3]]
    with pytest.raises(RuntimeError, match="masked_scatter: 1 elements for 2 places"):
        fl.zeros(2).masked_scatter(fl.tensor([True, True]), fl.ones(1))
    v = fl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (v.masked_select(fl.tensor([True, False, True])) * fl.tensor([5.0, 7.0])).sum().backward()
    assert v.grad.tolist() == [5, 0, 7]


def test_unique_and_counts():
    x = fl.tensor([[3, 1, 3], [2, 1, 3]])
    values, inverse, counts = fl.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 2, 3] and counts.tolist() == [2, 1, 3]
    assert inverse.tolist() == [[2, 0, 2], [1, 0, 2]]
    assert fl.unique(fl.tensor([])).tolist() == []
    rows, counts = fl.unique(fl.tensor([[1, 2], [0, 9], [1, 2]]), return_counts=True, dim=0)
    assert rows.tolist() == [[0, 9], [1, 2]] and counts.tolist() == [1, 2]
    values, runs, lengths = fl.unique_consecutive(fl.tensor([1, 1, 2, 2, 2, 1]), return_inverse=True, return_counts=True)
    assert (values.tolist(), runs.tolist(), lengths.tolist()) == ([1, 2, 1], [0, 0, 1, 1, 1, 2], [2, 3, 1])
    assert fl.bincount(fl.tensor([1, 3, 1]), minlength=6).tolist() == [0, 2, 0, 1, 0, 0]
    assert fl.bincount(fl.tensor([1, 0, 1]), fl.tensor([0.5, 1.0, 2.0])).tolist() == [1, 2.5]
    assert fl.bincount(fl.tensor([], dtype=fl.int64)).tolist() == []


def test_sizes_that_depend_on_elements_are_refused_in_compiled_functions():
    x = fl.tensor([1.0, 0.0, 2.0])
    for name, f in (("nonzero", fl.nonzero), ("masked_select", lambda t: t.masked_select(t > 0)), ("unique", fl.unique),
                    ("bincount", lambda t: fl.bincount(t.long())), ("indexing with a mask", lambda t: t[t > 0]),
                    ("repeat_interleave", lambda t: t.repeat_interleave(t.long()))):
        with pytest.raises(NotImplementedError, match=name):
            fl.compile(f)(x)
    assert fl.nonzero(x).tolist() == [[0], [2]]  # and works on afterwards


def test_buckets():
    edges = fl.tensor([1.0, 3.0, 5.0])
    assert fl.bucketize(fl.tensor([0.0, 1.0, 3.5, 9.0, nan]), edges).tolist() == [0, 0, 2, 3, 3]
    assert fl.bucketize(fl.tensor([1.0, 3.0]), edges, right=True).tolist() == [1, 2]
    rows = fl.tensor([[1, 3, 5], [2, 4, 6]])
    assert fl.searchsorted(rows, fl.tensor([[3, 6], [3, 6]])).tolist() == [[1, 3], [1, 2]]
    assert fl.searchsorted(fl.zeros(0), fl.ones(2)).tolist() == [0, 0]


def test_folds_by_index():
    """The fold of what is there and all that comes in; without include_self, of what comes in alone."""
    x, at, src = fl.tensor([1.0, 2.0, 3.0]), fl.tensor([0, 0, 2]), fl.tensor([5.0, -7.0, 2.0])
    with_self = {"sum": [-1, 2, 5], "prod": [-35, 2, 6], "mean": [-1 / 3, 2, 2.5], "amax": [5, 2, 3], "amin": [-7, 2, 2]}
    without = {"sum": [-2, 2, 2], "prod": [-35, 2, 2], "mean": [-1, 2, 2], "amax": [5, 2, 2], "amin": [-7, 2, 2]}
    for fold in with_self:
        np.testing.assert_allclose(x.scatter_reduce(0, at, src, fold).numpy(), with_self[fold], rtol=1e-6)
        np.testing.assert_allclose(x.scatter_reduce(0, at, src, fold, include_self=False).numpy(), without[fold], rtol=1e-6)
    assert fl.tensor([7, 7]).scatter_reduce(0, fl.tensor([0, 0]), fl.tensor([1, 4]), "mean", include_self=False).tolist() == [2, 7]
    assert fl.scatter_reduce(fl.tensor([1.0]), 0, fl.tensor([0]), fl.tensor([nan]), "amax").isnan().all()


def test_gradients_of_folds():
    """A tie shares the gradient; a product with one zero has a slope there alone."""
    x = fl.tensor([2.0], requires_grad=True)
    src = fl.tensor([2.0, 1.0], requires_grad=True)
    x.scatter_reduce(0, fl.tensor([0, 0]), src, "amax").sum().backward()
    assert x.grad.tolist() == [0.5] and src.grad.tolist() == [0.5, 0]
    x = fl.tensor([3.0], requires_grad=True)
    src = fl.tensor([0.0, 5.0], requires_grad=True)
    x.scatter_reduce(0, fl.tensor([0, 0]), src, "prod").sum().backward()
    assert x.grad.tolist() == [0] and src.grad.tolist() == [15, 0]


def test_writes_through_equal_indices():
    """The last one wins and has the whole gradient; with accumulate they add up, in float32 for 16 bits."""
    src = fl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    out = fl.zeros(2).index_copy(0, fl.tensor([1, 1, 1]), src)
    out.sum().backward()
    assert out.tolist() == [0, 3] and src.grad.tolist() == [0, 0, 1]
    src.grad = None
    fl.zeros(2).scatter(0, fl.tensor([0, 1, 0]), src).sum().backward()
    assert src.grad.tolist() == [0, 1, 1]
    x = fl.zeros(1, dtype=fl.bfloat16)
    x.index_put_((fl.zeros(1000, dtype=fl.int64),), fl.tensor(1.0, dtype=fl.bfloat16), accumulate=True)
    assert x.item() == 1000


def test_order_of_nan_zeros_and_equal_elements():
    x = fl.tensor([0.0, nan, -inf, -0.0, inf, nan])
    assert x.argsort().tolist() == [2, 0, 3, 4, 1, 5]
    assert x.argsort(descending=True).tolist() == [1, 5, 4, 0, 3, 2]
    assert x.topk(2).indices.tolist() == [1, 5]
    values, at = fl.tensor([2, 1, 2]).sort(descending=True)
    assert values.tolist() == [2, 2, 1] and at.tolist() == [0, 2, 1]
    assert fl.tensor([2**62, -2**63, 2**62 - 1]).argsort().tolist() == [1, 2, 0]
    v = fl.tensor([3.0, 1.0, 2.0], requires_grad=True)
    (v.sort().values * fl.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert v.grad.tolist() == [100, 1, 10]


def test_long_lines_are_sorted():
    x = np.random.default_rng(0).standard_normal((3, 5000)).astype(np.float32)
    np.testing.assert_array_equal(fl.tensor(x).argsort().numpy(), np.argsort(x, kind="stable"))


def test_wrong_use():
    x = fl.zeros(3, 2)
    with pytest.raises(IndexError, match="scatter: index 3 is out of range for size 3"):
        x.scatter(0, fl.tensor([[3]]), 1.0)
    with pytest.raises(RuntimeError, match="scatter_reduce: reduce"):
        x.scatter_reduce(0, fl.tensor([[0]]), fl.ones(1, 1), "median")
    with pytest.raises(RuntimeError, match="kthvalue: k = 0"):
        x.kthvalue(0, 0)
    with pytest.raises(IndexError):
        x.argsort(2)
