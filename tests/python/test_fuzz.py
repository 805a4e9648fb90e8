"""Seeded random programs of operators, views and in-place writes: against NumPy, and their gradients against differences."""

import random

import numpy as np
import pytest

import fuselet as fl

UNARY = [("sin", np.sin), ("tanh", np.tanh), ("abs", np.abs), ("square", np.square), ("neg", np.negative), ("floor", np.floor)]
BINARY = [("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("maximum", np.maximum), ("minimum", np.minimum)]


def random_slice(rng, size):
    start = rng.randint(-size - 1, size + 1)
    return slice(start, rng.randint(-size - 1, size + 2), rng.randint(1, 2))


class Program:
    """Pairs of a tensor and an array that must stay equal, views of common memory among them."""

    def __init__(self, seed):
        self.rng, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.pairs = []
        for _ in range(3):
            self.start()

    def start(self):
        shape = tuple(self.rng.choice((0, 1, 2, 3, 4, 4, 5)) for _ in range(self.rng.randint(0, 3)))
        array = np.asarray(self.numbers.integers(-4, 5, shape) / 4)
        self.pairs.append((fl.tensor(array), array.copy()))

    def pick(self, condition=lambda a: True):
        fitting = [p for p in self.pairs if condition(p[1])]
        return self.rng.choice(fitting) if fitting else None

    def add(self, t, a):
        self.pairs.append((t, np.asarray(a)))
        if len(self.pairs) > 12:
            del self.pairs[self.rng.randrange(len(self.pairs))]

    def step(self):
        getattr(self, self.rng.choice(["unary", "binary", "view", "view", "reduce", "write", "write", "store", "store", "indices",
                                       "join", "product", "scatter", "start", "choose"]))()

    def unary(self):
        (t, a), (name, f) = self.pick(), self.rng.choice(UNARY)
        self.add(getattr(t, name)(), f(a))

    def partner(self, shape):
        return self.pick(lambda b: b.ndim <= len(shape) and np.broadcast_shapes(b.shape, shape) == shape
                         if all(x == y or x == 1 for x, y in zip(b.shape[::-1], shape[::-1])) else False)

    def binary(self):
        (t, a), (name, f) = self.pick(), self.rng.choice(BINARY)
        other = self.partner(a.shape)
        if other:
            self.add(getattr(fl, name)(t, other[0]), f(a, other[1]))

    def view(self):
        t, a = self.pick()
        kind = self.rng.randrange(5)
        if kind == 0 and a.ndim > 1:
            order = self.rng.sample(range(a.ndim), a.ndim)
            self.add(t.permute(order), a.transpose(order))
        elif kind == 1 and a.ndim:
            index = tuple(random_slice(self.rng, n) for n in a.shape[:self.rng.randint(1, a.ndim)])
            self.add(t[index], a[index])
        elif kind == 2 and a.ndim and a.shape[-1]:
            at = self.rng.randrange(-a.shape[-1], a.shape[-1])
            self.add(t[..., at], a[..., at:at + 1 or None][..., 0])
        elif kind == 3 and a.ndim < 4:
            self.add(t.unsqueeze(0), a[None])
        elif kind == 4 and a.ndim:
            shape = (-1,) if self.rng.random() < 0.5 or not a.size else (a.shape[-1], -1)
            # A reshape copies or not; a clone settles it.
            self.add(t.reshape(shape).clone(), a.reshape(shape).copy())

    def reduce(self):
        t, a = self.pick()
        dims = tuple(self.rng.sample(range(a.ndim), self.rng.randint(0, a.ndim))) or None
        keep = self.rng.random() < 0.5
        if self.rng.random() < 0.6:
            arguments = {} if dims is None else {"dim": dims}
            self.add(t.sum(**arguments, keepdim=keep) if dims else t.sum(), a.sum(dims, keepdims=keep if dims else False))
        elif dims and all(a.shape[d] for d in dims):
            self.add(t.amax(dims, keep), a.max(dims, keepdims=keep))

    def write(self):
        (t, a), (name, f) = self.pick(), self.rng.choice(BINARY[:3])
        other = self.partner(a.shape)
        if other and self.rng.random() < 0.7:
            getattr(t, name + "_")(other[0])
            f(a, other[1], out=a)
        else:
            t.mul_(0.5)
            np.multiply(a, 0.5, out=a)

    def store(self):
        t, a = self.pick()
        if not a.ndim:
            return
        index = random_slice(self.rng, a.shape[0])
        other = self.partner(a[index].shape)
        value = other if other and self.rng.random() < 0.7 else (0.25, 0.25)
        t[index] = value[0]
        a[index] = value[1].copy() if isinstance(value[1], np.ndarray) else value[1]

    def indices(self):
        pair = self.pick(lambda a: a.ndim and a.shape[0])
        if not pair:
            return
        t, a = pair
        at = [self.rng.randrange(-a.shape[0], a.shape[0]) for _ in range(self.rng.randint(1, 4))]
        if self.rng.random() < 0.5:
            self.add(t[at], a[at])
        else:
            t[at] = -0.75
            a[at] = -0.75

    def join(self):
        t, a = self.pick()
        other = self.pick(lambda b: b.shape == a.shape)
        dim = self.rng.randint(0, a.ndim)
        self.add(fl.stack([t, other[0]], dim), np.stack([a, other[1]], dim))
        if a.ndim:
            dim = self.rng.randrange(a.ndim)
            self.add(fl.cat([t, other[0], t], dim), np.concatenate([a, other[1], a], dim))

    def product(self):
        pair = self.pick(lambda a: a.ndim == 2)
        other = pair and self.pick(lambda b: b.ndim in (1, 2) and b.shape[0] == pair[1].shape[1])
        if other:
            self.add(pair[0] @ other[0], pair[1] @ other[1])

    def scatter(self):
        pair = self.pick(lambda a: a.ndim and a.shape[0])
        if not pair:
            return
        (t, a), count = pair, self.rng.randint(1, 4)
        at = np.array([self.rng.randrange(a.shape[0]) for _ in range(count)])
        source = self.numbers.integers(-4, 5, (count, *a.shape[1:])) / 4
        t.index_add_(0, fl.tensor(at), fl.tensor(source))
        np.add.at(a, at, source)

    def choose(self):
        t, a = self.pick()
        self.add(fl.where(t > 0, t, -0.5), np.where(a > 0, a, -0.5))
        t.masked_fill_(t > 4, 1.0)
        a[a > 4] = 1.0

    def check(self, where):
        for t, a in self.pairs:
            assert tuple(t.shape) == a.shape, where
            np.testing.assert_allclose(t.cpu().numpy(), a, rtol=1e-9, atol=1e-9, err_msg=where)

    def tame(self):
        """Numbers stay small, so that errors do not grow."""
        for t, a in self.pairs:
            if a.size and np.abs(a).max() > 1e3:
                t.zero_()
                a[...] = 0


@pytest.mark.parametrize("block", range(4))
def test_programs_against_numpy(block):
    for seed in range(block * 25, block * 25 + 25):
        program = Program(seed)
        for number in range(30):
            program.step()
            if number % 5 == 4:
                program.check(f"seed {seed}, by step {number}")
                program.tame()


def gradient_program(seed, x):
    """A scalar of x (4, 5), smooth, through views that are written in place. What is saved for backward is a clone."""
    rng = random.Random(seed)
    values = [x * 1.0]
    for _ in range(12):
        t = rng.choice(values)
        kind = rng.randrange(9)
        if kind == 0:
            values.append(t.clone().sin() * 0.7)
        elif kind == 1:
            values.append(t.clone() * rng.choice([v for v in values if v.shape == t.shape]).clone())
        elif kind == 2 and t.dim() == 2:
            values.append(t.t())
        elif kind == 3:
            values.append(t[rng.randrange(t.size(0) - 1):])
        elif kind == 4:
            t.mul_(0.9)
        elif kind == 5:
            t[0:1] = t[-1:].clone().cos()
        elif kind == 6:
            t.select(-1, 0).add_(t.select(-1, -1) * 0.3)
        elif kind == 7:
            values.append(t.index_select(0, fl.tensor([0, t.size(0) - 1, 0])))
        elif kind == 8 and t.dim() == 2:
            t.copy_(t.clone().softmax(-1))
    return sum((v.tanh() * (k + 1)).sum() for k, v in enumerate(values))


@pytest.mark.parametrize("block", range(4))
def test_gradients_of_programs_with_written_views(block):
    for seed in range(block * 12, block * 12 + 12):
        numbers = np.random.default_rng(seed)
        start, direction = numbers.normal(size=(4, 5)), numbers.normal(size=(4, 5))
        x = fl.tensor(start).requires_grad_()
        gradient_program(seed, x).backward()
        step = 1e-6
        ends = [gradient_program(seed, fl.tensor(start + s * step * direction)).item() for s in (1, -1)]
        want = (ends[0] - ends[1]) / (2 * step)
        assert (x.grad.cpu().numpy() * direction).sum() == pytest.approx(want, rel=1e-5, abs=1e-6), seed
