"""Indexing and assignment against NumPy."""

import numpy as np
import pytest

import fuselet as fl

BASE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

CASES = [0, -1, (1, 2), (1, 2, 3), slice(None), slice(1, 2), (slice(None), slice(0, 3, 2)), (Ellipsis, 0), (0, Ellipsis),
         (None, 0), (slice(None), None, 1), (Ellipsis, None), (slice(None), -1, slice(1, -1)), (slice(5, 9),),
         ([0, 1, 0],), (slice(None), [2, 0]), (0, [1, 1]), ([1, 0], [2, -1]), (slice(None), [0, 2], [1, 3]),
         (slice(None), slice(None), [[0, 1], [2, -1]]), ([1, 0, 1], slice(None), [0, 3, 3]), (slice(1, 2), [[0], [2]], [1, -1]),
         ([1], Ellipsis, None, [2, 1]), (slice(None, None, 2), slice(2, None, 3), slice(-3, None)), (Ellipsis, [True, False, True, True]),
         (slice(None), [[True, False, False, True], [False] * 4, [True, True, False, False]]), (BASE > 5,), (BASE[:, :, 0] > 5,),
         (BASE[:, 0, 0] > 5, slice(None), 1), (slice(None), BASE[0, :, 0] > 3, [0]), (BASE > 99,), (range(2), 1), (True,), ([],)]


@pytest.mark.parametrize("index", CASES, ids=str)
def test_reading_agrees_with_numpy(index):
    got = fl.tensor(BASE)[index]
    want = BASE[index]
    assert tuple(got.shape) == want.shape
    np.testing.assert_array_equal(got.cpu().numpy(), want)


@pytest.mark.parametrize("index", CASES, ids=str)
def test_writing_agrees_with_numpy(index):
    t, a = fl.tensor(BASE), BASE.copy()
    t[index] = -1.0
    a[index] = -1.0
    np.testing.assert_array_equal(t.cpu().numpy(), a)
    value = np.random.default_rng(0).random(a[index].shape).astype(np.float32)
    if not (isinstance(index, tuple) and any(isinstance(i, list) and len(set(map(str, i))) < len(i) for i in index)):
        t[index] = fl.tensor(value)
        a[index] = value
        np.testing.assert_array_equal(t.cpu().numpy(), a)


def test_index_tensors_numpy_arrays_and_zero_dim_tensors():
    t = fl.tensor(BASE)
    np.testing.assert_array_equal(t[fl.tensor([1, 0])].cpu().numpy(), BASE[[1, 0]])
    np.testing.assert_array_equal(t[np.array([1, 0])].cpu().numpy(), BASE[[1, 0]])
    np.testing.assert_array_equal(t[fl.tensor(1)].cpu().numpy(), BASE[1])


def test_views_share_memory_and_ints_disappear():
    t = fl.zeros(2, 3)
    t[0][1] = 5
    row = t[1]
    row += 2
    assert t.tolist() == [[0, 5, 0], [2, 2, 2]]


def test_errors():
    t = fl.zeros(2, 3)
    with pytest.raises(IndexError, match="out of range"):
        t[2]
    with pytest.raises(IndexError):
        t[0, 0, 0]
    with pytest.raises(IndexError, match="index 5 is out of range for dimension 1 of size 3"):
        t[:, [5]]
    with pytest.raises(IndexError, match=r"the mask has shape \[3\] but the tensor has shape \[2, 3\]"):
        t[fl.tensor([True, False, True])]
    with pytest.raises(IndexError, match="integer dtype"):
        t[fl.tensor([0.5])]
    with pytest.raises(IndexError, match="uint8"):
        t[fl.tensor([1, 0], dtype=fl.uint8)]
    with pytest.raises(IndexError, match="index 2 is out of range for dimension 0 of size 2"):
        t[[0, 2], [1, 1]]
    with pytest.raises(RuntimeError, match=r"\[3\]"):
        t[[0, 1], [1, 1]] = fl.zeros(3)
    with pytest.raises(RuntimeError, match="positive"):
        t[::-1]
    with pytest.raises(TypeError):
        t["a"]


