"""Optimizers written in tensor operators, by their formulas in double precision; the same eagerly, compiled and recorded."""

import copy
import math
import pickle

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn, optim

GRADS = [[0.5, -1.0, 2.0], [-0.25, 0.5, 1.0], [1.5, 0.25, -3.0], [0.1, -0.2, 0.3], [2.0, 1.0, -1.0], [0.7, 0.6, 0.5], [-1.0, 1.0, 0.2]]
START = [1.0, -2.0, 0.5]


def run(make):
    p = nn.Parameter(fl.tensor(START))
    opt, out = make([p]), []
    for g in GRADS:
        p.grad = fl.tensor(g)
        opt.step()
        out.append(p.tolist())
    return np.array(out)


def rmsprop(x, g, s, t, lr=0.01, alpha=0.9, eps=1e-8, momentum=0.0, centered=False, wd=0.0):
    g = g + wd * x
    s["v"] = alpha * s.get("v", 0) + (1 - alpha) * g * g
    v = s["v"]
    if centered:
        s["a"] = alpha * s.get("a", 0) + (1 - alpha) * g
        v = v - s["a"] ** 2
    d = g / (np.sqrt(v) + eps)
    if momentum:
        s["b"] = d = momentum * s.get("b", 0) + d
    return x - lr * d


def adagrad(x, g, s, t, lr=0.1, decay=0.1, first=0.5):
    s["s"] = s.get("s", first) + g * g
    return x - lr / (1 + (t - 1) * decay) * g / (np.sqrt(s["s"]) + 1e-10)


def adadelta(x, g, s, t, lr=0.7, rho=0.8, eps=1e-6):
    s["v"] = rho * s.get("v", 0) + (1 - rho) * g * g
    d = g * np.sqrt(s.get("u", 0) + eps) / np.sqrt(s["v"] + eps)
    s["u"] = rho * s.get("u", 0) + (1 - rho) * d * d
    return x - lr * d


def adamax(x, g, s, t, lr=0.1, b1=0.9, b2=0.99, eps=1e-8):
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["u"] = np.maximum(b2 * s.get("u", 0), np.abs(g) + eps)
    return x - lr / (1 - b1 ** t) * s["m"] / s["u"]


def moments(g, s, b1, b2):
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0) + (1 - b2) * g * g
    return s["m"], s["v"]


def nadam(x, g, s, t, lr=0.1, b1=0.9, b2=0.99, eps=1e-8, decay=0.004):
    m, v = moments(g, s, b1, b2)
    mu, following = (b1 * (1 - 0.5 * 0.96 ** (at * decay)) for at in (t, t + 1))
    s["M"] = s.get("M", 1.0) * mu
    step = (1 - mu) * g / (1 - s["M"]) + following * m / (1 - s["M"] * following)
    return x - lr * step / (np.sqrt(v / (1 - b2 ** t)) + eps)


def radam(x, g, s, t, lr=0.1, b1=0.9, b2=0.9, eps=1e-8):
    m, v = moments(g, s, b1, b2)
    whole = 2 / (1 - b2) - 1
    r = whole - 2 * t * b2 ** t / (1 - b2 ** t)
    rate = lr * m / (1 - b1 ** t)
    if r <= 5:
        return x - rate
    rect = math.sqrt((r - 4) * (r - 2) * whole / ((whole - 4) * (whole - 2) * r))
    return x - rate * rect * math.sqrt(1 - b2 ** t) / (np.sqrt(v) + eps)


def lion(x, g, s, t, lr=0.1, b1=0.9, b2=0.99, wd=0.1):
    x = x * (1 - lr * wd) - lr * np.sign(b1 * s.get("m", 0) + (1 - b1) * g)
    s["m"] = b2 * s.get("m", 0) + (1 - b2) * g
    return x


def rprop(x, g, s, t, lr=0.1):
    before, size = s.get("g", np.zeros(3)), s.get("size", np.full(3, lr))
    agree = g * before
    size = np.clip(size * np.where(agree > 0, 1.2, np.where(agree < 0, 0.5, 1.0)), 1e-6, 50)
    g = np.where(agree < 0, 0.0, g)
    s["g"], s["size"] = g, size
    return x - np.sign(g) * size


