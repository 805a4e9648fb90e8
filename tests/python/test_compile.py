"""compile() from Python: whatever the code reads is never stale, and results are eager's."""

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn

SCALE = 2.0


def helper(t):
    return t + 1


def exact(fn=None, **options):
    return fl.compile(fn, numerics="exact", **options)


def compiles(cf):
    return fl.compiler.stats(cf).compiles


def test_rebound_globals_and_helpers_are_seen(monkeypatch):
    cf = exact(lambda x: helper(x) * SCALE)
    x = fl.tensor([3.0])
    assert cf(x).item() == 8
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert cf(x).item() == 20
    monkeypatch.setitem(globals(), "helper", lambda t: t * 10)
    assert cf(x).item() == 150
    assert compiles(cf) == 2


def test_closures_attributes_containers_and_modes_are_seen():
    state = {"k": 1.0, "list": [1.0]}
    other_name = state["list"]
    bias = fl.tensor([1.0])

    def f(x):
        return x * state["k"] + state["list"][0] + bias

    cf, x = exact(f), fl.tensor([2.0])
    assert cf(x).item() == 4
    state["k"] = 3.0
    other_name[0] = 10.0
    assert cf(x).item() == 17
    bias = fl.tensor([100.0])
    assert cf(x).item() == 116
    assert compiles(cf) == 1


def test_the_default_dtype_is_seen():
    cf = exact(lambda n: fl.ones(n) * 0.5)
    assert cf(2).dtype is fl.float32
    try:
        fl.set_default_dtype(fl.float64)
        assert cf(2).dtype is fl.float64
    finally:
        fl.set_default_dtype(fl.float32)
    assert cf(2).dtype is fl.float32


def test_grad_mode_and_the_training_flag_are_seen():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(fl.tensor([2.0]))
            self.gain = 1.0

        def forward(self, x):
            return (self.w * x if self.training else self.w - x) * self.gain

    net = Net()
    cf = exact(net)
    x = fl.tensor([3.0])
    assert cf(x).item() == 6 and cf(x).requires_grad
    with fl.no_grad():
        assert not cf(x).requires_grad
    cf.eval()
    assert not net.training and cf(x).item() == -1
    net.train()
    cf.gain = 10.0
    assert net.gain == 10.0 and cf(x).item() == 60
    net.gain = 1.0
    cf(x).backward()
    assert net.w.grad.item() == 3 and cf.w is net.w


def test_a_compiled_module_is_the_module():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    cf = exact(net)
    assert isinstance(cf, nn.Sequential) and list(cf.state_dict()) == list(net.state_dict())
    assert [id(p) for p in cf.parameters()] == [id(p) for p in net.parameters()]
    x = fl.randn(5, 3)
    for _ in range(2):
        assert cf(x).tolist() == net(x).tolist()
    cf.load_state_dict({k: v * 0 for k, v in net.state_dict().items()})
    assert net(x).abs().sum().item() == 0 == cf(x).abs().sum().item()
    assert compiles(cf) == 1 and fl.compiler.stats(cf).compiled == 3
    outer = nn.Sequential(cf, nn.ReLU())
    assert outer(x).shape == (5, 2)


def test_decorators_with_and_without_options_and_methods():
    @fl.compile
    def plain(x):
        """Twice."""
        return x * 2

    @fl.compile(numerics="exact", recompile_limit=3)
    def limited(x):
        return x + 1

    class Holder:
        factor = 3.0

        @fl.compile
        def times(self, x):
            return x * self.factor

    assert plain.__name__ == "plain" and plain.__doc__ == "Twice." and plain(fl.ones(1)).item() == 2
    assert limited(fl.ones(1)).item() == 2
    holder = Holder()
    assert holder.times(fl.ones(1)).item() == 3
    holder.factor = 4.0
    assert holder.times(fl.ones(1)).item() == 4


def test_none_keywords_structure_and_bools():
    def f(x, y):
        return (x + 1, x) if y is None else (x, None)

    x = fl.tensor([1.0])
    for order in ((0, None), (None, 0)):
        cf = exact(f)
        for y in order * 3:
            a, b = cf(x, y)
            if y is None:
                assert a.item() == 2 and b is x
            else:
                assert a is x and b is None
    g = exact(lambda x, flag=False, **more: {"flag": x * 2 if flag is True else x * 3, "n": len(more), **more})
    assert g(x, True)["flag"].item() == 2 and g(x, 1)["flag"].item() == 3
    assert g(x, flag=True)["flag"].item() == 2
    assert list(g(x, b=1, a=2)) == ["flag", "n", "b", "a"]


