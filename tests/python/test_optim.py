"""Optimizers and schedules by their formulas."""

import math

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn, optim


def run(opt, p, grads):
    out = []
    for g in grads:
        p.grad = fl.tensor(g)
        opt.step()
        out.append(p.tolist())
    return out


def test_adamw_decays_before_the_update():
    """The decay shrinks the parameter before the update."""
    p = fl.tensor([1.0], requires_grad=True)
    opt = optim.AdamW([p], lr=0.1, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1)
    first, second = run(opt, p, [[0.5], [-0.25]])
    assert first == pytest.approx([0.89], abs=1e-6) and second == pytest.approx([0.8544663], abs=1e-6)
    p = fl.tensor([1.0], requires_grad=True)
    first, second = run(optim.Adam([p], lr=0.1, weight_decay=0.1), p, [[0.5], [-0.25]])
    assert first == pytest.approx([0.9], abs=1e-6) and second == pytest.approx([0.8544414], abs=1e-6)


@pytest.mark.parametrize("nesterov,damping", [(False, 0.0), (False, 0.5), (True, 0.0)])
def test_sgd_against_its_formula(nesterov, damping):
    p = fl.tensor([1.0, -2.0], requires_grad=True)
    opt = optim.SGD([p], lr=0.1, momentum=0.9, dampening=damping, weight_decay=0.01, nesterov=nesterov)
    x, buffer = np.array([1.0, -2.0]), None
    for g in ([1.0, 2.0], [0.5, -1.0], [3.0, 0.0]):
        d = np.array(g) + 0.01 * x
        buffer = d if buffer is None else 0.9 * buffer + (1 - damping) * d
        x = x - 0.1 * (d + 0.9 * buffer if nesterov else buffer)
        assert run(opt, p, [g])[0] == pytest.approx(x.tolist(), rel=1e-5)


def test_plain_sgd_and_missing_gradients():
    p, q = nn.Parameter(fl.ones(1)), nn.Parameter(fl.ones(1))
    opt = optim.SGD([p, q], lr=0.5)
    p.grad = fl.ones(1)
    opt.step()
    assert p.tolist() == [0.5] and q.tolist() == [1]
    opt.zero_grad()
    assert p.grad is None


def test_step_counts_belong_to_parameters():
    p, q = nn.Parameter(fl.ones(1)), nn.Parameter(fl.ones(1))
    opt = optim.Adam([p, q], lr=0.1)
    alone = nn.Parameter(fl.ones(1))
    other = optim.Adam([alone], lr=0.1)
    for step in range(4):
        p.grad = fl.ones(1)
        q.grad = fl.full((1,), 0.3) if step >= 2 else None
        opt.step()
        if step >= 2:
            alone.grad = fl.full((1,), 0.3)
            other.step()
    assert q.tolist() == alone.tolist()
    steps = {i: s["step"] for i, s in opt.state_dict()["state"].items()}
    assert steps == {0: 4, 1: 2}


def test_groups_and_changing_the_learning_rate():
    a, b = nn.Parameter(fl.zeros(1)), nn.Parameter(fl.zeros(1))
    opt = optim.SGD([{"params": [a], "lr": 1.0}, {"params": [b]}], lr=0.1)
    for p in (a, b):
        p.grad = fl.ones(1)
    opt.step()
    opt.param_groups[1]["lr"] = 2.0
    opt.step()
    assert a.tolist() == [-2] and b.tolist() == pytest.approx([-2.1])
    with pytest.raises(ValueError, match="twice"):
        optim.SGD([a, a], lr=0.1)
    with pytest.raises(ValueError, match="empty"):
        optim.SGD([], lr=0.1)
    with pytest.raises(ValueError, match="leaf"):
        optim.SGD([a * 2], lr=0.1)


