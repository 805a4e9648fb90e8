"""The setting of float32 products: names, errors, and its part in what a compiled function compares."""

import threading

import pytest

import fuselet as fl


@pytest.fixture(autouse=True)
def highest():
    yield
    fl.set_float32_matmul_precision("highest")


def test_the_default_is_highest_and_names_are_kept():
    assert fl.get_float32_matmul_precision() == "highest"
    assert fl.backends.cuda.matmul.allow_tf32 is False
    for name in ("high", "medium", "highest"):
        fl.set_float32_matmul_precision(name)
        assert fl.get_float32_matmul_precision() == name
        assert fl.backends.cuda.matmul.allow_tf32 is (name != "highest")


def test_allow_tf32_is_the_same_setting():
    fl.backends.cuda.matmul.allow_tf32 = True
    assert fl.get_float32_matmul_precision() == "high"
    fl.backends.cuda.matmul.allow_tf32 = False
    assert fl.get_float32_matmul_precision() == "highest"


def test_wrong_values_are_refused_and_change_nothing():
    with pytest.raises(RuntimeError, match="expected 'highest', 'high' or 'medium', got 'tf32'"):
        fl.set_float32_matmul_precision("tf32")
    with pytest.raises(TypeError, match="expected a bool, got int"):
        fl.backends.cuda.matmul.allow_tf32 = 1
    with pytest.raises(AttributeError, match="no setting 'allow_tf23'; there is allow_tf32"):
        fl.backends.cuda.matmul.allow_tf23 = True
    assert fl.get_float32_matmul_precision() == "highest"


def test_it_belongs_to_the_thread():
    fl.set_float32_matmul_precision("high")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(fl.get_float32_matmul_precision()))
    thread.start()
    thread.join()
    assert seen == ["highest"]


def test_it_cannot_change_inside_a_compiled_function():
    @fl.compile
    def f(x):
        fl.set_float32_matmul_precision("high")
        return x @ x

    with pytest.raises(RuntimeError, match="cannot change inside a compiled function"):
        f(fl.ones(2, 2))
    assert fl.get_float32_matmul_precision() == "highest"


def test_a_compiled_function_is_recorded_anew_under_another_setting():
    f = fl.compile(lambda x: x @ x + 1)
    x = fl.ones(2, 2)
    f(x), f(x)
    assert fl.compiler.stats(f).compiles == 1
    fl.set_float32_matmul_precision("high")
    for _ in range(2):
        assert f(x).tolist() == [[3, 3], [3, 3]]
    stats = fl.compiler.stats(f)
    assert stats.compiles == 2
    assert "the float32 matmul precision is high, was highest" in stats.recompiles[0].reason
