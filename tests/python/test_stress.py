"""Long loops, deep graphs and many threads."""

import gc
import os
import threading

import fuselet as fl
from fuselet import nn, optim

DEEP = 300_000


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_hundred_thousand_operators_hold_memory_flat():
    w, x = fl.ones(4, requires_grad=True), fl.full((4,), 2.0)

    def rounds(n):
        for _ in range(n):
            y = w * x + 1
            y[0].mul_(0.5)
            y.relu().sum().backward()
            w.grad = None

    rounds(2000)
    gc.collect()
    before, objects = resident(), len(gc.get_objects())
    rounds(12_000)
    gc.collect()
    assert resident() < before + (2 << 20) and len(gc.get_objects()) < objects + 100


def test_deep_graphs():
    x = fl.ones(1, requires_grad=True)
    y = x
    for _ in range(DEEP):
        y = y + 1.0
    y.backward()
    del y
    assert x.grad.tolist() == [1]
    # Never run backward, and only its end is held.
    y = x
    for _ in range(DEEP):
        y = y * 1.0
    del y
    gc.collect()


def train(seed, out):
    generator = fl.Generator()
    generator.manual_seed(seed)
    x = fl.randn(16, 4, generator=generator)
    target = (x.sum(1) > 0).long()
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    with fl.no_grad():
        for p in model.parameters():
            p.copy_(fl.randn(p.shape, generator=generator) * 0.3)
    opt = optim.AdamW(model.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    out[seed] = losses


def test_eight_threads_train_as_one_does():
    alone, together = {}, {}
    for seed in range(8):
        train(seed, alone)
    threads = [threading.Thread(target=train, args=(seed, together)) for seed in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert together == alone and all(losses[-1] < losses[0] for losses in alone.values())
