"""Runs ctest and pytest, prints each test folder's time against its budget, and closes with
`N passed, N failed, N skipped` over the cases of both.

usage: run_tests.py --build DIR [--label LABEL] [--exclude FOLDER] [--sanitized] [-- FILTER...]

A FILTER that names a test folder selects it; any other is a part of a case's name. Exit status 1
when a case failed or nothing ran.
"""

import argparse
import concurrent.futures
import importlib.util
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCTEST_SUMMARY = re.compile(
    r"test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*(?:\|\s*(\d+) skipped)?")
PYTEST_NOTHING_COLLECTED = 5
PYTEST_TIMEOUT_S = 900


# What a program that this machine cannot run says.
SKIPPED = re.compile(r"skipped: (.*)")
# Entries that run some cases of a program.
PARTS_OF_PROGRAMS = {"gpu", "sim", "cuda_sim_unchecked"}


@dataclass
class Outcome:
    folder: str
    seconds: float
    passed: int = 0
    failed: int = 0
    skipped: int = 0


def read_budgets(path):
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return {words[0]: float(words[1]) for words in lines if words}


def count_program(name, seconds, status, output, filtered):
    """The outcome of one ctest entry: a doctest program's own counts, else one case."""
    outcome = Outcome(name, seconds)
    reason = SKIPPED.search(output)
    if status == "notrun" and reason:
        print(f"{name}: skipped: {reason[1]}")
        outcome.skipped = 1
        return outcome
    if status in ("notrun", "disabled"):
        outcome.failed = 1
        return outcome
    summary = DOCTEST_SUMMARY.findall(re.sub(r"\x1b\[[0-9;]*m", "", output))
    if summary:
        _, passed, failed, skipped = summary[-1]
        outcome.passed, outcome.failed = int(passed), int(failed)
        # What a filter left out is not a skipped test.
        outcome.skipped = 0 if filtered or name in PARTS_OF_PROGRAMS else int(skipped or 0)
    elif status == "run":
        outcome.passed = 1
    if status == "fail":
        # A program that died or leaked at exit fails even when its cases passed.
        outcome.failed = max(outcome.failed, 1)
    return outcome


def sanitizer_environment(build):
    """Settings under which the sanitizers stop at the first error, with leak detection where the
    machine allows the tracing it needs."""
    options = "halt_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1"
    environment = {
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "LSAN_OPTIONS": f"suppressions={ROOT}/tests/leaks.supp:print_suppressions=0",
    }
    programs = sorted((build / "bin").glob("test_*"))
    leaks = False
    if programs:
        probe = subprocess.run([programs[0], "--version"], capture_output=True, text=True,
                               env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1"})
        leaks = probe.returncode == 0
    if not leaks:
        print("leak detection is off: the leak sanitizer does not run on this machine")
    environment["ASAN_OPTIONS"] = f"{options}:detect_leaks={int(leaks)}"
    return environment


def run_ctest(build, label, folders, parts, sanitized):
    report = build / "ctest.xml"
    report.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", build, "--output-on-failure", "-j", str(os.cpu_count()),
               "--output-junit", report.resolve(), "--test-output-size-passed", "100000000",
               "--test-output-size-failed", "100000000", "--no-tests=ignore"]
    if label:
        command += ["-L", label]
    if folders:
        command += ["-R", "^(" + "|".join(sorted(folders)) + ")$"]
    elif parts:
        command += ["-E", "^install$"]
    environment = dict(os.environ)
    if parts:
        environment["FUSELET_TEST_FILTER"] = ",".join(parts)
    if sanitized:
        environment.update(sanitizer_environment(build))
    status = subprocess.run(command, env=environment).returncode
    if not report.exists():
        return [Outcome("ctest", 0.0, failed=1)] if status else []
    outcomes = [
        count_program(case.get("name"), float(case.get("time", 0)), case.get("status"),
                      case.findtext("system-out") or "", bool(parts))
        for case in xml.parse(report).getroot().iter("testcase")
    ]
    if status and not any(outcome.failed for outcome in outcomes):
        outcomes.append(Outcome("ctest", 0.0, failed=1))
    return outcomes


def python_tests(*patterns):
    found = {path for pattern in patterns for path in (ROOT / "tests/python").glob(pattern)}
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


