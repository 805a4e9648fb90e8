"""The CTC loss: the sum over all alignments, written out; gradients by finite differences."""

import itertools
import math

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F


def probability(p, target, blank=0):
    """Of probabilities p (T, C): the sum over all paths that give the target when repeats and then blanks are taken out."""
    total = 0.0
    for path in itertools.product(range(p.shape[1]), repeat=p.shape[0]):
        seen = [c for c, _ in itertools.groupby(path) if c != blank]
        if seen == list(target):
            total += math.prod(p[t, c] for t, c in enumerate(path))
    return total


def logs(times, n, classes, seed=0):
    return fl.tensor(np.random.default_rng(seed).standard_normal((times, n, classes))).log_softmax(-1)


@pytest.mark.parametrize("blank", [0, 2])
def test_all_alignments(blank):
    """Samples of other lengths, a repeated class, an empty target."""
    x = logs(5, 4, 3)
    a, b = [c for c in range(3) if c != blank]
    targets, input_lengths, target_lengths = [[a, b, a], [a, a, b], [b, a, a], [b, b, b]], [5, 4, 3, 2], [3, 2, 1, 0]
    p = x.exp().cpu().numpy()
    want = [-math.log(probability(p[:t, i], targets[i][:s], blank)) for i, (t, s) in enumerate(zip(input_lengths, target_lengths))]
    got = F.ctc_loss(x, fl.tensor(targets), input_lengths, target_lengths, blank, "none")
    np.testing.assert_allclose(got.tolist(), want, rtol=1e-10)
    flat = fl.tensor([c for t, s in zip(targets, target_lengths) for c in t[:s]])
    lengths = fl.tensor(input_lengths), fl.tensor(target_lengths)
    np.testing.assert_allclose(F.ctc_loss(x, flat, *lengths, blank, "none").tolist(), want, rtol=1e-10)
    assert F.ctc_loss(x, flat, *lengths, blank, "sum").item() == pytest.approx(sum(want))
    assert nn.CTCLoss(blank)(x, flat, *lengths).item() == pytest.approx(np.mean([w / max(s, 1) for w, s in zip(want, target_lengths)]))
    alone = F.ctc_loss(x[:, 0], fl.tensor(targets[0]), 5, 3, blank, "none")
    assert alone.shape == () and alone.item() == pytest.approx(want[0])


def test_gradients():
    x = fl.randn(4, 2, 3, dtype=fl.float64, requires_grad=True)
    targets = fl.tensor([[1, 1], [2, 1]])
    assert fl.autograd.gradcheck(lambda x: F.ctc_loss(x.log_softmax(-1), targets, (4, 3), (2, 1), reduction="sum"), (x,))
    assert fl.autograd.gradcheck(lambda x: F.ctc_loss(x, targets, (4, 3), (2, 1), reduction="sum"), (x,))  # no logarithms of probabilities


def test_what_cannot_be():
    """Two equal targets need three steps: the loss is infinite, with zero_infinity 0, and the gradient 0."""
    x = logs(2, 2, 3).requires_grad_()
    losses = F.ctc_loss(x, fl.tensor([[1, 1], [1, 2]]), (2, 2), (2, 2), reduction="none")
    assert losses[0].item() == math.inf and losses[1].item() == pytest.approx(-(x[0, 1, 1] + x[1, 1, 2]).item())
    F.ctc_loss(x, fl.tensor([[1, 1], [1, 2]]), (2, 2), (2, 2), reduction="sum", zero_infinity=True).backward()
    assert x.grad[:, 0].abs().max().item() == 0 and x.grad[:, 1].sum().item() == pytest.approx(-2)
    assert F.ctc_loss(x, fl.tensor([[1, 1], [1, 2]]), (0, 0), (0, 1), reduction="none").tolist() == [0, math.inf]
    impossible = fl.tensor([[[0.0, -math.inf]], [[0.0, -math.inf]]])
    assert F.ctc_loss(impossible, fl.tensor([[1]]), (2,), (1,)).item() == math.inf


