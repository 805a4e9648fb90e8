"""The examples, shortened, train compiled: no call is eager, and a recompilation says why it came to be."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fuselet as fl

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ("train_digits.py", "--model", "mlp", "--epochs", "1")
GPT = ("train_char_gpt.py", "--text", str(ROOT / "README.md"), "--prompt", "The ", "--steps", "6", "--report", "6", "--batch", "2",
       "--context", "8", "--width", "8", "--heads", "2", "--layers", "1", "--dropout", "0.1", "--sample", "4")


def run(name, *options):
    path = os.pathsep.join([str(Path(fl.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(ROOT / "examples/python" / name), "--progress", "off", *options]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True,
                          timeout=300).stdout


@pytest.mark.parametrize("example", [DIGITS, GPT], ids=lambda e: e[0])
def test_the_ledger_at_the_end(example):
    printed = run(*example)
    calls, eager, compilations = map(int, re.search(r"(\d+) compiled calls, (\d+) eager, (\d+) compilations",
                                                    printed).groups())
    # 1438 images in whole batches of 32; the steps that were asked for.
    assert (calls, eager) == (44 if example is DIGITS else 6, 0)
    # The second step finds gradients.
    reasons = re.findall(r"^  (.*) at train_\w+\.py:\d+, \d+ ms$", printed, re.MULTILINE)
    assert reasons[0] == "first call" and len(reasons) == compilations <= 2
    assert all("setting .grad" in r for r in reasons[1:])


@pytest.mark.parametrize("example", [DIGITS, GPT], ids=lambda e: e[0])
def test_eager_trains_to_the_same_loss(example):
    losses = [[float(v) for v in re.findall(r"loss (\d+\.\d+)", run(*example, "--mode", mode))]
              for mode in ("eager", "compiled")]
    # Printed to 1e-4; a fused kernel may round less often than eager ones.
    assert len(losses[0]) == 2 and losses[0] == pytest.approx(losses[1], abs=1e-3)