# Of the Python tests, those of CUDA devices, and those that say what holds on any device: they run once more where the
# default device is a CUDA device. test_compile_faults is about the host's compiler.
DEVICE_TESTS = python_tests("test_cuda*.py")
ANY_DEVICE_TESTS = [path for path in python_tests("test_*_traps.py", "test_compile*.py", "test_indexing.py", "test_autograd.py",
                                                  "test_interchange.py", "test_optim.py", "test_optimizers.py", "test_training.py",
                                                  "test_threads.py", "test_data_workers.py", "test_matmul_precision.py")
                    if not path.endswith("test_compile_faults.py")]


# The runs of the Python tests: files and environment by name. Those on a GPU take a process a file: they mostly wait for
# NVRTC.
PYTHON_RUNS = {
    "python": (["tests/python"], {}),
    "python_sim": (DEVICE_TESTS, {"FUSELET_CUDA": "sim"}),
    "python_sim_default": (ANY_DEVICE_TESTS, {"FUSELET_CUDA": "sim", "FUSELET_SIM_CHECK": "0", "FUSELET_TEST_DEVICE": "cuda"}),
}
GPU_PYTHON_RUNS = {
    "python_gpu": (DEVICE_TESTS, {}),
    "python_gpu_default": (ANY_DEVICE_TESTS, {"FUSELET_TEST_DEVICE": "cuda"}),
}


def run_files_side_by_side(build, parts, name, files, environment):
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2)) as pool:
        each = list(pool.map(lambda path: run_pytest(build, parts, f"{name}_{Path(path).stem}", [path], environment), files))
    return Outcome(name, time.monotonic() - start, *(sum(getattr(outcome, field) for outcome in each)
                                                     for field in ("passed", "failed", "skipped")))


def run_pytest(build, parts, name, files, environment):
    if importlib.util.find_spec("pytest") is None:
        print(f"{name}: skipped: {sys.executable} has no pytest")
        return Outcome(name, 0.0, skipped=1)
    report = build / f"{name}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-B", "-m", "pytest", "-qq", "-p", "no:cacheprovider",
               f"--junit-xml={report}", *files]
    if parts:
        command += ["-k", " or ".join(parts)]
    path = os.pathsep.join(filter(None, [str(ROOT / "frontend/python"), os.getenv("PYTHONPATH")]))
    start = time.monotonic()
    try:
        status = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path, **environment},
                                timeout=PYTEST_TIMEOUT_S).returncode
    except subprocess.TimeoutExpired:
        print(f"pytest took more than {PYTEST_TIMEOUT_S} s")
        status = 1
    outcome = Outcome(name, time.monotonic() - start)
    if report.exists():
        suite = next(xml.parse(report).getroot().iter("testsuite"))
        outcome.failed = int(suite.get("failures")) + int(suite.get("errors"))
        outcome.skipped = int(suite.get("skipped"))
        outcome.passed = int(suite.get("tests")) - outcome.failed - outcome.skipped
    if status not in (0, PYTEST_NOTHING_COLLECTED):
        outcome.failed = max(outcome.failed, 1)
    return outcome


def print_times(outcomes, budgets):
    print(f"\n{'folder':<12}{'seconds':>9}{'budget':>9}{'passed':>9}{'failed':>9}{'skipped':>9}")
    for outcome in outcomes:
        budget = budgets.get(outcome.folder)
        verdict = "  over budget" if budget is not None and outcome.seconds > budget else ""
        shown = "none" if budget is None else f"{budget:.0f}"
        print(f"{outcome.folder:<12}{outcome.seconds:>9.1f}{shown:>9}{outcome.passed:>9}"
              f"{outcome.failed:>9}{outcome.skipped:>9}{verdict}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--label")
    parser.add_argument("--exclude", action="append", default=[])
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("filters", nargs="*")
    arguments = parser.parse_args()

    budgets = read_budgets(ROOT / "tests/budgets.txt")
    folders = {name for name in arguments.filters if name in budgets}
    parts = [name for name in arguments.filters if name not in budgets]
    outcomes = []
    programs = folders - PYTHON_RUNS.keys()
    if not folders or programs:
        outcomes += run_ctest(arguments.build, arguments.label, programs, parts, arguments.sanitized)
    sys.stdout.flush()
    if arguments.label == "gpu":
        outcomes += [run_files_side_by_side(arguments.build, parts, name, *run) for name, run in GPU_PYTHON_RUNS.items()]
    elif "python" not in arguments.exclude:
        outcomes += [run_pytest(arguments.build, parts, name, *run) for name, run in PYTHON_RUNS.items()
                     if not folders or name in folders]

    print_times(outcomes, budgets)
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    nothing_ran = passed + failed + skipped == 0
    if nothing_ran:
        print("no test ran")
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or (nothing_ran and not arguments.label) else 0


if __name__ == "__main__":
    sys.exit(main())
