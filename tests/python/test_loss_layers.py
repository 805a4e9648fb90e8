"""Loss modules: values by hand, reductions, and the old arguments."""

import math

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F


@pytest.mark.parametrize("loss,inputs,want", [
    (nn.L1Loss(reduction="none"), ([1.0, -2.0], [0.0, 1.0]), [1, 3]),
    (nn.MSELoss(reduction="none"), ([1.0, -2.0], [0.0, 1.0]), [1, 9]),
    (nn.SmoothL1Loss(reduction="none", beta=2.0), ([1.0, 5.0], [0.0, 0.0]), [0.25, 4]),
    (nn.HuberLoss(reduction="none", delta=2.0), ([1.0, 5.0], [0.0, 0.0]), [0.5, 8]),
    (nn.BCELoss(reduction="none"), ([0.25, 0.5], [1.0, 0.0]), [math.log(4), math.log(2)]),
    (nn.BCELoss(weight=fl.tensor([2.0]), reduction="none"), ([0.25], [1.0]), [2 * math.log(4)]),
    (nn.BCEWithLogitsLoss(reduction="none"), ([0.0, 0.0], [1.0, 0.0]), [math.log(2)] * 2),
    (nn.BCEWithLogitsLoss(reduction="none", pos_weight=fl.tensor([3.0])), ([0.0, 0.0], [1.0, 0.0]), [3 * math.log(2), math.log(2)]),
    (nn.KLDivLoss(reduction="none"), ([math.log(0.5)], [0.25]), [0.25 * math.log(0.5)]),
    (nn.KLDivLoss(reduction="none", log_target=True), ([math.log(0.5)], [math.log(0.25)]), [0.25 * math.log(0.5)]),
    (nn.PoissonNLLLoss(reduction="none"), ([1.0], [2.0]), [math.e - 2]),
    (nn.PoissonNLLLoss(log_input=False, reduction="none"), ([2.0], [3.0]), [2 - 3 * math.log(2)]),
    (nn.GaussianNLLLoss(reduction="none"), ([1.0], [3.0], [2.0]), [0.5 * (math.log(2) + 2)]),
    (nn.HingeEmbeddingLoss(reduction="none"), ([0.5, 0.25], [1.0, -1.0]), [0.5, 0.75]),
    (nn.MarginRankingLoss(margin=0.5, reduction="none"), ([1.0, 1.0], [2.0, 0.0], [1.0, 1.0]), [1.5, 0]),
    (nn.SoftMarginLoss(reduction="none"), ([0.0], [1.0]), [math.log(2)]),
], ids=lambda v: type(v).__name__ if isinstance(v, nn.Module) else "")
def test_elements(loss, inputs, want):
    got = loss(*(fl.tensor(i) for i in inputs))
    assert got.tolist() == pytest.approx(want, rel=1e-5, abs=1e-6)


def test_vectors():
    a, b = fl.tensor([[1.0, 0.0], [1.0, 0.0]]), fl.tensor([[0.0, 2.0], [3.0, 0.0]])
    assert nn.CosineSimilarity()(a, b).tolist() == pytest.approx([0, 1])
    target = fl.tensor([1, -1])
    assert nn.CosineEmbeddingLoss(margin=0.25, reduction="none")(a, b, target).tolist() == pytest.approx([1, 0.75])
    far = fl.tensor([[4.0, 0.0]])
    assert nn.TripletMarginLoss(margin=1.0)(a[:1], far, fl.tensor([[1.0, 3.5]])).item() == pytest.approx(0.5, abs=1e-5)
    assert nn.PairwiseDistance()(a[:1], far).item() == pytest.approx(3, abs=1e-5)


def test_classes():
    logits, classes = fl.tensor([[0.0, math.log(3)], [0.0, 0.0]]), fl.tensor([1, 0])
    assert nn.CrossEntropyLoss()(logits, classes).item() == pytest.approx((math.log(4 / 3) + math.log(2)) / 2)
    weighted = nn.CrossEntropyLoss(weight=fl.tensor([1.0, 3.0]))
    assert weighted(logits, classes).item() == pytest.approx((math.log(2) + 3 * math.log(4 / 3)) / 4)
    assert nn.NLLLoss(fl.tensor([1.0, 3.0]))(logits.log_softmax(1), classes).item() == pytest.approx(weighted(logits, classes).item())
    assert list(weighted.state_dict()) == ["weight"] and list(nn.CrossEntropyLoss().state_dict()) == []
    assert nn.KLDivLoss(reduction="batchmean")(logits.log_softmax(1), fl.full((2, 2), 0.5)).item() == pytest.approx(
        sum(0.5 * (math.log(0.5) - math.log(q)) for q in (0.25, 0.75)) / 2, abs=1e-6)


