"""Bags of embeddings: values and gradients by hand."""

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F


def table():
    return fl.tensor([[1.0, 8.0], [2.0, 4.0], [3.0, 2.0], [4.0, 1.0]], requires_grad=True)


def test_rows_of_a_matrix():
    w, bags = table(), fl.tensor([[0, 2], [3, 3]])
    assert F.embedding_bag(bags, w, mode="sum").tolist() == [[4, 10], [8, 2]]
    assert F.embedding_bag(bags, w).tolist() == [[2, 5], [4, 1]]
    assert F.embedding_bag(bags, w, mode="max").tolist() == [[3, 8], [4, 1]]
    F.embedding_bag(bags, w).sum().backward()
    assert w.grad.tolist() == [[0.5, 0.5], [0, 0], [0.5, 0.5], [1, 1]]


def test_stretches_of_a_vector():
    """The second bag is empty."""
    w, i, offsets = table(), fl.tensor([0, 2, 3, 1]), fl.tensor([0, 3, 3])
    assert F.embedding_bag(i, w, offsets, mode="sum").tolist() == [[8, 11], [0, 0], [2, 4]]
    np.testing.assert_allclose(F.embedding_bag(i, w, offsets).tolist(), [[8 / 3, 11 / 3], [0, 0], [2, 4]], rtol=1e-6)
    most = F.embedding_bag(i, w, offsets, mode="max")
    assert most.tolist() == [[4, 8], [0, 0], [2, 4]]
    most.sum().backward()
    assert w.grad.tolist() == [[0, 1], [1, 1], [0, 0], [1, 0]]
    ends = fl.tensor([0, 3, 3, 4])
    for mode in ("sum", "mean", "max"):
        assert F.embedding_bag(i, w, ends, mode=mode, include_last_offset=True).tolist() == F.embedding_bag(i, w, offsets, mode=mode).tolist()
    assert F.embedding_bag(i, w, fl.tensor([0, 3]), mode="sum", include_last_offset=True).tolist() == [[8, 11]]
    assert F.embedding_bag(i[:0], w, fl.tensor([0, 0])).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("arguments", [(fl.tensor([[0, 2, 3], [2, 2, 2]]), None), (fl.tensor([0, 2, 3, 2, 2, 2]), fl.tensor([0, 3]))],
                         ids=["rows", "stretches"])
def test_padding_counts_for_nothing(arguments):
    i, offsets = (None if t is None else t.to(fl.get_default_device()) for t in arguments)
    for padding in (2, -2):
        w = table()
        assert F.embedding_bag(i, w, offsets, mode="sum", padding_idx=padding).tolist() == [[5, 9], [0, 0]]
        mean = F.embedding_bag(i, w, offsets, padding_idx=padding)
        assert mean.tolist() == [[2.5, 4.5], [0, 0]]
        assert F.embedding_bag(i, -w, offsets, mode="max", padding_idx=padding).tolist() == [[-1, -1], [0, 0]]
        mean.sum().backward()
        assert w.grad.tolist() == [[0.5, 0.5], [0, 0], [0, 0], [0.5, 0.5]]


def test_indices_that_count_from_the_end():
    """The same as those from the front, for padding as well; bytes count fewer rows than there may be."""
    front, back, offsets = fl.tensor([0, 2, 3, 2, 2, 2]), fl.tensor([-4, -2, -1, 2, -2, 2]), fl.tensor([0, 3])
    for mode in ("sum", "mean", "max"):
        for padding in (None, 2, -2):
            for i, j, at in ((front, back, offsets), (front.view(2, 3), back.view(2, 3), None)):
                want, got = table(), table()
                whole = F.embedding_bag(i, want, at, mode=mode, padding_idx=padding)
                found = F.embedding_bag(j, got, at, mode=mode, padding_idx=padding)
                assert found.tolist() == whole.tolist()
                whole.sum().backward()
                found.sum().backward()
                assert got.grad.tolist() == want.grad.tolist()
    rows = fl.arange(300.0).view(300, 1)
    assert F.embedding_bag(fl.tensor([[3, 250]], dtype=fl.uint8), rows, mode="sum", padding_idx=250).tolist() == [[3]]


