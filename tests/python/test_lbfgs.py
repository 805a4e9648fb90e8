"""L-BFGS and its line search: steps by their formula, minima that are known, the conditions that a step must meet."""

import math

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn, optim
from fuselet.optim.strong_wolfe import Point, strong_wolfe

pytestmark = pytest.mark.host_only("double precision on the host is what steps are compared with")


def closure_of(f, p, opt):
    def closure():
        opt.zero_grad()
        loss = f(p)
        loss.backward()
        return loss

    return closure


def minimize(f, start, steps, **options):
    """(where the parameters are after some steps, losses before each)."""
    p = nn.Parameter(fl.tensor(start, dtype=fl.float64))
    opt = optim.LBFGS([p], **options)
    return p, [opt.step(closure_of(f, p, opt)).item() for _ in range(steps)], opt


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def test_two_iterations_by_hand():
    """f = x² + 2 y² from (1, 1): g = (2, 4), the first step is lr / 6 of -g; then s = -g lr / 6, y = (2, 4) * s, and the
    direction is that of the two-loop recursion with one pair."""
    p, _, opt = minimize(lambda p: p[0] ** 2 + 2 * p[1] ** 2, [1.0, 1.0], 1, lr=0.5, max_iter=2, max_eval=9)
    x, g = np.array([1.0, 1.0]), np.array([2.0, 4.0])
    s = -g * 0.5 / 6
    x, y = x + s, np.array([2.0, 4.0]) * s
    g, rho = np.array([2.0, 4.0]) * x, 1 / (y @ s)
    # H = (1 - rho s yᵀ) (s·y / y·y) (1 - rho y sᵀ) + rho s sᵀ, Nocedal and Wright (7.16).
    left = np.eye(2) - rho * np.outer(s, y)
    h = left @ left.T * (y @ s / (y @ y)) + rho * np.outer(s, s)
    np.testing.assert_allclose(p.tolist(), x - 0.5 * h @ g, rtol=1e-12)
    assert opt.state[p]["func_evals"] == 2 and opt.state[p]["n_iter"] == 2


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_quadratic_is_solved(search):
    a = np.random.default_rng(0).standard_normal((6, 6))
    a, b = a @ a.T + np.eye(6), np.arange(6.0)
    m, v = fl.tensor(a), fl.tensor(b)
    p, losses, _ = minimize(lambda p: (p @ (m @ p)) / 2 - v @ p, [0.0] * 6, 10, line_search_fn=search, lr=0.3 if search is None else 1)
    np.testing.assert_allclose(p.tolist(), np.linalg.solve(a, b), atol=1e-4)
    assert losses[0] > losses[1] >= losses[-1]


def test_rosenbrock_with_a_line_search():
    p, losses, opt = minimize(rosenbrock, [-1.2, 1.0], 6, line_search_fn="strong_wolfe", history_size=5)
    np.testing.assert_allclose(p.tolist(), [1, 1], atol=1e-4)
    assert all(after <= before for before, after in zip(losses, losses[1:])) and len(opt.state[p]["pairs"]) <= 5


@pytest.mark.parametrize("f,slope", [(lambda t: (t - 3) ** 2, lambda t: 2 * (t - 3)), (lambda t: math.exp(t) - 5 * t, lambda t: math.exp(t) - 5),
                                     (lambda t: -math.sin(t / 7), lambda t: -math.cos(t / 7) / 7),
                                     (lambda t: -t / (t * t + 2), lambda t: (t * t - 2) / (t * t + 2) ** 2)])  # Moré and Thuente's first
@pytest.mark.parametrize("first", [1e-3, 1.0, 50.0])
def test_the_line_search_meets_the_wolfe_conditions(f, slope, first):
    start = Point(0.0, f(0), slope(0), None)
    point, count = strong_wolfe(lambda t: Point(t, f(t), slope(t), None), start, first)
    assert point.loss == f(point.t) <= start.loss + 1e-4 * point.t * start.slope and abs(point.slope) <= 0.9 * abs(start.slope)
    assert point.t > 0 and count <= 25


