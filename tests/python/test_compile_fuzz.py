"""The seeded random programs, compiled: against NumPy on the first run and on the re-run of the same path."""

import numpy as np
import pytest
from test_fuzz import Program, gradient_program

import fuselet as fl

RUNS = 2


@pytest.mark.parametrize("block", range(4))
def test_programs_against_numpy(block):
    for seed in range(block * 25, block * 25 + 25):

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


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("inside", [True, False])
def test_gradients_of_programs_with_written_views(inside, pure):
    for seed in range(40):
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