def test_steps_and_learning_rates_do_not_recompile():
    cf = exact(lambda x, s, lr: x - lr * s)
    for s in range(1, 101):
        assert abs(cf(fl.ones(1), s, 1.0 / s).item()) < 1e-6
    assert compiles(cf) <= 3
    counted = exact(lambda x, s: x * s)
    for s in range(1, 101):
        assert counted(fl.ones(1), s).item() == s
    assert compiles(counted) <= 3


def test_inputs_that_share_memory():
    def f(x, y):
        x.mul_(10)
        return x + y

    cf = exact(f)
    cf(fl.ones(4), fl.ones(4))
    for _ in range(2):
        base = fl.arange(6.0)
        assert cf(base[:4], base[1:5]).tolist() == [10, 30, 50, 34]
        assert base.tolist() == [0, 10, 20, 30, 4, 5]
    same = fl.ones(4)
    assert cf(same, same).tolist() == [20] * 4 and same.tolist() == [10] * 4


def test_writes_are_ordered_and_reach_inputs():
    def f(x):
        y = x * 1
        s, _ = x.sort()
        x.add_(10)
        return y + x, s

    def g(x):
        r = x.flip(0)
        x.mul_(2)
        return r

    for make in (lambda fn: fn, exact):
        cf, cg = make(f), make(g)
        for _ in range(2):
            x = fl.tensor([3.0, 1.0, 2.0])
            a, s = cf(x)
            assert a.tolist() == [16, 12, 14] and s.tolist() == [1, 2, 3] and x.tolist() == [13, 11, 12]
            z = fl.tensor([1.0, 2.0, 3.0])
            assert cg(z).tolist() == [3, 2, 1] and z.tolist() == [2, 4, 6]


def test_an_update_of_a_closed_over_parameter():
    w = fl.zeros(1)

    @fl.compile(numerics="exact")
    def step():
        g = 2 * (w - 3)
        loss = ((w - 3) ** 2).sum()
        w.sub_(0.1 * g)
        return loss

    losses = [step().item() for _ in range(5)]
    assert losses == pytest.approx([9, 5.76, 3.6864, 2.359296, 1.50994944], rel=1e-6)
    assert w.item() == pytest.approx(2.01696, rel=1e-6) and compiles(step) == 1


def test_strides_of_inputs_and_results():
    x = fl.arange(6.0).reshape(2, 3).t()
    f, g = exact(lambda t: (t * 2).reshape(-1)), exact(lambda t: t * 2)
    assert f(x).tolist() == [0, 6, 2, 8, 4, 10] and f(x.contiguous()).tolist() == [0, 6, 2, 8, 4, 10]
    for t in (x, x.contiguous(), fl.arange(8.0)[::2], fl.ones(1, 3).expand(2, 3), fl.arange(5.0)[1:]):
        assert g(t).stride() == (t * 2).stride() and g(t).tolist() == (t * 2).tolist()


def test_batches_at_other_offsets_of_one_memory_are_one_program():
    data = fl.arange(40.0).reshape(10, 4)
    cf = exact(lambda x: (x + 1).sum())
    for i in range(10):
        assert cf(data[i]).item() == (data[i] + 1).sum().item()
    assert compiles(cf) == 1


def test_random_draws_are_those_of_eager_code():
    def f(x):
        fl.rand(3)
        return fl.rand(10), fl.rand(10), x + fl.rand(4, 1), fl.get_rng_state()

    cf = exact(f)
    for _ in range(3):
        fl.manual_seed(0)
        expected = [t.tolist() for t in f(fl.zeros(4, 4))] + [fl.get_rng_state().tolist()]
        fl.manual_seed(0)
        got = [t.tolist() for t in cf(fl.zeros(4, 4))] + [fl.get_rng_state().tolist()]
        assert got == expected and got[0] != got[1]
        assert all(len(set(row)) == 1 for row in got[2])
    assert compiles(cf) == 1


def test_a_generator_used_between_the_draws_is_refused():
    def f():
        a = fl.rand(2)
        fl.manual_seed(1)
        return a + fl.rand(2)

    with pytest.raises(NotImplementedError, match="default generator between its draws"):
        exact(f)()
    own = fl.Generator()
    with pytest.raises(NotImplementedError, match="generator other than the default"):
        exact(lambda: fl.rand(2, generator=own))()

    def seeded():
        fl.manual_seed(4)
        return fl.rand(2)

    cf = exact(seeded)
    assert cf().tolist() == cf().tolist() == seeded().tolist()