def test_reductions_old_and_new():
    a, b = fl.tensor([1.0, 2.0]), fl.tensor([0.0, 0.0])
    assert nn.L1Loss(reduction="sum")(a, b).item() == 3 == nn.L1Loss(size_average=False)(a, b).item()
    assert nn.L1Loss()(a, b).item() == 1.5 == nn.L1Loss(size_average=True)(a, b).item()
    assert nn.L1Loss(reduce=False)(a, b).tolist() == [1, 2]
    with pytest.raises(ValueError, match="reduction"):
        nn.L1Loss(reduction="median")
    with pytest.raises(ValueError, match="delta"):
        nn.HuberLoss(delta=0.0)


def test_margins_of_many_classes():
    x = fl.tensor([[0.1, 0.2, 0.4, 0.8]], requires_grad=True)
    # Classes 3 and 0 against 1 and 2: (1 - (0.8 - 0.2)) + (1 - (0.8 - 0.4)) + (1 - (0.1 - 0.2)) + (1 - (0.1 - 0.4)), over 4.
    loss = nn.MultiLabelMarginLoss()(x, fl.tensor([[3, 0, -1, 1]]))
    assert loss.item() == pytest.approx((0.4 + 0.6 + 1.1 + 1.3) / 4)
    loss.backward()
    np.testing.assert_allclose(x.grad.tolist(), [[-0.5, 0.5, 0.5, -0.5]], rtol=1e-6)
    assert F.multilabel_margin_loss(x[0], fl.tensor([-1, 0, 0, 0])).item() == 0
    assert nn.MultiLabelMarginLoss(reduction="none")(x, fl.tensor([[3, 0, -1, 1]])).shape == (1,)
    assert nn.MultiMarginLoss()(fl.tensor([[1.0, 2.0, 0.5]]), fl.tensor([0])).item() == pytest.approx((2 + 0.5) / 3)
    assert nn.MultiMarginLoss(2, 0.5, fl.tensor([3.0, 1.0, 1.0]))(fl.tensor([[1.0, 2.0, 0.5]]), fl.tensor([0])).item() == pytest.approx(3 * 2.25 / 3)
    assert nn.MultiLabelSoftMarginLoss()(fl.zeros(2, 3), fl.ones(2, 3)).item() == pytest.approx(math.log(2))
    assert nn.MultiLabelSoftMarginLoss(fl.tensor([3.0, 0.0]))(fl.zeros(1, 2), fl.zeros(1, 2)).item() == pytest.approx(1.5 * math.log(2))
    compiled = fl.compile(lambda x: F.multilabel_margin_loss(x, fl.tensor([[3, 0, -1, 1]])))
    assert compiled(x).item() == pytest.approx(0.85)
    with pytest.raises(ValueError, match="p must be 1 or 2"):
        nn.MultiMarginLoss(3)
    with pytest.raises(RuntimeError, match="must have one shape"):
        F.multilabel_margin_loss(x, fl.tensor([3]))
    with pytest.raises(IndexError):
        F.multilabel_margin_loss(x, fl.tensor([[4, 0, -1, 1]])).item()


def test_triplets_by_another_distance():
    a, p, n = fl.tensor([[0.0, 0.0]]), fl.tensor([[1.0, 1.0]]), fl.tensor([[3.0, 0.0]])
    city = nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().sum(-1), margin=2.0)
    assert city(a, p, n).item() == 1  # 2 - 3 + 2
    assert nn.TripletMarginWithDistanceLoss()(a, p, n).item() == pytest.approx(nn.TripletMarginLoss()(a, p, n).item(), abs=1e-6)
    swapped = nn.TripletMarginWithDistanceLoss(swap=True, margin=2.0)
    assert swapped(a, p, n).item() == pytest.approx(2 + math.sqrt(2) - math.sqrt(5), abs=1e-5)
