"""Schedules of the learning rate, by hand."""

import math

import pytest

import fuselet as fl
from fuselet import nn, optim
from fuselet.optim import lr_scheduler as S


def rates(make, n, lr=1.0, opt=None):
    opt = opt or optim.SGD([nn.Parameter(fl.zeros(1))], lr=lr, momentum=0.5)
    schedule, out = make(opt), []
    for _ in range(n):
        assert schedule.get_last_lr() == [opt.param_groups[0]["lr"]]
        out.append(opt.param_groups[0]["lr"])
        opt.step()
        schedule.step()
    return out


def cosine(t, whole):
    return (1 + math.cos(math.pi * t / whole)) / 2


@pytest.mark.parametrize("make,want", [
    (lambda o: S.StepLR(o, 2, 0.1), [1, 1, 0.1, 0.1, 0.01, 0.01]),
    (lambda o: S.MultiStepLR(o, [1, 3, 3], 0.5), [1, 0.5, 0.5, 0.125, 0.125]),
    (lambda o: S.ConstantLR(o, 0.25, 2), [0.25, 0.25, 1, 1]),
    (lambda o: S.LinearLR(o, 0.5, 1.0, 4), [0.5, 0.625, 0.75, 0.875, 1, 1, 1]),
    (lambda o: S.ExponentialLR(o, 0.5), [1, 0.5, 0.25, 0.125]),
    (lambda o: S.PolynomialLR(o, 4, 2.0), [1, 9 / 16, 4 / 16, 1 / 16, 0, 0, 0]),
    (lambda o: S.CosineAnnealingLR(o, 4, 0.2), [0.2 + 0.8 * cosine(t, 4) for t in range(10)]),
    (lambda o: S.CosineAnnealingWarmRestarts(o, 2, 2), [1, 0.5, 1, cosine(1, 4), 0.5, cosine(3, 4), 1, cosine(1, 8)]),
    (lambda o: S.LambdaLR(o, lambda e: 0.9 ** e), [1, 0.9, 0.81]),
    (lambda o: S.MultiplicativeLR(o, lambda e: e + 1), [1, 2, 6, 24]),
    (lambda o: S.CyclicLR(o, 0.1, 0.5, 2, cycle_momentum=False), [0.1, 0.3, 0.5, 0.3, 0.1, 0.3]),
    (lambda o: S.CyclicLR(o, 0.1, 0.5, 1, mode="triangular2"), [0.1, 0.5, 0.1, 0.3, 0.1, 0.2]),
    (lambda o: S.OneCycleLR(o, 1.0, total_steps=11, pct_start=4 / 11, anneal_strategy="linear", div_factor=4, final_div_factor=5),
     [0.25, 0.5, 0.75, 1.0] + [1 - 0.95 * k / 7 for k in range(1, 8)]),
    (lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 99), S.ExponentialLR(o, 0.5)], [2]), [0.1, 0.1, 1, 0.5, 0.25]),
    (lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.5)]), [0.1, 0.05, 0.25, 0.125]),
], ids=lambda v: None)
def test_rates(make, want):
    assert rates(make, len(want)) == pytest.approx(want, abs=1e-12)


def test_momentum_cycles_the_other_way():
    opt = optim.AdamW([nn.Parameter(fl.zeros(1))], lr=1.0)
    schedule = S.OneCycleLR(opt, 1.0, total_steps=10, pct_start=0.5, base_momentum=0.8, max_momentum=0.9)
    betas = []
    for _ in range(9):
        betas.append(opt.param_groups[0]["betas"])
        schedule.step()
    assert betas[0] == (pytest.approx(0.9), 0.999) and betas[4][0] == pytest.approx(0.8)
    assert opt.param_groups[0]["betas"][0] == pytest.approx(0.9) and opt.param_groups[0]["lr"] == pytest.approx(1 / 25 / 1e4)
    with pytest.raises(ValueError, match="momentum"):
        S.OneCycleLR(optim.Adagrad([nn.Parameter(fl.zeros(1))]), 1.0, total_steps=10)


