"""Recordings from Python: a whole training step replays bit-equal to eager, and errors leave no trace."""

import threading

import pytest

import fuselet as fl
from fuselet import nn
from fuselet.compiler import parse, record

STEPS = 20


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.drop, self.out = nn.Linear(6, 16), nn.Dropout(0.25), nn.Linear(16, 3)

    def forward(self, x):
        return self.out(self.drop(nn.functional.relu(self.hidden(x))))


class Training:
    """One step: dropout, cross entropy, backward, clipping, AdamW."""

    def __init__(self, make_optimizer):
        fl.manual_seed(11)
        self.model = Net()
        self.optimizer = make_optimizer(self.model.parameters())
        data = fl.Generator().manual_seed(5)
        self.batches = [(fl.randn(8, 6, generator=data), fl.randint(0, 3, (8,), generator=data)) for _ in range(STEPS)]

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
        self.optimizer.step()
        return loss, norm

    def everything(self):
        state = self.optimizer.state_dict()["state"]
        slots = [v.tolist() if isinstance(v, fl.Tensor) else v for i in sorted(state) for _, v in sorted(state[i].items())]
        return ([p.tolist() for p in self.model.parameters()], [p.grad.tolist() for p in self.model.parameters()], slots,
                fl.get_rng_state().tolist())


OPTIMIZERS = [lambda p: fl.optim.AdamW(p, lr=0.05), lambda p: fl.optim.Adam(p, lr=0.05, weight_decay=0.01),
              lambda p: fl.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True)]


@pytest.mark.parametrize("make_optimizer", OPTIMIZERS)
def test_a_recorded_training_step_replays_bit_equal_to_eager(make_optimizer):
    eager = Training(make_optimizer)
    expected = []
    for i, batch in enumerate(eager.batches):
        if i == 12:
            eager.optimizer.param_groups[0]["lr"] = 0.01
        expected.append([t.item() for t in eager.step(*batch)])
    expected_end = eager.everything()

    replayed = Training(make_optimizer)
    step = record(replayed.step, replayed.batches[0], names=replayed.model)
    got = [[t.item() for t in step.first_outputs]]
    for i, batch in enumerate(replayed.batches[1:], 1):
        if i == 12:
            replayed.optimizer.param_groups[0]["lr"] = 0.01
        got.append([t.item() for t in step(*batch)])
    assert got == expected
    assert replayed.everything() == expected_end


def test_the_graph_tells_its_nodes_inputs_cells_and_draws():
    training = Training(OPTIMIZERS[0])
    recorded = record(training.step, training.batches[0], names=training.model)
    graph = recorded.graph
    graph.verify()
    assert str(parse(str(graph))) == str(graph)
    assert graph.name == "step" and graph.draws == 1 and set(graph.cells) >= {"lr", "beta1", "beta2", "step"}
    assert {"hidden.weight", "hidden.bias", "out.weight", "out.bias"} < set(graph.inputs)
    assert sum(n.draw == 0 for n in graph.nodes) == 1
    assert any(n.op == "adam_step" for n in graph.nodes) and any(n.backward for n in graph.nodes)
    assert f"{len(graph.nodes)} nodes" in repr(recorded)


def test_nodes_carry_the_python_line_also_of_backward():
    w = fl.ones(3, requires_grad=True)

    def f(x):
        w.grad = None
        y = (w * x).exp()
        y.sum().backward()
        return y

    start = f.__code__.co_firstlineno
    lines = {(n.op, n.backward): n.line for n in record(f, [fl.ones(3)]).graph.nodes}
    assert lines["exp", False] == f"test_recording.py:{start + 2}"
    assert all(line.startswith("test_recording.py:") for line in lines.values())
    assert f"test_recording.py:{start + 3}" in lines.values()