def amsgrad(x, g, s, t, lr=0.1, b1=0.9, b2=0.5, eps=1e-8):
    m, v = moments(g, s, b1, b2)
    s["top"] = np.maximum(s.get("top", 0), v)
    return x - lr / (1 - b1 ** t) * m / (np.sqrt(s["top"]) / math.sqrt(1 - b2 ** t) + eps)


CASES = {
    "RMSprop": (lambda p: optim.RMSprop(p, lr=0.01, alpha=0.9), rmsprop),
    "RMSprop centered": (lambda p: optim.RMSprop(p, lr=0.01, alpha=0.9, momentum=0.9, centered=True, weight_decay=0.1),
                         lambda *a: rmsprop(*a, momentum=0.9, centered=True, wd=0.1)),
    "Adagrad": (lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.5), adagrad),
    "Adadelta": (lambda p: optim.Adadelta(p, lr=0.7, rho=0.8), adadelta),
    "Adamax": (lambda p: optim.Adamax(p, lr=0.1, betas=(0.9, 0.99)), adamax),
    "NAdam": (lambda p: optim.NAdam(p, lr=0.1, betas=(0.9, 0.99)), nadam),
    "RAdam": (lambda p: optim.RAdam(p, lr=0.1, betas=(0.9, 0.9)), radam),
    "Lion": (lambda p: optim.Lion(p, lr=0.1, weight_decay=0.1), lion),
    "Rprop": (lambda p: optim.Rprop(p, lr=0.1), rprop),
    "AMSGrad": (lambda p: optim.Adam(p, lr=0.1, betas=(0.9, 0.5), amsgrad=True), amsgrad),
}


@pytest.mark.parametrize("name", CASES)
def test_against_the_formula(name):
    make, formula = CASES[name]
    x, state = np.array(START), {}
    for t, (g, got) in enumerate(zip(GRADS, run(make)), 1):
        x = formula(x, np.array(g), state, t)
        np.testing.assert_allclose(got, x, rtol=2e-5, atol=2e-6, err_msg=f"step {t}")


@pytest.mark.parametrize("name", CASES)
def test_maximize_and_refusals(name):
    cls = type(CASES[name][0]([nn.Parameter(fl.zeros(1))]))
    p, q = nn.Parameter(fl.ones(2)), nn.Parameter(fl.ones(2))
    up, down = cls([p], lr=0.1, maximize=True), cls([q], lr=0.1)
    for _ in range(2):
        p.grad, q.grad = fl.tensor([1.0, -2.0]), fl.tensor([-1.0, 2.0])
        up.step()
        down.step()
    assert p.tolist() == q.tolist() != [1, 1]
    cls([p], lr=0.1, foreach=True)
    with pytest.raises(NotImplementedError, match="differentiable"):
        cls([p], lr=0.1, differentiable=True)
    with pytest.raises(ValueError, match="learning rate"):
        cls([p], lr=-1.0)


@pytest.mark.parametrize("name", CASES)
def test_state_round_trip(name):
    """A bfloat16 parameter beside float32 state, saved in the middle: the rest of the run is the same bit for bit."""
    cls = type(CASES[name][0]([nn.Parameter(fl.zeros(1))]))

    def make(values):
        p = nn.Parameter(values)
        extra = {"amsgrad": True} if name == "AMSGrad" else {}
        return p, cls([p], lr=0.05, state_dtype=fl.float32, **extra)

    def train(p, opt, at):
        for g in GRADS[at:at + 3]:
            p.grad = fl.tensor(g, dtype=fl.bfloat16)
            opt.step()

    p, opt = make(fl.tensor(START, dtype=fl.bfloat16))
    train(p, opt, 0)
    saved = opt.state_dict()
    q, other = make(p.detach().clone())
    other.load_state_dict(saved)
    for key, value in other.state_dict()["state"][0].items():
        if key == "step":
            assert value == 3.0
        else:
            assert value.dtype in (fl.float32, fl.float64) and fl.equal(value, saved["state"][0][key]), key
    train(p, opt, 3)
    train(q, other, 3)
    assert p.tolist() == q.tolist()


