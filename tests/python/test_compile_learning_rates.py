"""A learning rate that changes on every step is one program, however it reaches the step."""

import fuselet as fl
from fuselet import nn

RATES = [0.5 / (i + 1) for i in range(100)]


def make_model():
    fl.manual_seed(2)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), fl.randn(6, 4), fl.randint(0, 2, (6,))


def train_by_argument(wrap):
    model, x, y = make_model()
    for p in model.parameters():
        p.grad = fl.zeros_like(p)

    def step(lr):
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        with fl.no_grad():
            for p in model.parameters():
                p.sub_(lr * p.grad)
        return loss

    step = wrap(step)
    losses = [step(lr).item() for lr in RATES]
    return losses, [p.tolist() for p in model.parameters()], step


def train_by_group(make_optimizer, wrap):
    model, x, y = make_model()
    optimizer = make_optimizer(model.parameters())

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    # The first step makes gradients and state; from then on every step is alike.
    step().item()
    step, losses = wrap(step), []
    for lr in RATES:
        optimizer.param_groups[0]["lr"] = lr
        losses.append(step().item())
    return losses, [p.tolist() for p in model.parameters()], step


def check(train):
    *expected, _ = train(lambda f: f)
    *got, step = train(lambda f: fl.compile(f, numerics="exact"))
    assert got == expected
    stats = fl.compiler.stats(step)
    assert (stats.compiles, stats.compiled, stats.eager) == (1, len(RATES), 0)
    assert expected[0][-1] < expected[0][0]


def test_as_an_argument():
    check(train_by_argument)


def test_through_the_groups_of_an_optimizer():
    for make in (lambda p: fl.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: fl.optim.AdamW(p, lr=0.1)):
        check(lambda wrap: train_by_group(make, wrap))


def test_as_an_argument_that_the_step_gives_to_the_optimizer():
    results = []
    for wrap in (lambda f: f, lambda f: fl.compile(f, numerics="exact")):
        w = fl.ones(5, requires_grad=True)
        optimizer = fl.optim.SGD([w], lr=0.1)
        w.grad = fl.zeros(5)

        def step(lr):
            optimizer.param_groups[0]["lr"] = lr
            optimizer.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            optimizer.step()
            return loss

        step = wrap(step)
        results.append(([step(lr).item() for lr in RATES], w.tolist()))
    assert results[0] == results[1]
    assert fl.compiler.stats(step).compiles == 1
