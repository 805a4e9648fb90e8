"""The list of primitives that people read is what the operator table says."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_list_of_primitives_is_up_to_date():
    made = subprocess.run([sys.executable, "-B", ROOT / "core/ops/generate.py", "--primitives"], capture_output=True, text=True, check=True)
    assert (ROOT / "compiler/decompose/PRIMITIVES.md").read_text() == made.stdout, (
        "run: python3 core/ops/generate.py --primitives > compiler/decompose/PRIMITIVES.md")