@pytest.mark.parametrize("name", CASES)
def test_a_compiled_step_is_one_program_for_all_rates(name):
    """Eager, compiled and replayed steps with a rate that changes every step."""
    make = CASES[name][0]

    def trained(wrap):
        fl.manual_seed(3)
        model = nn.Linear(3, 2)
        x, opt = fl.randn(4, 3), None
        opt = make(list(model.parameters()))

        def step():
            opt.zero_grad()
            loss = model(x).square().sum()
            loss.backward()
            opt.step()
            return loss

        step()
        run = wrap(step, model)
        out = []
        for i in range(4):
            opt.param_groups[0]["lr"] = 0.1 / (i + 1)
            out.append(run().item())
        return out, model.weight.tolist(), run

    *want, _ = trained(lambda f, m: f)
    *got, compiled = trained(lambda f, m: fl.compile(f, numerics="exact"))
    assert got == want
    assert fl.compiler.stats(compiled).compiles == 1


def test_a_recorded_step_counts_on():
    """Replays of a recording advance the count of steps that bias corrections read."""
    def trained(replay):
        p = nn.Parameter(fl.tensor([1.0, 2.0]))
        opt = optim.NAdam([p], lr=0.1)

        def step(g):
            p.grad = g
            opt.step()
            return p.detach().sum()

        grads = [fl.tensor([0.5, -1.0]), fl.tensor([1.0, 0.25]), fl.tensor([-0.5, 2.0])]
        if replay:
            step(fl.ones(2))
            recorded = fl.compiler.record(step, (grads[0],))
            for g in grads[1:]:
                recorded(g)
        else:
            for g in [fl.ones(2), *grads]:
                step(g)
        return p.tolist()

    assert trained(True) == trained(False)


class Momentum(optim.Optimizer):
    """An optimizer as users write them."""

    def __init__(self, params, rate):
        super().__init__(params, {"rate": rate, "betas": (0.5, 0.1, 0.2)})

    @fl.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"], state["m"] = 0, fl.zeros_like(p)
                state["step"] += 1
                state["m"].mul_(group["betas"][0]).add_(p.grad)
                p.add_(state["m"] * -group["rate"])


def test_optimizers_of_the_users_own():
    p = nn.Parameter(fl.ones(1))
    opt = Momentum([p], 0.1)
    for _ in range(2):
        p.grad = fl.ones(1)
        opt.step()
    assert p.tolist() == pytest.approx([1 - 0.1 - 0.15])
    other = Momentum([p], 0.5)
    other.load_state_dict(opt.state_dict())
    assert other.state[p]["step"] == 2 and other.param_groups[0]["rate"] == 0.1
    other.step()
    assert other.state[p]["step"] == 3
    with pytest.raises(NotImplementedError):
        optim.Optimizer([p], {}).step()


def test_step_hooks():
    p = nn.Parameter(fl.ones(1))
    opt, seen = optim.SGD([p], lr=1.0), []
    before = opt.register_step_pre_hook(lambda o, args, kwargs: seen.append(("before", p.item())))
    opt.register_step_post_hook(lambda o, args, kwargs: seen.append(("after", p.item())))
    p.grad = fl.ones(1)
    opt.step()
    before.remove()
    opt.step()
    assert seen == [("before", 1), ("after", 0), ("after", -1)]


def test_averaged_model():
    model = nn.Linear(1, 1, bias=False)
    mean = optim.swa_utils.AveragedModel(model)
    ema = optim.swa_utils.AveragedModel(model, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.5))
    for value in (1.0, 2.0, 6.0):
        nn.init.constant_(model.weight, value)
        mean.update_parameters(model)
        ema.update_parameters(model)
    assert mean.module.weight.item() == pytest.approx(3) and ema.module.weight.item() == pytest.approx(3.75)
    assert mean.n_averaged.item() == 3 and ema(fl.ones(1, 1)).item() == pytest.approx(3.75)
    assert "module.weight" in mean.state_dict() and mean.module is not model


