"""The seeded random programs, compiled: against NumPy on the first run and on the re-run of the same path.

Each program has kernels of its own, which take a compiler minutes in all. On the host, therefore, the system's compiler
takes the kernels of every tenth program; the others' are interpreted, which is the same to all that comes before kernels. A device
has no interpreter, and runs every tenth program."""

import numpy as np
import pytest
from conftest import DEVICE
from test_fuzz import Program, gradient_program

import fuselet as fl

RUNS = 2
COMPILED_EVERY = 10


@pytest.fixture
def seeds(monkeypatch):
    """The seeds of a range, one after another, each with its kind of kernels."""

    def each(*bounds):
        for seed in range(*bounds):
            with monkeypatch.context() as patch:
                if seed % COMPILED_EVERY:
                    if DEVICE != "cpu":
                        continue
                    patch.setenv("FUSELET_CXX", "/nonexistent")
                yield seed

    return each


class Origins:
    """How many programs of a block had kernels of each origin; a program without any shows nothing of its own."""

    def __init__(self):
        self.programs = {"compiled": 0, "interpreted": 0}

    def add(self, compiled, seed):
        found = {kernel.origin for report in fl.compiler.reports(compiled) for kernel in report.kernels}
        wrong, right = ("interpreted", "compiled") if seed % COMPILED_EVERY == 0 else ("compiled", "interpreted")
        assert wrong not in found, seed
        self.programs[right] += bool(found)

    def check(self):
        assert self.programs["compiled"] > 0
        assert (self.programs["interpreted"] > 0) == (DEVICE == "cpu")


@pytest.mark.parametrize("block", range(4))
def test_programs_against_numpy(block, seeds):
    origins = Origins()
    for seed in seeds(block * 25, block * 25 + 25):

        @fl.compile(numerics="exact", recompile_limit=1000)
        def steps(program):
            for _ in range(5):
                program.step()

        for run in range(RUNS):
            program = Program(seed)
            for part in range(6):
                steps(program)
                program.check(f"seed {seed}, run {run}, part {part}")
                program.tame()
        assert fl.compiler.stats(steps).compiles <= 6, seed
        origins.add(steps, seed)
    origins.check()


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("inside", [True, False])
def test_gradients_of_programs_with_written_views(inside, pure, seeds):
    origins = Origins()
    for seed in seeds(40):
        start = np.random.default_rng(seed).normal(size=(4, 5))

        def gradient(x):
            loss = gradient_program(seed, x)
            if inside:
                loss.backward()
            return loss

        eager = fl.tensor(start).requires_grad_()
        gradient_program(seed, eager).backward()
        compiled = fl.compile(gradient, pure=pure, numerics="exact")
        for _ in range(RUNS):
            x = fl.tensor(start).requires_grad_()
            loss = compiled(x)
            if not inside:
                loss.backward()
            assert x.grad.tolist() == eager.grad.tolist(), seed
        assert fl.compiler.stats(compiled).compiles == 1
        origins.add(compiled, seed)
    origins.check()
