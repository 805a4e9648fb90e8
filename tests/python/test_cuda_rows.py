"""Kernels over rows on a device, beside the formulas in NumPy's float64: rows that fill every step of every thread, where
no access is guarded, and their neighbours, where some are."""

import numpy as np
import pytest

import fuselet as fl
from cuda_marks import kernel_test
from fuselet.nn import functional as F

LENGTHS = [504, 512, 2048, 4096, 4104, 8192]
STORED = {"float32": 2e-5, "bfloat16": 3e-2}  # absolute, of values about 1
every_row = pytest.mark.parametrize("dtype, length", [(d, n) for d in STORED for n in LENGTHS])


def values_of(length, dtype, seed):
    """Rows as a device holds them, and in float64."""
    draws = np.random.default_rng(seed).standard_normal((3, length))
    stored = fl.tensor(draws.tolist(), dtype=getattr(fl, dtype))
    return stored.cuda(), np.array(stored.double().tolist())


def close(t, want, dtype):
    np.testing.assert_allclose(np.array(t.cpu().double().tolist()), want, rtol=0, atol=STORED[dtype] * max(1, np.abs(want).max()))


def centred(x):
    return x - x.mean(-1, keepdims=True)


@kernel_test
@every_row
def test_softmax(dtype, length):
    x, want = values_of(length, dtype, 1)
    e = np.exp(want - want.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    y = fl.compile(lambda t: F.softmax(t, -1) * length)(x)
    close(y, p * length, dtype)


@kernel_test
@every_row
def test_layer_norm_and_its_gradients(dtype, length):
    x, x64 = values_of(length, dtype, 2)
    g, g64 = values_of(length, dtype, 3)
    w, b = fl.full((length,), 1.5, dtype=x.dtype, device="cuda"), fl.full((length,), -0.5, dtype=x.dtype, device="cuda")
    for t in (x, w, b):
        t.requires_grad_()
    y = fl.compile(lambda x, w, b: F.layer_norm(x, (length,), w, b))(x, w, b)
    y.backward(g)
    deviation = np.sqrt((centred(x64) ** 2).mean(-1, keepdims=True) + 1e-5)
    unit = centred(x64) / deviation
    close(y, unit * 1.5 - 0.5, dtype)
    h = g64 * 1.5
    close(x.grad, (h - h.mean(-1, keepdims=True) - unit * (h * unit).mean(-1, keepdims=True)) / deviation, dtype)
    close(w.grad, (g64 * unit).sum(0), dtype)
    close(b.grad, g64.sum(0), dtype)


@kernel_test
@every_row
def test_dropout_within_a_norm(dtype, length):
    x, x64 = values_of(length, dtype, 4)
    fl.manual_seed(7)
    kept = np.array(F.dropout(fl.ones(3, length), 0.25).tolist()) != 0  # a seed has the same mask everywhere
    assert 0.5 < kept.mean() < 0.9
    fl.manual_seed(7)
    y = fl.compile(lambda t: F.layer_norm(F.dropout(t, 0.25) + t, (length,)))(x)
    inner = x64 * kept / 0.75 + x64
    close(y, centred(inner) / np.sqrt((centred(inner) ** 2).mean(-1, keepdims=True) + 1e-5), dtype)


@kernel_test
def test_a_sum_over_rows_of_a_sum_has_one_writer():
    """Every column of a kernel over rows and columns has the value; checked kernels report a second writer."""
    x, x64 = values_of(40, "float32", 5)
    row, all_rows = fl.compile(lambda g: ((r := (g * g).mean(-1, True)), r.mean(-2, True)))(x)
    want = (x64 ** 2).mean(-1, keepdims=True)
    close(row, want, "float32")
    close(all_rows, want.mean(-2, keepdims=True), "float32")


@kernel_test
def test_a_result_of_another_width_takes_over_no_memory():
    a, b = fl.arange(5.0, device="cuda") - 2, fl.arange(5.0, device="cuda")

    def parts(a, b):
        positive = fl.cat([a, b]) > 0
        return fl.cat([positive, positive])
    want = [False] * 3 + [True] * 2 + [False] + [True] * 4
    assert fl.compile(parts)(a, b).tolist() == want * 2