def test_reduce_on_plateau():
    opt = optim.SGD([nn.Parameter(fl.zeros(1))], lr=1.0)
    schedule = S.ReduceLROnPlateau(opt, factor=0.1, patience=1, cooldown=1)
    seen = []
    for loss in (1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1):
        schedule.step(fl.tensor(loss))
        seen.append(opt.param_groups[0]["lr"])
    assert seen == pytest.approx([1, 1, 1, 0.1, 0.1, 0.1, 0.01, 0.01])
    rising = S.ReduceLROnPlateau(opt, mode="max", threshold=0.1, threshold_mode="abs")
    assert rising.is_better(1.2, 1.0) and not rising.is_better(1.05, 1.0)


def test_states_of_schedules_of_schedules():
    def make():
        opt = optim.SGD([nn.Parameter(fl.zeros(1))], lr=1.0)
        return opt, S.SequentialLR(opt, [S.LinearLR(opt, 0.5, 1.0, 2), S.CosineAnnealingLR(opt, 8)], [2])

    opt, schedule = make()
    for _ in range(4):
        schedule.step()
    other, fresh = make()
    fresh.load_state_dict(schedule.state_dict())
    for _ in range(3):
        assert other.param_groups[0]["lr"] == pytest.approx(opt.param_groups[0]["lr"])
        schedule.step()
        fresh.step()


def test_schedules_of_the_users_own():
    class Halving(S.LRScheduler):
        def get_lr(self):
            return [base / 2 ** self.last_epoch for base in self.base_lrs]

    assert rates(Halving, 3) == [1, 0.5, 0.25]
    opt = optim.SGD([{"params": [nn.Parameter(fl.zeros(1))], "lr": 1.0}, {"params": [nn.Parameter(fl.zeros(1))], "lr": 2.0}])
    schedule = S.LambdaLR(opt, [lambda e: 1.0, lambda e: 0.5])
    assert schedule.get_last_lr() == [1, 1]
    with pytest.raises(KeyError, match="initial_lr"):
        S.StepLR(optim.SGD([nn.Parameter(fl.zeros(1))], lr=1.0), 1, last_epoch=3)


RESUMABLE = {
    "LambdaLR": lambda o, **k: S.LambdaLR(o, lambda e: 0.9 ** e, **k),
    "MultiplicativeLR": lambda o, **k: S.MultiplicativeLR(o, lambda e: 0.9 + 0.01 * e, **k),
    "StepLR": lambda o, **k: S.StepLR(o, 3, 0.5, **k),
    "MultiStepLR": lambda o, **k: S.MultiStepLR(o, [3, 6], 0.5, **k),
    "ConstantLR": lambda o, **k: S.ConstantLR(o, 0.5, 3, **k),
    "LinearLR": lambda o, **k: S.LinearLR(o, 0.5, 1.0, 5, **k),
    "ExponentialLR": lambda o, **k: S.ExponentialLR(o, 0.5, **k),
    "PolynomialLR": lambda o, **k: S.PolynomialLR(o, 7, 2.0, **k),
    "CosineAnnealingLR": lambda o, **k: S.CosineAnnealingLR(o, 4, 0.1, **k),
    "CosineAnnealingWarmRestarts": lambda o, **k: S.CosineAnnealingWarmRestarts(o, 2, 2, **k),
    "CyclicLR": lambda o, **k: S.CyclicLR(o, 0.1, 0.5, 2, **k),
    "OneCycleLR": lambda o, **k: S.OneCycleLR(o, 0.5, total_steps=9, **k),
}


@pytest.mark.parametrize("epochs", [1, 3, 5])
@pytest.mark.parametrize("name", RESUMABLE)
def test_last_epoch_goes_on_where_a_run_was_left(name, epochs):
    """The optimizer's state was saved after so many epochs, the last of them epochs - 1."""
    make = RESUMABLE[name]

    def going_on(schedule, opt, n):
        out = []
        for _ in range(n):
            out.append(opt.param_groups[0]["lr"])
            opt.step()
            schedule.step()
        return out

    opt = optim.SGD([nn.Parameter(fl.zeros(1))], lr=1.0, momentum=0.5)
    schedule = make(opt)
    going_on(schedule, opt, epochs)
    other = optim.SGD([nn.Parameter(fl.zeros(1))], lr=1.0, momentum=0.5)
    other.load_state_dict(opt.state_dict())
    resumed = make(other, last_epoch=epochs - 1)
    assert resumed.last_epoch == epochs and resumed.get_last_lr() == schedule.get_last_lr()
    assert going_on(resumed, other, 4) == pytest.approx(going_on(schedule, opt, 4))


