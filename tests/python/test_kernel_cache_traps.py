"""Kernels kept on disk, for any device: processes that share a folder, damaged entries, and functions that differ in little.
test_compile_faults has what goes wrong around the host's compiler."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DEVICE

import fuselet as fl

PROGRAM = f"""
import json, sys
import fuselet as fl

fl.set_default_device({DEVICE!r})
cases = [(lambda x: x + 1, fl.zeros(1)), (lambda x: x + 2, fl.zeros(1)), (lambda x: x * 3, fl.ones(1, dtype=fl.float64)),
         (lambda x: x * 3, fl.ones(1)), (lambda x: x.sin().sin(), fl.ones(1)), (lambda x: x.sin().cos(), fl.ones(1))]
results, origins = [None] * len(cases), []
for i in map(int, sys.argv[1]):
    f = fl.compile(cases[i][0])
    y = f(cases[i][1])
    results[i] = [y.item(), y.dtype.name]
    origins += [kernel.origin for report in fl.compiler.reports(f) for kernel in report.kernels]
print(json.dumps([results, origins]))
"""
WANT = [[1, "float32"], [2, "float32"], [3, "float64"], [3, "float32"], [math.sin(math.sin(1)), "float32"],
        [math.cos(math.sin(1)), "float32"]]


def start(cache, order="012345"):
    path = os.pathsep.join([str(Path(fl.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen([sys.executable, "-c", PROGRAM, order], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": path, "FUSELET_CACHE_DIR": str(cache)})


def origins(process):
    """Where the process had its kernels from, when its results are right."""
    printed, messages = process.communicate(timeout=120)
    assert process.returncode == 0, messages
    results, origins = json.loads(printed)
    for got, want in zip(results, WANT, strict=True):
        assert got[1] == want[1] and got[0] == pytest.approx(want[0], rel=1e-6)
    assert len(origins) == len(WANT)
    return set(origins)


def test_functions_that_differ_in_little_and_processes_that_write_at_once(tmp_path):
    for process in [start(tmp_path), start(tmp_path, "543210")]:
        assert origins(process) <= {"compiled", "memory cache", "disk cache"}
    for order in ("531420", "012345"):
        assert origins(start(tmp_path, order)) <= {"disk cache", "memory cache"}


def test_damaged_entries_are_compiled_again(tmp_path):
    origins(start(tmp_path))
    entries = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert len(entries) >= 4
    for i, entry in enumerate(entries):
        data = entry.read_bytes()
        middle = len(data) // 2
        entry.write_bytes([data[:-1], data[:middle], data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:], b""][i % 4])
    assert origins(start(tmp_path)) <= {"compiled", "memory cache"}
    assert origins(start(tmp_path)) <= {"disk cache", "memory cache"}
