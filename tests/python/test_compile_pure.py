"""pure=True: calls like earlier ones skip the code, and are right."""

import pytest

import fuselet as fl


def pure(fn):
    runs = []

    def counted(*args, **kwargs):
        runs.append(1)
        return fn(*args, **kwargs)

    return fl.compile(counted, pure=True, numerics="exact"), runs


def test_the_code_runs_once_for_arguments_of_one_form():
    f, runs = pure(lambda x, y: (x + y) * x)
    for i in range(4):
        assert f(fl.full([3], float(i)), fl.ones(3)).tolist() == [(i + 1.0) * i] * 3
    assert len(runs) == 1 and fl.compiler.stats(f).compiled == 4
    assert f(fl.ones(2), fl.ones(2)).tolist() == [2, 2] and len(runs) == 2
    assert f(fl.ones(3, dtype=fl.float64), fl.ones(3)).dtype is fl.float64 and len(runs) == 3
    assert f(fl.ones(3), fl.ones(3)).tolist() == [2, 2, 2] and len(runs) == 3


def test_structure_numbers_texts_and_none_are_told_apart():
    def f(x, y=None, *, how="plus", scale=1.0, extra=()):
        if y is None:
            return {"x": x, "sum": (x + 1) * scale}
        return [x - y if how == "minus" else x + y, how, y is True, *extra]

    g, runs = pure(f)
    x = fl.tensor([3.0])
    for _ in range(2):
        first = g(x)
        assert first["x"] is x and first["sum"].item() == 4 and list(first) == ["x", "sum"]
        assert g(x, scale=2.0)["sum"].item() == 8
        a, how, flag = g(x, 1)
        assert (a.item(), how, flag) == (4, "plus", False)
        assert g(x, True)[2] is True
        assert g(x, 1, how="minus")[0].item() == 2
        assert [v for v in g(x, 1, extra=(None, "t"))[3:]] == [None, "t"]
        assert g(x, y=1)[0].item() == 4
    assert len(runs) == 7


def test_shared_memory_writes_gradients_and_draws():
    def f(x, y):
        x.mul_(10)
        return x + y

    g, runs = pure(f)
    for _ in range(2):
        assert g(fl.ones(4), fl.ones(4)).tolist() == [11] * 4
        base = fl.arange(6.0)
        assert g(base[:4], base[1:5]).tolist() == [10, 30, 50, 34] and base.tolist() == [0, 10, 20, 30, 4, 5]
    assert len(runs) == 2

    w = fl.tensor([2.0], requires_grad=True)
    h, runs = pure(lambda x: (w * x).sum())
    for i in range(3):
        w.grad = None
        h(fl.tensor([float(i)])).backward()
        assert w.grad.item() == i
    with fl.no_grad():
        assert not h(fl.tensor([1.0])).requires_grad
    assert len(runs) == 2

    d, runs = pure(lambda x: x + fl.rand(3))
    fl.manual_seed(1)
    expected = [fl.rand(3).tolist() for _ in range(3)]
    fl.manual_seed(1)
    assert [d(fl.zeros(3)).tolist() for _ in range(3)] == expected and len(runs) == 1


def test_backward_inside_sets_and_accumulates():
    w = fl.tensor([2.0, 1.0], requires_grad=True)

    def f(x):
        (w * x).sum().backward()
        return x * 2

    g, runs = pure(f)
    for i in range(4):
        g(fl.ones(2))
        assert w.grad.tolist() == [i + 1.0] * 2
    w.grad = None
    g(fl.ones(2))
    assert w.grad.tolist() == [1, 1]


def test_what_is_no_plain_value_and_host_cells_run_the_code():
    class Box:
        value = 1.0

    f, runs = pure(lambda x, box: x * box.value)
    box = Box()
    assert f(fl.ones(1), box).item() == 1
    box.value = 5.0
    assert f(fl.ones(1), box).item() == 5 and len(runs) == 2

    p = fl.zeros(2, requires_grad=True)
    optimizer = fl.optim.Adam([p], lr=0.5)

    def step(target):
        optimizer.zero_grad()
        ((p - target) ** 2).sum().backward()
        optimizer.step()

    g, runs = pure(step)
    for _ in range(3):
        g(fl.ones(2))
    assert len(runs) == 3 and optimizer.state[p]["step"].get() == 3


def test_a_float_that_changes_runs_the_code_but_compiles_nothing():
    f, runs = pure(lambda x, lr: x - lr)
    for i in range(30):
        assert f(fl.ones(1), i / 4).item() == 1 - i / 4
    assert fl.compiler.stats(f).compiles == 1 and len(runs) == 30


def test_an_error_in_pure_code_is_passed_on():
    f, runs = pure(lambda x: x.matmul(fl.ones(7, 7)))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="matmul"):
            f(fl.ones(2, 2))
    assert len(runs) == 2
