"""The models of tests/parity/models, which are written for PyTorch: their first steps have the losses that PyTorch 2.11 had
from the same weights and batches on an H200 (tests/parity/models_against_torch.py --record)."""

import json
import sys
from pathlib import Path

import pytest

import fuselet as fl

PARITY = Path(__file__).resolve().parents[1] / "parity"
sys.path.insert(0, str(PARITY))
from train_models import MODELS, losses  # noqa: E402

RECORDED = json.loads((PARITY / "models" / "torch_losses.json").read_text())["losses"]


@pytest.mark.parametrize("mode", ["eager", "compiled", "step"])
@pytest.mark.parametrize("name", MODELS)
def test_losses_are_pytorchs(name, mode):
    got, want = losses(name, fl, "cpu", mode), RECORDED[name]
    assert got == pytest.approx(want, rel=1e-5)