def test_mask_assignment():
    t = fl.tensor([[1.0, -2.0], [-3.0, 4.0]])
    t[t < 0] = 0.0
    assert t.tolist() == [[1, 0], [0, 4]]
    t[fl.tensor([True, False])] = 7
    assert t.tolist() == [[7, 7], [0, 4]]


def test_mask_assignment_of_several_values():
    t = fl.zeros(2, 3)
    mask = fl.tensor([[True, False, True], [False, True, False]])
    t[mask] = fl.tensor([1.0, 2.0, 3.0])
    assert t.tolist() == [[1, 0, 2], [0, 3, 0]]
    t[:, fl.tensor([True, False, True])] = fl.tensor([[7.0], [8.0]])
    assert t.tolist() == [[7, 0, 7], [8, 3, 8]]
    flags = fl.zeros(3, dtype=fl.bool)
    flags[[0, 2]] = True
    assert flags.tolist() == [True, False, True]
    with pytest.raises(RuntimeError):
        t[mask] = fl.zeros(2)


def test_gradients_of_reading_and_writing():
    x = fl.tensor(BASE, dtype=fl.float64, requires_grad=True)
    for read in (lambda t: t[[1, 0, 1], :, [0, 3, 3]], lambda t: t[t.detach() > 5.5], lambda t: t[:, [[0], [2]], [1, -1]]):
        fl.autograd.gradcheck(read, x)

    def write(t, values):
        out = t * 2
        out[[1, 0], :, [0, 3]] = values
        out[out.detach() > 40] = 1.5
        return out

    fl.autograd.gradcheck(write, (x, fl.tensor(BASE[:, :, 0] + 0.5, dtype=fl.float64, requires_grad=True)))


def test_compiled_indexing():
    """Reading and writing through index tensors that the function computes; the last of equal indices wins."""

    def f(x, i, v):
        y = x.clone()
        y[i + 1] += 1
        y[:, i] = v
        y[x > 10] = -1.0
        return y, x[i, i + 1], x[..., i % 2]

    x, i, v = fl.tensor(BASE[0]), fl.tensor([1, 0, 1]), fl.tensor([1.0, 2.0, 3.0])
    want = BASE[0].copy()
    want[[2, 1]] += 1
    want[:, [1, 0]] = [3, 2]
    want[BASE[0] > 10] = -1
    for run in (f, fl.compile(f)):
        written, picked, columns = run(x, i, v)
        np.testing.assert_array_equal(written.cpu().numpy(), want)
        np.testing.assert_array_equal(picked.cpu().numpy(), BASE[0][[1, 0, 1], [2, 1, 2]])
        np.testing.assert_array_equal(columns.cpu().numpy(), BASE[0][:, [1, 0, 1]])


def test_duplicate_indices():
    """Accumulate adds up, gather's gradient adds up, += reads, modifies and writes."""
    x = fl.zeros(4)
    x.index_put_((fl.tensor([1, 1, 3]),), fl.tensor(0.5), accumulate=True)
    assert x.tolist() == [0, 1, 0, 0.5]
    v = fl.tensor([10.0, 20.0], requires_grad=True)
    v[fl.tensor([0, 0, 1])].sum().backward()
    assert v.grad.tolist() == [2, 1]
    y = fl.zeros(3)
    y[fl.tensor([0, 0])] += 1
    assert y.tolist() == [1, 0, 0]


def test_writes_to_expanded_tensors():
    """An in-place operator on an expanded tensor raises and writes nothing; one element may be written."""
    b = fl.ones(1)
    e = b.expand(4)
    with pytest.raises(RuntimeError, match="clone"):
        e += 1
    assert b.tolist() == [1]
    x = fl.arange(3.0)
    y = x.expand(4, 3)
    y[2, 1] = 7.0
    assert x.tolist() == [0, 7, 2] and y.tolist() == [[0, 7, 2]] * 4


def test_iteration_and_length():
    t = fl.tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in t] == [[1, 2], [3, 4]]
    assert len(t) == 2 and 3 in t and 9 not in t
    with pytest.raises(TypeError):
        len(fl.tensor(1))
    with pytest.raises(TypeError):
        iter(fl.tensor(1))