def test_results_come_back_in_the_form_of_the_function():
    x = fl.tensor([1.0, 2.0])
    one = record(lambda a: a * 2, (x,))
    assert one.first_outputs.tolist() == [2, 4] and one(x + 1).tolist() == [4, 6]
    pair = record(lambda a: (a, a + 1), (x,))
    assert [t.tolist() for t in pair(x)] == [[1, 2], [2, 3]] and isinstance(pair(x), tuple)
    assert isinstance(record(lambda a: [a], (x,))(x), list)
    counter = fl.zeros(1)

    def count():
        counter.add_(1)

    step = record(count)
    assert step.first_outputs is None and step() is None and counter.item() == 2


def test_an_exception_passes_through_as_the_same_object_and_leaves_everything_as_it_was():
    w = fl.tensor([1.0, 2.0], requires_grad=True)
    w.grad = before = fl.tensor([7.0, 7.0])
    rng = fl.get_rng_state().tolist()
    problem = KeyError("mine")

    def fails(x):
        w.grad = None
        (fl.rand(2) * w * x).sum().backward()
        raise problem

    with pytest.raises(KeyError) as caught:
        record(fails, [fl.ones(2)])
    assert caught.value is problem and caught.traceback[-1].name == "fails"
    assert w.grad is before and before.tolist() == [7, 7] and fl.get_rng_state().tolist() == rng
    assert (w * 2).tolist() == [2, 4]


@pytest.mark.parametrize("ask", [lambda t: t.item(), bool, lambda t: t.numpy(), lambda t: t.tolist()])
def test_asking_for_a_value_inside_is_an_error(ask):
    with pytest.raises(RuntimeError, match="while a recording runs|of a running recording"):
        record(lambda x: ask(x.sum()), [fl.ones(2)])
    assert fl.ones(2).sum().item() == 2


def test_wrong_arguments_and_results_are_named():
    f = record(lambda x: x * 2, (fl.ones(2),))
    with pytest.raises(RuntimeError, match=r"recorded as float32\[2\], got float32\[3\]"):
        f(fl.ones(3))
    with pytest.raises(RuntimeError, match="expected 1 arguments, got 2"):
        f(fl.ones(2), fl.ones(2))
    with pytest.raises(TypeError, match="argument 0 is a float, not a Tensor"):
        f(1.0)
    with pytest.raises(TypeError, match="result 1 is a int"):
        record(lambda x: (x, 3), (fl.ones(2),))
    with pytest.raises(TypeError, match="expected a tuple or list"):
        record(lambda x: x, fl.ones(2))


def test_an_optimizers_state_is_made_outside_the_recording():
    with pytest.raises(ZeroDivisionError):
        training = Training(OPTIMIZERS[0])

        def half_a_step(x, y):
            training.step(x, y)
            1 / 0

        record(half_a_step, training.batches[0])
    slots = [v for state in training.optimizer.state.values() for v in state.values() if isinstance(v, fl.Tensor)]
    assert slots and all(v.abs().sum().item() == 0 for v in slots)


def test_another_thread_is_not_recorded():
    x, seen = fl.ones(5000), []

    def f(a):
        other = threading.Thread(target=lambda: seen.append((fl.ones(5000) * 3).sum().item()))
        other.start()
        b = a * 2
        other.join()
        return b

    graph = record(f, (x,)).graph
    assert seen == [15000] and [n.op for n in graph.nodes] == ["mul"]


def test_a_schedule_inside_a_recording_is_refused():
    training = Training(OPTIMIZERS[0])
    schedule = fl.optim.lr_scheduler.StepLR(training.optimizer, step_size=1)
    before = [p.tolist() for p in training.model.parameters()]

    def step(x, y):
        training.step(x, y)
        schedule.step()

    with pytest.raises(RuntimeError, match="the cell 'lr' has been set from 0.05 to 0.005"):
        record(step, training.batches[0])
    assert [p.tolist() for p in training.model.parameters()] == before
    assert all(p.grad is None for p in training.model.parameters())
