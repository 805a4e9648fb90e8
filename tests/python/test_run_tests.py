"""The test runner counts what programs report, and the demo's accuracy is read from its log."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import check_accuracy  # noqa: E402
import run_tests  # noqa: E402

SUMMARY = "[doctest] test cases:  7 |  4 passed | 1 failed | 2 skipped\n[doctest] assertions: 9\n"


def counts(*arguments):
    outcome = run_tests.count_program("core", 1.0, *arguments)
    return outcome.passed, outcome.failed, outcome.skipped


def test_doctest_cases_are_counted():
    assert counts("fail", SUMMARY, False) == (4, 1, 2)


def test_colours_do_not_hide_the_summary():
    assert counts("fail", SUMMARY.replace("4 passed", "\x1b[0;32m4 passed\x1b[0m"), False) == (4, 1, 2)


def test_cases_left_out_by_a_filter_are_not_skipped():
    assert counts("fail", SUMMARY, True) == (4, 1, 0)


def test_a_program_without_cases_counts_once():
    assert counts("run", "", False) == (1, 0, 0)
    assert counts("fail", "", False) == (0, 1, 0)


def test_a_program_that_fails_after_its_cases_counts_as_failed():
    passed = "[doctest] test cases: 4 | 4 passed | 0 failed | 0 skipped\n"
    assert counts("fail", passed, False) == (4, 1, 0)


def test_a_program_that_could_not_run_is_a_failure():
    assert counts("notrun", "", False) == (0, 1, 0)


def test_budgets_are_read(tmp_path):
    table = tmp_path / "budgets.txt"
    table.write_text("# folder seconds\ncore  60\npython 90 # both\n")
    assert run_tests.read_budgets(table) == {"core": 60.0, "python": 90.0}


@pytest.mark.parametrize("text, expected", [
    ("epoch 1 test accuracy 0.5\nfinal test accuracy: 0.9750\n", 0.975),
    ("Test accuracy = 97.5 %\n", 0.975),
    ("test accuracy 1\n", 1.0),
    ("train accuracy 0.5\n", None)])
def test_last_accuracy(text, expected):
    assert check_accuracy.last_accuracy(text) == expected


def test_files_that_run_side_by_side_are_counted_together(monkeypatch):
    outcomes = {"a": run_tests.Outcome("x", 3.0, 2, 0, 1), "b": run_tests.Outcome("x", 4.0, 5, 1, 0)}
    monkeypatch.setattr(run_tests, "run_pytest", lambda build, parts, name, files, environment: outcomes[name[-1]])
    together = run_tests.run_files_side_by_side(None, [], "python_gpu", ["tests/python/a.py", "tests/python/b.py"], {})
    assert (together.folder, together.passed, together.failed, together.skipped) == ("python_gpu", 7, 1, 1)