def test_the_line_search_backs_out_of_infinity():
    def log_barrier(t):
        return Point(t, -math.log(1 - t) - 2 * t if t < 1 else math.inf, 1 / (1 - t) - 2 if t < 1 else math.nan, None)

    point, _ = strong_wolfe(log_barrier, log_barrier(0.0), 8.0)
    assert 0 < point.t < 1 and abs(point.slope) <= 0.9


def test_a_state_goes_on_where_it_was():
    f = rosenbrock
    whole, _, _ = minimize(f, [-1.2, 1.0], 2, max_iter=4, line_search_fn="strong_wolfe")
    half, _, opt = minimize(f, [-1.2, 1.0], 1, max_iter=4, line_search_fn="strong_wolfe")
    p = nn.Parameter(half.detach().clone())
    other = optim.LBFGS([p], max_iter=4, line_search_fn="strong_wolfe")
    other.load_state_dict(opt.state_dict())
    for q, o in ((half, opt), (p, other)):
        o.step(closure_of(f, q, o))
        assert q.tolist() == whole.tolist()


def test_parameters_without_gradient_and_hooks():
    model, calls = nn.Linear(2, 1), []
    idle = nn.Parameter(fl.ones(3))
    opt = optim.LBFGS([*model.parameters(), idle], line_search_fn="strong_wolfe")
    opt.register_step_pre_hook(lambda *_: calls.append("before"))
    opt.register_step_post_hook(lambda *_: calls.append("after"))
    x = fl.randn(16, 2)
    y = x @ fl.tensor([[2.0], [-1.0]]) + 0.5

    def closure():
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    for _ in range(3):
        opt.step(closure)
    assert calls == ["before", "after"] * 3 and idle.tolist() == [1, 1, 1]
    np.testing.assert_allclose(model.weight.tolist(), [[2, -1]], atol=1e-3)


def test_the_state_of_pytorch():
    """Two iterations of torch.optim.LBFGS on f = x² + 2 y² from (1, 1), written down by its layout: the pair is (s, y) of the
    first one, old_dirs are the y and old_stps the s. The third iteration is that of an optimizer that made the first two."""
    def f(p):
        return p[0] ** 2 + 2 * p[1] ** 2

    q, _, own = minimize(f, [1.0, 1.0], 1, lr=0.5, max_iter=2, max_eval=9)
    a, x = np.array([2.0, 4.0]), np.array([1.0, 1.0])
    s = -a * x * 0.5 / 6
    y, g = a * s, a * (x + s)
    rho, scale = 1 / (y @ s), y @ s / (y @ y)
    left = np.eye(2) - rho * np.outer(s, y)
    d = -(left @ left.T * scale + rho * np.outer(s, s)) @ g
    state = {"func_evals": 2, "n_iter": 2, "d": fl.tensor(d), "t": 0.5, "old_dirs": [fl.tensor(y)], "old_stps": [fl.tensor(s)],
             "ro": [fl.tensor(rho)], "H_diag": fl.tensor(scale), "prev_flat_grad": fl.tensor(g), "prev_loss": f(x + s),
             "al": [fl.tensor(0.0)]}
    p = nn.Parameter(fl.tensor(x + s + 0.5 * d))
    opt = optim.LBFGS([p], max_iter=1)
    opt.load_state_dict({"state": {0: state}, "param_groups": own.state_dict()["param_groups"]})
    for r, o in ((p, opt), (q, own)):
        o.param_groups[0]["max_iter"] = 1
        o.step(closure_of(f, r, o))
    np.testing.assert_allclose(p.tolist(), q.tolist(), rtol=1e-9)
    assert opt.state[p]["n_iter"] == 3 and len(opt.state[p]["pairs"]) == 2 and set(opt.state[p]) == set(own.state[q])


def test_a_state_is_copied():
    p, _, opt = minimize(rosenbrock, [-1.2, 1.0], 1, line_search_fn="strong_wolfe")
    saved = opt.state_dict()
    other = optim.LBFGS([nn.Parameter(p.detach().clone())])
    other.load_state_dict(saved)
    before = [[t.tolist() for t in pair[:2]] for pair in saved["state"][0]["pairs"]]
    for pair in saved["state"][0]["pairs"]:
        for t in pair[:2]:
            t.zero_()
    (own,) = other.state.values()
    assert [[t.tolist() for t in pair[:2]] for pair in own["pairs"]] == before and any(np.any(b) for b in before)