MOMENTUM_FORMS = {
    "SGD": lambda ps: optim.SGD(ps, lr=0.1, momentum=0.9),
    "Adam": lambda ps: optim.Adam(ps, lr=0.1, amsgrad=True),
    "RMSprop": lambda ps: optim.RMSprop(ps, lr=0.1, momentum=0.5, centered=True),
    "NAdam": lambda ps: optim.NAdam(ps, lr=0.1),
    "Adagrad": lambda ps: optim.Adagrad(ps, lr=0.1, lr_decay=0.1),
    "Rprop": lambda ps: optim.Rprop(ps, lr=0.1),
}


def go_on(p, opt, grads):
    for g in grads:
        p.grad = fl.tensor(g)
        opt.step()
    return p.tolist()


@pytest.mark.parametrize("way", ["deepcopy", "pickle", "layout of PyTorch"])
@pytest.mark.parametrize("name", MOMENTUM_FORMS)
def test_a_copy_goes_on_as_the_original(name, way):
    """Copies and pickles of parameters and optimizer keep their bond; PyTorch keeps the count of steps as a 0-d tensor, and SGD none."""
    make = MOMENTUM_FORMS[name]
    p = nn.Parameter(fl.tensor(START))
    opt = make([p])
    opt.register_step_post_hook(lambda *args: None)
    go_on(p, opt, GRADS[:3])
    if way == "deepcopy":
        q, other = copy.deepcopy((p, opt))
    elif way == "pickle":
        q, other = pickle.loads(pickle.dumps((p, opt)))
    else:
        q = nn.Parameter(p.detach().clone())
        other, saved = make([q]), opt.state_dict()
        count = saved["state"][0].pop("step")
        if name != "SGD":
            saved["state"][0]["step"] = fl.tensor(count)
        other.load_state_dict(saved)
    assert other.param_groups[0]["params"][0] is q
    opt.param_groups[0]["lr"] = other.param_groups[0]["lr"] = 0.05
    before = p.tolist()
    got = go_on(q, other, GRADS[3:])
    assert p.tolist() == before and got == go_on(p, opt, GRADS[3:]) != before


def test_parameters_without_momentum_in_the_state_of_pytorch():
    p = nn.Parameter(fl.tensor([1.0]))
    opt = optim.SGD([p], lr=0.5, momentum=0.5)
    opt.load_state_dict({"state": {0: {"momentum_buffer": None}}, "param_groups": opt.state_dict()["param_groups"]})
    assert go_on(p, opt, [[1.0], [1.0]]) == [1 - 0.5 - 0.75]


def test_a_momentum_that_begins_late_takes_the_first_gradient_whole():
    p = nn.Parameter(fl.tensor([1.0]))
    opt = optim.SGD([p], lr=0.5, dampening=0.5)
    assert go_on(p, opt, [[1.0]]) == [0.5]
    opt.param_groups[0]["momentum"] = 0.5
    # b = 1, then 0.5 · 1 + (1 - 0.5) · 1 = 1
    assert go_on(p, opt, [[1.0]]) == [0.0] and go_on(p, opt, [[1.0]]) == [-0.5]


def test_a_set_of_parameters_is_refused():
    with pytest.raises(TypeError, match="a set have no order"):
        optim.SGD([{"params": {nn.Parameter(fl.ones(1))}}], lr=0.1)
    with pytest.raises(TypeError, match="a set have no order"):
        optim.Adam({nn.Parameter(fl.ones(1))})


def test_averages_by_functions_of_one_tensor():
    model = nn.Linear(1, 1, bias=False)
    mean = optim.swa_utils.AveragedModel(model, avg_fn=optim.swa_utils.get_swa_avg_fn())
    ema = optim.swa_utils.AveragedModel(model, avg_fn=optim.swa_utils.get_ema_avg_fn(0.5))
    for value in (1.0, 2.0, 6.0):
        nn.init.constant_(model.weight, value)
        mean.update_parameters(model)
        ema.update_parameters(model)
    assert mean.module.weight.item() == pytest.approx(3) and ema.module.weight.item() == pytest.approx(3.75)