@pytest.mark.parametrize("ask", [lambda t: t.item(), bool, lambda t: t.numpy(), lambda t: t.tolist(), float])
def test_asking_for_a_computed_value_names_the_line(ask):
    def f(x):
        return ask(x.sum())

    with pytest.raises(NotImplementedError, match=r"test_compile.py:\d+"):
        fl.compile(f)(fl.ones(2))
    assert fl.ones(2).sum().item() == 2


def test_values_from_outside_may_steer_the_code():
    cf = exact(lambda x, flag: x * 2 if flag.item() > 0 else x - 1)
    for _ in range(2):
        assert cf(fl.tensor([1.0]), fl.tensor([1.0])).item() == 2
        assert cf(fl.tensor([-1.0]), fl.tensor([-1.0])).item() == -2
    assert compiles(cf) == 2


def test_tensors_made_inside_from_python_numbers():
    cf = exact(lambda x, values: x + fl.tensor(values))
    for values in ([1.0, 2.0], [3.0, 4.0]):
        assert cf(fl.ones(2), values).tolist() == [v + 1 for v in values]
    assert compiles(cf) == 1


def test_an_exception_is_the_same_object_and_leaves_no_trace():
    w = fl.tensor([1.0, 2.0], requires_grad=True)
    problem = KeyError("mine")
    fail = False

    def f(x):
        w.grad = None
        y = fl.rand(2) * w * x
        y.sum().backward()
        if fail:
            raise problem
        return y

    cf = exact(f)
    for fail in (True, False, True, False):
        w.grad = before = fl.tensor([7.0, 7.0])
        rng = fl.get_rng_state().tolist()
        if not fail:
            cf(fl.ones(2))
            assert w.grad is not before and fl.get_rng_state().tolist() != rng
            continue
        with pytest.raises(KeyError) as caught:
            cf(fl.ones(2))
        assert caught.value is problem and caught.traceback[-1].name == "f"
        assert w.grad is before and before.tolist() == [7, 7] and fl.get_rng_state().tolist() == rng
    assert (w * 2).tolist() == [2, 4]


def test_an_error_that_the_function_catches_is_no_part_of_it():
    def f(x):
        try:
            x.matmul(fl.ones(7, 7))
        except RuntimeError:
            x = x + 1
        return x * 2

    cf = exact(f)
    for _ in range(3):
        assert cf(fl.ones(2, 2)).tolist() == [[4, 4], [4, 4]]


def test_side_effects_happen_on_every_call():
    log, kept = [], []

    def f(x):
        y = x + 1
        log.append("ran")
        kept.append(y)
        return y * 2

    cf = exact(f)
    for i in range(3):
        cf(fl.tensor([float(i)]))
    assert log == ["ran"] * 3 and [t.item() for t in kept] == [1, 2, 3]


def test_attributes_of_results_survive():
    def f(x):
        y = x * 2
        y.note = "mine"
        return y

    cf = exact(f)
    for _ in range(2):
        assert cf(fl.ones(1)).note == "mine"


def test_the_limit_and_the_ledger_tell_the_reasons():
    cf = exact(lambda x: x + 1, recompile_limit=2)
    cf(fl.ones(2))
    cf(fl.ones(3))
    with pytest.raises(RuntimeError, match=r"recompile_limit is 2(.|\n)*first call(.|\n)*float32\[3\](.|\n)*was float32\[2\]"):
        cf(fl.ones(4))
    assert cf(fl.ones(3)).tolist() == [2, 2, 2]
    stats = fl.compiler.stats(cf)
    assert (stats.compiled, stats.graph_replayed, stats.segmented, stats.eager, stats.compiles) == (3, 0, 0, 0, 2)
    (again,) = stats.recompiles
    assert "test_compile.py" in again.line and again.milliseconds > 0 and "argument 0 'self'" in again.reason