@pytest.mark.parametrize("change,message", [
    ({"t": None}, "'t'"), ({"pairs": None}, "'pairs'"), ({"pairs": ((fl.ones(3), fl.ones(2), 1.0),)}, r"pairs.*\[3\].*\[2\]"),
    ({"pairs": None, "old_dirs": [fl.ones(2)], "old_stps": [], "ro": [1.0], "H_diag": 1.0}, "old_stps"),
    ({"pairs": None, "old_dirs": [fl.ones(2)], "old_stps": [fl.ones(2)], "ro": [1.0]}, "'H_diag'")])
def test_a_state_that_is_not_whole_is_refused(change, message):
    p, _, opt = minimize(rosenbrock, [-1.2, 1.0], 1)
    saved = opt.state_dict()
    saved["state"][0] = {k: v for k, v in {**saved["state"][0], **change}.items() if v is not None}
    if "old_dirs" in change:
        del saved["state"][0]["scale"]
    other = optim.LBFGS([p])
    with pytest.raises(ValueError, match=f"LBFGS.load_state_dict.*{message}"):
        other.load_state_dict(saved)
    assert not other.state and other.param_groups[0]["max_iter"] == 20


def test_wrong_use():
    p = nn.Parameter(fl.ones(2))
    with pytest.raises(ValueError, match="line_search_fn must be None or 'strong_wolfe', got 'armijo'"):
        optim.LBFGS([p], line_search_fn="armijo")
    for size in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"history_size must be an int of at least 1, got {size}"):
            optim.LBFGS([p], history_size=size)
    opt = optim.LBFGS([p])
    state = opt.state_dict()
    for name, value in (("history_size", 0), ("line_search_fn", "armijo")):
        with pytest.raises(ValueError, match=name):
            opt.load_state_dict({**state, "param_groups": [{**state["param_groups"][0], name: value}]})
    with pytest.raises(ValueError, match="one parameter group"):
        optim.LBFGS([{"params": [p]}, {"params": [nn.Parameter(fl.ones(1))]}])
    with pytest.raises(TypeError, match="closure"):
        optim.LBFGS([p]).step()


class Interrupted:
    """The closure of rosenbrock at p, which raises in one of its calls, after its gradient has been written."""

    def __init__(self, p, opt, at=None):
        self.p, self.opt, self.at, self.calls = p, opt, at, 0

    def __call__(self):
        self.calls += 1
        self.opt.zero_grad()
        loss = rosenbrock(self.p)
        loss.backward()
        if self.calls == self.at:
            raise KeyboardInterrupt
        return loss


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("at", [1, 2, 3, 4, 6])
def test_an_error_in_the_closure_leaves_the_last_finished_iteration(search, at):
    """The step that raises has done as much as one that was told to do so many iterations; both go on equally, to the minimum."""
    def made():
        p = nn.Parameter(fl.tensor([-1.2, 1.0], dtype=fl.float64))
        return p, optim.LBFGS([p], lr=1.0 if search else 0.02, max_iter=8, max_eval=99, line_search_fn=search)

    p, opt = made()
    with pytest.raises(KeyboardInterrupt):
        opt.step(Interrupted(p, opt, at))
    done = opt.state[p].get("n_iter", 0)
    assert done < 8 and (search is not None or done == max(0, at - 2))
    q, other = made()
    if done:
        other.param_groups[0]["max_iter"] = done
        other.step(Interrupted(q, other))
        other.param_groups[0]["max_iter"] = 8
    assert p.tolist() == q.tolist()
    for _ in range(12 if search else 3):
        assert opt.step(Interrupted(p, opt)).item() == other.step(Interrupted(q, other)).item()
    assert p.tolist() == q.tolist()
    if search:
        np.testing.assert_allclose(p.tolist(), [1, 1], atol=1e-4)
