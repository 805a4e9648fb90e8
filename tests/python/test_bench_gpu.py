"""The GPU benchmark runs on the CPU with tiny shapes, and the comparison pairs lines by case."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PERF = Path(__file__).resolve().parents[1] / "perf"
# Which numbers there are is asked for here, not how good they are: without a compiler, kernels are interpreted.
INTERPRETED = {**os.environ, "FUSELET_CXX": "/nonexistent"}
# Interpreted attention is below the last digit of a TFLOP/s.
BELOW_A_DIGIT = {"attention_causal_T1024_D64", "attention_causal_T4096_D128"}


def bench(*cases):
    result = subprocess.run([sys.executable, PERF / "bench_gpu.py", "--device", "cpu", "--small", *cases],
                            capture_output=True, text=True, timeout=300, env=INTERPRETED)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def compare_gpu():
    spec = importlib.util.spec_from_file_location("compare_gpu", PERF / "compare_gpu.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_group_gives_numbers_or_says_why_not():
    groups = ["pointwise", "rows", "train_kernels", "mlp_infer", "gpt2", "attention", "overhead"]
    lines = bench(*groups)
    assert lines[0]["device"] == "cpu"
    assert [line["case"] for line in lines if "took_s" in line] == groups
    numbers = [line for line in lines if "value" in line]
    cases = {line["case"] for line in numbers}
    assert {"pointwise_float32", "softmax_bfloat16", "colsum_float32", "layernorm_train_float32",
            "cross_entropy_train_bfloat16", "mlp_small_float32", "overhead_eager_add", *BELOW_A_DIGIT} <= cases
    assert not [line for line in numbers if line["value"] < 0 or (line["value"] == 0 and line["case"] not in BELOW_A_DIGIT)]
    assert not [line for line in lines if "error" in line]


def test_an_unknown_case_is_refused():
    result = subprocess.run([sys.executable, PERF / "bench_gpu.py", "--device", "cpu", "nothing"], capture_output=True,
                            text=True, timeout=60)
    assert result.returncode == 2 and "unknown case nothing; there are copy, pointwise" in result.stderr


def test_ratios_are_above_one_where_fuselet_is_better(compare_gpu):
    def line(system, case, variant, unit, value):
        return {"system": system, "case": case, "variant": variant, "unit": unit, "value": value}
    lines = [line("fuselet", "softmax", "eager", "GB/s", 1000), line("fuselet", "softmax", "compile", "GB/s", 3000),
             line("torch", "softmax", "compile", "GB/s", 2000), line("jax", "softmax", "jit", "GB/s", 4000),
             line("fuselet", "mlp", "default", "us/call", 50), line("torch", "mlp", "eager", "us/call", 80),
             line("torch", "mlp", "max-autotune", "us/call", 75), line("fuselet", "attention", "sdpa_fwd", "TFLOP/s", 30),
             line("fuselet", "attention", "sdpa_fwd_bwd compile", "TFLOP/s", 20),
             line("torch", "attention", "sdpa_fwd_bwd", "TFLOP/s", 40), {"system": "fuselet", "case": "gpt2", "skipped": "why"}]
    (softmax, mlp, forward, both) = compare_gpu.compare(lines)
    assert softmax[0] == "softmax" and softmax[3] == {"torch": 1.5, "jax": 0.75}
    assert mlp[2]["torch"]["variant"] == "max-autotune" and mlp[3] == {"torch": 1.5}
    assert forward[0] == "attention fwd" and forward[3] == {}
    assert both[0] == "attention fwd_bwd" and both[3] == {"torch": 0.5}


def test_one_command_runs_all_and_keeps_the_lines(compare_gpu, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("import sys\nprint('noise')\n"
                     "print('{\"case\": \"overhead_eager_add\", \"variant\": \"eager\", \"unit\": \"us/op\", \"value\": 1e9}')\n")
    out = tmp_path / "lines.jsonl"
    result = subprocess.run([sys.executable, PERF / "compare_gpu.py", "--device", "cpu", "--small", "--torch", other, "--out", out,
                             "overhead"], capture_output=True, text=True, timeout=120, env=INTERPRETED)
    assert result.returncode == 0, result.stderr
    row = next(text for text in result.stdout.splitlines() if text.startswith("overhead_eager_add"))
    assert float(row.split()[4]) > 1
    assert "noise" in result.stderr
    assert {json.loads(text)["system"] for text in out.read_text().splitlines()} == {"fuselet", "torch"}