def test_statistics_for_an_averaged_model():
    """The mean over the batches of their means and (unbiased) variances."""
    model = nn.Sequential(nn.BatchNorm1d(1), nn.BatchNorm1d(1, momentum=0.3)).eval()
    model[0].running_mean.fill_(100.0)
    optim.swa_utils.update_bn([(fl.tensor([[1.0], [3.0]]), "label"), fl.tensor([[2.0], [2.0], [8.0]])], model)
    assert model[0].running_mean.item() == pytest.approx((2 + 4) / 2) and model[0].running_var.item() == pytest.approx((2 + 12) / 2)
    assert model[0].num_batches_tracked.item() == 2 and model[1].running_mean.item() == pytest.approx(0, abs=1e-6)
    assert not model.training and (model[0].momentum, model[1].momentum) == (0.1, 0.3)


# Every optimizer, and the shape of its parameters: Muon takes matrices alone.
ALL = {name: (getattr(optim, name), (3, 2)) for name in optim.__all__
       if isinstance(getattr(optim, name), type) and name not in ("Optimizer", "LBFGS")}


@pytest.mark.parametrize("name", ALL)
def test_every_optimizer_goes_on_from_its_own_state(name):
    """Two groups with rates of their own, saved after three steps; LBFGS, which needs a closure, has a test of its own."""
    cls, shape = ALL[name]
    draws = np.random.default_rng(3)
    grads = draws.standard_normal((6, 2, *shape)).tolist()

    def made(values):
        params = [nn.Parameter(v.detach().clone()) for v in values]
        return params, cls([{"params": params[:1]}, {"params": params[1:], "lr": 0.03}], lr=0.01)

    def train(params, opt, some):
        for step in some:
            for p, g in zip(params, step):
                p.grad = fl.tensor(g)
            opt.step()

    params, opt = made([fl.ones(*shape), fl.tensor(draws.standard_normal(shape), dtype=fl.float32)])
    train(params, opt, grads[:3])
    others, other = made(params)
    other.load_state_dict(opt.state_dict())
    train(params, opt, grads[3:])
    train(others, other, grads[3:])
    assert [p.tolist() for p in params] == [p.tolist() for p in others] and params[0].tolist() != fl.ones(*shape).tolist()


def test_a_share_beyond_its_range_is_refused():
    p = nn.Parameter(fl.ones(1))
    for make, name in ((lambda v: optim.RMSprop([p], alpha=v), "alpha"), (lambda v: optim.Adadelta([p], rho=v), "rho")):
        for value in (-0.5, 1.5, math.nan):
            with pytest.raises(ValueError, match=rf"{name} must lie in \[0, 1\], got {value}"):
                make(value)


def test_statistics_leave_the_mode_of_every_module():
    """A frozen batch norm inside a model that trains: its statistics are taken anew, as the others', but it stays in eval."""
    model = nn.Sequential(nn.Sequential(nn.BatchNorm1d(1), nn.Dropout(0.0)), nn.BatchNorm1d(1, track_running_stats=False)).train()
    model[0].eval()
    optim.swa_utils.update_bn([fl.tensor([[1.0], [3.0]])], model)
    assert [m.training for m in model.modules()] == [True, False, False, False, True]
    assert model[0][0].running_mean.item() == pytest.approx(2)


@pytest.mark.parametrize("at", ["the loader", "the model"])
def test_statistics_after_an_error_are_those_of_before(at):
    model = nn.Sequential(nn.BatchNorm1d(1), nn.BatchNorm1d(1, momentum=0.3), nn.Linear(1, 1)).train()
    model[1].eval()
    model(fl.tensor([[1.0], [3.0]]))
    places, before = list(model.buffers()), [b.tolist() for b in model.buffers()]

    def batches():
        yield fl.tensor([[1.0], [30.0]])
        if at == "the loader":
            raise KeyboardInterrupt
        yield fl.ones(1, 2, 3, 4)

    with pytest.raises((KeyboardInterrupt, ValueError)):
        optim.swa_utils.update_bn(batches(), model)
    assert [b.tolist() for b in model.buffers()] == before and all(a is b for a, b in zip(places, model.buffers()))
    assert [m.training for m in model.modules()] == [True, True, False, True] and (model[0].momentum, model[1].momentum) == (0.1, 0.3)
