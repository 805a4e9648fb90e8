"""Training with compiled functions equals eager training bit for bit."""

import threading

import pytest

import fuselet as fl
from fuselet import nn

STEPS = 20


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.drop, self.out = nn.Linear(6, 16), nn.Dropout(0.25), nn.Linear(16, 3)

    def forward(self, x):
        return self.out(self.drop(nn.functional.relu(self.hidden(x))))


class Training:
    def __init__(self, make_optimizer):
        fl.manual_seed(11)
        self.model = Net()
        self.optimizer = make_optimizer(self.model.parameters())
        data = fl.Generator().manual_seed(5)
        self.batches = [(fl.randn(8, 6, generator=data), fl.randint(0, 3, (8,), generator=data)) for _ in range(STEPS)]
        self.forward = self.model

    def loss(self, x, y):
        return nn.functional.cross_entropy(self.forward(x), y)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss(x, y)
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


def train(training, step):
    schedule = fl.optim.lr_scheduler.StepLR(training.optimizer, step_size=5)
    losses = []
    for batch in training.batches:
        losses.append([t.item() for t in step(*batch)])
        schedule.step()
    return losses


@pytest.mark.parametrize("make_optimizer", OPTIMIZERS)
def test_the_whole_step_compiled(make_optimizer):
    eager = Training(make_optimizer)
    expected, end = train(eager, eager.step), eager.everything()
    compiled = Training(make_optimizer)
    step = fl.compile(compiled.step, numerics="exact")
    assert train(compiled, step) == expected
    assert compiled.everything() == end
    # The first call finds no gradients and no state.
    assert fl.compiler.stats(step).compiles <= 3


@pytest.mark.parametrize("make_optimizer", OPTIMIZERS)
def test_the_module_compiled_and_the_rest_eager(make_optimizer):
    eager = Training(make_optimizer)
    expected, end = train(eager, eager.step), eager.everything()
    compiled = Training(make_optimizer)
    compiled.forward = fl.compile(compiled.model, numerics="exact")
    assert train(compiled, compiled.step) == expected
    assert compiled.everything() == end
    assert fl.compiler.stats(compiled.forward).compiles == 1


def test_gradients_accumulated_over_micro_batches():
    eager, compiled = Training(OPTIMIZERS[0]), Training(OPTIMIZERS[0])

    def make(training):
        def micro(x, y):
            loss = training.loss(x, y) / 2
            loss.backward()
            return loss

        return micro

    results = []
    for training, wrap in ((eager, lambda f: f), (compiled, lambda f: fl.compile(f, numerics="exact"))):
        micro = wrap(make(training))
        fl.manual_seed(3)
        losses = []
        for i, batch in enumerate(training.batches):
            losses.append(micro(*batch).item())
            if i % 2:
                training.optimizer.step()
                training.optimizer.zero_grad(set_to_none=i % 4 == 1)
        results.append((losses, [p.tolist() for p in training.model.parameters()]))
    assert results[0] == results[1]


def test_the_schedule_may_step_inside():
    results = []
    for wrap in (lambda f: f, lambda f: fl.compile(f, numerics="exact")):
        training = Training(OPTIMIZERS[0])
        schedule = fl.optim.lr_scheduler.StepLR(training.optimizer, step_size=2)

        def step(x, y):
            out = training.step(x, y)
            schedule.step()
            return out

        step = wrap(step)
        results.append(([[t.item() for t in step(*b)] for b in training.batches], training.everything()))
    assert results[0] == results[1]


def test_a_frozen_parameter_and_a_thawed_one():
    results = []
    for wrap in (lambda f: f, lambda f: fl.compile(f, numerics="exact")):
        training = Training(OPTIMIZERS[2])
        step = wrap(training.step)
        losses = []
        for i, batch in enumerate(training.batches[:6]):
            training.model.hidden.weight.requires_grad_(i >= 3)
            losses.append([t.item() for t in step(*batch)])
        results.append((losses, [p.tolist() for p in training.model.parameters()]))
    assert results[0] == results[1]


def test_threads_train_models_of_their_own_with_one_function():
    expected = Training(OPTIMIZERS[2])
    expected.model.eval()
    losses = [expected.step(*b)[0].item() for b in expected.batches]

    @fl.compile(numerics="exact")
    def step(training, x, y):
        return training.step(x, y)[0]

    trainings = [Training(OPTIMIZERS[2]) for _ in range(3)]
    got = [[] for _ in trainings]

    def work(i):
        trainings[i].model.eval()
        for batch in trainings[i].batches:
            got[i].append(step(trainings[i], *batch).item())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [losses] * 3


def test_dropout_masks_of_forward_and_later_backward_agree():
    x = fl.ones(4096, requires_grad=True)
    f = fl.compile(lambda t: nn.functional.dropout(t, 0.5), memory_budget=0)
    for _ in range(2):
        x.grad = None
        y = f(x)
        y.sum().backward()
        assert x.grad.tolist() == y.tolist() and set(y.tolist()) == {0.0, 2.0}


def test_a_step_that_drops_gradients_first_compiles_once():
    model = nn.Linear(3, 1)
    optimizer = fl.optim.AdamW(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss
    compiled = fl.compile(step)
    losses = [compiled(fl.ones(2, 3)).item() for _ in range(3)]
    assert fl.compiler.stats(compiled).compiles == 1 and losses[2] < losses[0]