def test_wrong_use_of_schedules():
    opt = optim.SGD([{"params": [nn.Parameter(fl.zeros(1))]}, {"params": [nn.Parameter(fl.zeros(1))]}], lr=1.0, momentum=0.5)
    for make in (lambda: S.CyclicLR(opt, [0.1], 0.2), lambda: S.OneCycleLR(opt, [0.1], total_steps=3),
                 lambda: S.ReduceLROnPlateau(opt, min_lr=[0.1])):
        with pytest.raises(ValueError, match="1 values for the 2 groups"):
            make()
    with pytest.raises(ValueError, match="empty"):
        S.ChainedScheduler([])
    for make in (lambda o: S.StepLR(o, 1), S.ReduceLROnPlateau):
        with pytest.raises(TypeError, match="expected an Optimizer"):
            make([nn.Parameter(fl.zeros(1))])


def test_a_group_that_is_added_falls_on_plateaus_too():
    opt = optim.SGD([nn.Parameter(fl.zeros(1))], lr=1.0)
    schedule = S.ReduceLROnPlateau(opt, factor=0.5, patience=0, min_lr=0.25)
    opt.add_param_group({"params": [nn.Parameter(fl.zeros(1))], "lr": 0.4})
    for _ in range(4):
        schedule.step(1.0)
    assert [g["lr"] for g in opt.param_groups] == [0.25, 0.25]


@pytest.mark.parametrize("strategy,way", [("linear", [0, 0.25, 0.5, 0.75, 1, 1]), ("cos", [1 - cosine(t, 4) for t in (0, 1, 2, 3, 4, 4)])])
def test_the_rate_for_averages(strategy, way):
    got = rates(lambda o: optim.swa_utils.SWALR(o, 0.2, anneal_epochs=4, anneal_strategy=strategy), 6)
    assert got == pytest.approx([(1 - a) + a * 0.2 for a in way])
    assert rates(lambda o: optim.swa_utils.SWALR(o, [0.2], anneal_epochs=0, anneal_strategy=strategy), 3) == pytest.approx([0.2] * 3)
    with pytest.raises(ValueError, match="anneal_strategy"):
        rates(lambda o: optim.swa_utils.SWALR(o, 0.2, anneal_strategy="no"), 1)


@pytest.mark.parametrize("make", [
    lambda o, **k: optim.swa_utils.SWALR(o, 0.2, **k), lambda o, **k: S.CyclicLR(o, 0.1, 0.2, **k),
    lambda o, **k: S.OneCycleLR(o, 0.5, total_steps=9, **k), lambda o, **k: S.StepLR(o, 3, **k)])
def test_a_schedule_that_is_refused_leaves_the_groups(make):
    opt = optim.SGD([{"params": [nn.Parameter(fl.zeros(1))], "initial_lr": 2.0}, {"params": [nn.Parameter(fl.zeros(1))]}], lr=1.0, momentum=0.5)
    before = [dict(g) for g in opt.param_groups]
    with pytest.raises(KeyError, match="last_epoch is 3, but group 1 has no initial_lr"):
        make(opt, last_epoch=3)
    with pytest.raises(ValueError, match="3 values for the 2 groups"):
        optim.swa_utils.SWALR(opt, [0.1, 0.2, 0.3])
    assert [dict(g) for g in opt.param_groups] == before
    with pytest.raises(TypeError, match="expected an Optimizer, got list"):
        make([nn.Parameter(fl.zeros(1))])


@pytest.mark.parametrize("metrics", [2.0, 0.5])
def test_a_plateau_whose_least_rates_do_not_fit_the_groups_changes_nothing(metrics):
    opt = optim.SGD([nn.Parameter(fl.zeros(1))], lr=1.0)
    schedule = S.ReduceLROnPlateau(opt, factor=0.5, patience=5, min_lr=[0.25])
    schedule.step(1.0)
    opt.add_param_group({"params": [nn.Parameter(fl.zeros(1))]})
    before = dict(vars(schedule))
    with pytest.raises(ValueError, match="1 values for the 2 groups"):
        schedule.step(metrics)
    assert vars(schedule) == before and schedule.best == 1.0
    schedule.min_lrs = [0.25, 0.5]
    with pytest.raises(ValueError, match="convert"):
        schedule.step("no number")
    assert vars(schedule) == {**before, "min_lrs": [0.25, 0.5]}
    schedule.step(metrics)
    assert schedule.last_epoch == 2