@pytest.mark.parametrize("wrap", [lambda f: f, fl.compile], ids=["eager", "compiled"])
def test_indices_out_of_range(wrap):
    for padding in (None, 0, 3):
        bag = wrap(lambda i, w, padding=padding: F.embedding_bag(i, w, mode="sum", padding_idx=padding))
        stretches = wrap(lambda i, w, at, padding=padding: F.embedding_bag(i, w, at, padding_idx=padding))
        for bad in (4, -5, 100, 7, -8):
            with pytest.raises(IndexError, match="out of range"):
                bag(fl.tensor([[0, bad]]), table()).tolist()
            with pytest.raises(IndexError, match="out of range"):
                stretches(fl.tensor([0, bad]), table(), fl.tensor([0])).tolist()


def test_weights_of_samples():
    w = table()
    factors = fl.tensor([[2.0, -1.0]], requires_grad=True)
    out = F.embedding_bag(fl.tensor([[0, 2]]), w, mode="sum", per_sample_weights=factors)
    assert out.tolist() == [[-1, 14]]
    out.sum().backward()
    assert factors.grad.tolist() == [[9, 5]] and w.grad.tolist() == [[2, 2], [0, 0], [-1, -1], [0, 0]]


def test_the_layer():
    layer = nn.EmbeddingBag(5, 3, mode="sum", padding_idx=-1)
    assert layer.padding_idx == 4 and layer.weight[4].tolist() == [0, 0, 0] and list(layer.state_dict()) == ["weight"]
    assert repr(layer) == "EmbeddingBag(5, 3, mode='sum', padding_idx=4)"
    made = nn.EmbeddingBag.from_pretrained(table().detach(), mode="max")
    assert not made.weight.requires_grad and made(fl.tensor([1, 2]), fl.tensor([0])).tolist() == [[3, 4]]
    with pytest.raises(NotImplementedError, match="max_norm"):
        nn.EmbeddingBag(5, 3, max_norm=1.0)
    with pytest.raises(ValueError, match="padding_idx 5"):
        nn.EmbeddingBag(5, 3, padding_idx=5)


def test_compiled():
    def f(i, w, offsets):
        return tuple(F.embedding_bag(i, w, offsets, mode=mode, padding_idx=1) for mode in ("sum", "mean", "max"))

    i, w, offsets = fl.tensor([0, 2, 3, 1]), table(), fl.tensor([0, 3, 3])
    for got, want in zip(fl.compile(f)(i, w, offsets), f(i, w, offsets)):
        assert got.tolist() == want.tolist()


def test_wrong_use():
    w, i = table(), fl.tensor([0, 1])
    for arguments, named, error, message in (
            ((i, w), {}, ValueError, "no offsets"), ((fl.tensor([[0]]), w, fl.tensor([0])), {}, ValueError, r"offsets of shape \[1\]"),
            ((i, w, fl.tensor([1])), {}, ValueError, "ascend from 0"), ((i, w, fl.tensor([0, 3])), {}, ValueError, "at most the number 2"),
            ((i, w, fl.tensor([0])), {"mode": "prod"}, ValueError, "mode must be"),
            ((i, w, fl.tensor([0])), {"per_sample_weights": fl.ones(2)}, ValueError, "need mode 'sum'"),
            ((i, w, fl.tensor([0])), {"padding_idx": 4}, RuntimeError, "padding_idx 4"),
            ((i, w, fl.tensor([0])), {"sparse": True}, NotImplementedError, "sparse"),
            ((i.float(), w, fl.tensor([0])), {}, RuntimeError, "integer indices")):
        with pytest.raises(error, match=message):
            F.embedding_bag(*arguments, **named)