def test_wrong_options_are_errors():
    with pytest.raises(RuntimeError, match="mode must be 'default'"):
        fl.compile(helper, mode="fast")
    with pytest.raises(RuntimeError, match="numerics must be"):
        fl.compile(helper, numerics="half")
    with pytest.raises(TypeError, match="expected a function or Module"):
        fl.compile(3)
    with pytest.raises(TypeError, match="expected what fuselet.compile"):
        fl.compiler.stats(helper)
    for mode in ("default", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune"):
        assert fl.compile(helper, mode=mode, fullgraph=True, dynamic=False)(fl.ones(1)).item() == 2


def test_nested_and_recursive_functions_are_one_program():
    inner = exact(lambda x: x * 2)
    outer = exact(lambda x: inner(x + 1) + inner(x))
    assert outer(fl.ones(1)).item() == 6 and outer(fl.ones(1) * 2).item() == 10
    assert compiles(inner) == 0 and compiles(outer) == 1

    @fl.compile(numerics="exact")
    def power(x, n):
        return x if n == 0 else power(x * 2, n - 1)

    assert [power(fl.ones(1), n).item() for n in (3, 5, 3)] == [8, 32, 8]


def test_arguments_are_not_kept_alive():
    import weakref

    cf = exact(lambda x: x + 1)
    x = fl.ones(3)
    seen = weakref.ref(x)
    cf(x)
    del x
    assert seen() is None


def test_negative_zero_given_as_a_float_keeps_its_sign():
    f = fl.compile(lambda x: (x * -0.0, x.clamp(-0.0, 0.0), fl.full((2,), -0.0)), numerics="exact")
    for _ in range(2):
        for given, k in ((1.0, 0), (-1.0, 1), (1.0, 2)):
            assert np.signbit(f(fl.tensor([given]))[k].cpu().numpy()).all()


def test_floats_that_a_shape_follows_from_are_compared():
    f = fl.compile(lambda x, end, step: x.sum() + fl.arange(0.0, end, step))
    assert f(fl.ones(2), 1.0, 0.25).tolist() == [2.0, 2.25, 2.5, 2.75]
    assert f(fl.ones(2), 1.0, 0.5).tolist() == [2.0, 2.5]
    assert f(fl.ones(2), 1.0, 0.25).tolist() == [2.0, 2.25, 2.5, 2.75]
    assert fl.compiler.stats(f).compiles == 2


def test_an_int_that_changes_is_promoted_wherever_it_is_used():
    f = fl.compile(lambda x, s: (x * s, x + s, x / s, s - x, x > s, x - s, x < s, x >= s, x <= s))
    for s in range(1, 40):
        got = f(fl.ones(2), s)
        assert [t.tolist()[0] for t in got] == [s, 1 + s, np.float32(1) / np.float32(s), s - 1, 1 > s, 1 - s, 1 < s, 1 >= s, 1 <= s]
    assert fl.compiler.stats(f).compiles <= 3


def test_reductions_along_an_expanded_dimension():
    x = fl.randn(1, 4).expand(5, 4)
    for f in (lambda t: t.softmax(0), lambda t: t.log_softmax(0), lambda t: t.var(0)):
        assert fl.compile(f, numerics="exact")(x).tolist() == f(x.contiguous()).tolist()
    assert fl.compile(lambda t: fl.zeros(3, 4).softmax(0) + t)(fl.zeros(1)).tolist() == [[np.float32(1) / np.float32(3)] * 4] * 3


@pytest.mark.parametrize("window", [(slice(None, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(None, None, 2))])
def test_writes_into_a_strided_window_of_an_argument(window):
    f = lambda t: (t.mul_(2), t.add_(t.sum()), t.select(0, 1).zero_())
    eager, compiled = fl.arange(36.0).reshape(9, 4), fl.arange(36.0).reshape(9, 4)
    f(eager[window])
    fl.compile(f, numerics="exact")(compiled[window])
    assert compiled.tolist() == eager.tolist()


@pytest.mark.parametrize("draw", [lambda p: fl.bernoulli(p), lambda p: fl.multinomial(p, 3), lambda p: fl.multinomial(p, 50, True)],
                         ids=["bernoulli", "multinomial", "with replacement"])
def test_draws_by_computed_probabilities(draw):
    """Compiled code looks at no value, so it draws without the check of the probabilities, and the same."""
    logits = fl.tensor([0.5, -1.0, 2.0, 0.0])

    def f(x):
        return draw(x.softmax(0))

    compiled = fl.compile(f, numerics="exact")
    fl.manual_seed(3)
    want = [f(logits).tolist() for _ in range(3)]
    fl.manual_seed(3)
    assert [compiled(logits).tolist() for _ in range(3)] == want