def test_state_keeps_its_dtype():
    """Moments in float32 beside a bfloat16 parameter, step 257, resumed bit for bit."""
    def make():
        p = nn.Parameter(fl.tensor([1.0, -2.0, 0.5], dtype=fl.bfloat16))
        return p, optim.AdamW([p], lr=1e-2, state_dtype=fl.float32)

    def train(p, opt, steps, start):
        for i in range(start, start + steps):
            p.grad = (fl.tensor([math.sin(i), math.cos(i), 0.1])).to(fl.bfloat16)
            opt.step()

    p, opt = make()
    train(p, opt, 257, 0)
    saved = opt.state_dict()
    assert saved["state"][0]["step"] == 257 and saved["state"][0]["exp_avg"].dtype is fl.float32
    q, opt2 = make()
    q.data = p.data.clone()
    opt2.load_state_dict(saved)
    again = opt2.state_dict()["state"][0]
    for name in ("exp_avg", "exp_avg_sq"):
        assert again[name].dtype is fl.float32 and fl.equal(again[name], saved["state"][0][name])
        assert not again[name]._shares_memory(saved["state"][0][name])
    train(p, opt, 257, 257)
    train(q, opt2, 257, 257)
    assert p.tolist() == q.tolist()
    assert fl.equal(opt.state_dict()["state"][0]["exp_avg_sq"], opt2.state_dict()["state"][0]["exp_avg_sq"])


def test_loading_a_state_that_does_not_fit_changes_nothing():
    p = nn.Parameter(fl.ones(2))
    opt = optim.Adam([p], lr=0.1)
    run(opt, p, [[1.0, 1.0]])
    saved = opt.state_dict()
    bad = {"state": {0: {"step": 9.0, "exp_avg": fl.zeros(3), "exp_avg_sq": fl.zeros(2)}}, "param_groups": saved["param_groups"]}
    with pytest.raises(ValueError, match="exp_avg"):
        opt.load_state_dict(bad)
    assert opt.state_dict()["state"][0]["step"] == 1
    with pytest.raises(ValueError, match="groups"):
        opt.load_state_dict({"state": {}, "param_groups": []})


def test_schedules():
    p = nn.Parameter(fl.zeros(1))

    def rates(make, n):
        opt = optim.SGD([p], lr=1.0)
        schedule, out = make(opt), []
        for _ in range(n):
            out.append(opt.param_groups[0]["lr"])
            schedule.step()
        return out

    assert rates(lambda o: optim.lr_scheduler.StepLR(o, 2, 0.1), 5) == pytest.approx([1, 1, 0.1, 0.1, 0.01])
    assert rates(lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 4), 5) == pytest.approx(
        [(1 + math.cos(math.pi * i / 4)) / 2 for i in range(5)])
    assert rates(lambda o: optim.lr_scheduler.LambdaLR(o, lambda e: 1 / (e + 1)), 3) == pytest.approx([1, 0.5, 1 / 3])


def test_schedule_state():
    p = nn.Parameter(fl.zeros(1))
    opt = optim.SGD([p], lr=1.0)
    schedule = optim.lr_scheduler.CosineAnnealingLR(opt, 10)
    for _ in range(3):
        schedule.step()
    other = optim.SGD([p], lr=1.0)
    fresh = optim.lr_scheduler.CosineAnnealingLR(other, 10)
    fresh.load_state_dict(schedule.state_dict())
    assert other.param_groups[0]["lr"] == opt.param_groups[0]["lr"] and fresh.last_epoch == 3


def test_closure():
    p = nn.Parameter(fl.tensor([2.0]))
    opt = optim.SGD([p], lr=0.1)

    def closure():
        opt.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    assert opt.step(closure).item() == 4 and p.tolist() == pytest.approx([1.6])


def test_a_state_in_containers_is_copied():
    """An optimizer of the user's own may keep tensors in tuples, lists and dicts."""
    class Keeping(optim.Optimizer):
        def step(self, closure=None):
            (p,) = self.param_groups[0]["params"]
            self.state[p]["history"] = ([p.detach().clone(), {"norm": p.detach().norm()}], 3)

    p = nn.Parameter(fl.tensor([3.0, 4.0]))
    opt, other = Keeping([p], {}), Keeping([p], {})
    opt.step()
    other.load_state_dict(opt.state_dict())
    place, inner = opt.state[p]["history"][0]
    place.zero_()
    inner["norm"].zero_()
    inner["more"] = 1
    (place, inner), number = other.state[p]["history"]
    assert place.tolist() == [3, 4] and inner["norm"].item() == 5 and list(inner) == ["norm"] and number == 3