def test_compiled():
    x, targets = logs(4, 2, 3).float().requires_grad_(), fl.tensor([[1, 1], [2, 1]])
    wants = F.ctc_loss(x, targets, (4, 3), (2, 1))
    (slope,) = fl.autograd.grad(wants, x)
    got = fl.compile(lambda x: F.ctc_loss(x, targets, (4, 3), (2, 1)))(x)
    assert got.item() == pytest.approx(wants.item(), rel=1e-5)
    np.testing.assert_allclose(fl.autograd.grad(got, x)[0].cpu().numpy(), slope.cpu().numpy(), atol=1e-5)


def test_targets_in_one_vector_compiled():
    x, flat = logs(4, 2, 3), fl.tensor([1, 1, 2])
    want = F.ctc_loss(x, flat, (4, 3), (2, 1), reduction="none").tolist()
    got = fl.compile(lambda x, t: F.ctc_loss(x, t, (4, 3), (2, 1), reduction="none"))(x, flat)
    np.testing.assert_allclose(got.tolist(), want, rtol=1e-10)
    with pytest.raises(NotImplementedError, match="need their lengths on the host"):
        fl.compile(lambda x, t, n: F.ctc_loss(x, t, (4, 3), n))(x, flat, fl.tensor([2, 1]))


@pytest.mark.parametrize("wrap", [lambda f: f, fl.compile], ids=["eager", "compiled"])
def test_targets_that_are_no_class(wrap):
    """Those behind a target's length do not count."""
    x = logs(4, 2, 3)
    loss = wrap(lambda x, t: F.ctc_loss(x, t, (4, 4), (2, 1), reduction="none"))
    for bad in (3, 100, -1, -3, -4):
        for targets in ([[1, bad], [2, 1]], [[1, 1], [bad, 1]], [1, bad, 2]):
            with pytest.raises(IndexError, match="out of range"):
                loss(x, fl.tensor(targets)).tolist()
        assert loss(x, fl.tensor([[1, 2], [2, bad]])).tolist() == loss(x, fl.tensor([[1, 2], [2, 1]])).tolist()


def test_lengths_in_sequences_are_checked_in_a_compiled_function():
    x, targets = logs(4, 2, 3), fl.tensor([[1, 1], [2, 1]])
    for lengths, message in ((((5, 4), (2, 1)), r"input_lengths must lie in \[0, 4\], got \[5, 4\]"), (((4, -1), (2, 1)), "input_lengths must lie"),
                             (((4, 4), (3, 1)), r"target_lengths must lie in \[0, 2\]"), (((4, 4), (2, -1)), "target_lengths must lie")):
        for call in (F.ctc_loss, fl.compile(lambda x, t, *lengths: F.ctc_loss(x, t, *lengths))):
            with pytest.raises(RuntimeError, match=message):
                call(x, targets, *lengths)


def test_wrong_use():
    x, targets = logs(4, 2, 3), fl.tensor([[1, 1], [2, 1]])
    for arguments, message in (((x, targets, (5, 4), (2, 1)), r"input_lengths must lie in \[0, 4\]"), ((x, targets, (4, 4), (3, 1)), "target_lengths must lie"),
                               ((x, targets, (4,), (2, 1)), "expected 2 input_lengths"), ((x, targets, (4, 4), (2, 1), 3), "blank 3"),
                               ((x, targets.double(), (4, 4), (2, 1)), "integer targets"), ((x, targets[0], (4, 4), (2, 1)), "2 targets for"),
                               ((x, targets[:1], (4, 4), (2, 1)), "targets"), ((x[0, 0], targets, (4, 4), (2, 1)), r"\(T, N, C\) or \(T, C\)")):
        with pytest.raises(RuntimeError, match=message):
            F.ctc_loss(*arguments)
    with pytest.raises(ValueError, match="reduction"):
        F.ctc_loss(x, targets, (4, 4), (2, 1), reduction="most")
