"""Training on a CUDA device: eager, compiled and as a whole step, beside the same on the CPU."""

import re
import threading

import pytest

import fuselet as fl
import fuselet.nn as nn
import fuselet.nn.functional as F
from cuda_marks import kernel_test, run_python


def mlp():
    return nn.Sequential(nn.Linear(64, 32), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(32), nn.Linear(32, 10))


def cnn():
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10))


def losses(make, shape, device, compiled, numerics="exact", steps=5):
    fl.manual_seed(3)
    model = make()
    x, y = fl.randn(8, *shape), fl.randint(0, 10, (8,))
    model.to(device)
    x, y = x.to(device), y.to(device)
    optimizer = fl.optim.AdamW(model.parameters(), lr=1e-2)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    f = fl.compile(step, numerics=numerics) if compiled else step
    return [f(x, y).item() for _ in range(steps)], [p.detach().cpu().tolist() for p in model.parameters()]


@kernel_test
@pytest.mark.parametrize("make, shape", [(mlp, (64,)), (cnn, (1, 8, 8))], ids=["mlp", "cnn"])
def test_training_step(make, shape):
    on_cpu, _ = losses(make, shape, "cpu", False)
    eager, eager_parameters = losses(make, shape, "cuda", False)
    exact, exact_parameters = losses(make, shape, "cuda", True)
    fused, _ = losses(make, shape, "cuda", True, numerics="fused")
    assert eager == pytest.approx(on_cpu, rel=1e-4)
    assert exact == eager and exact_parameters == eager_parameters
    assert fused == pytest.approx(eager, rel=1e-5)


@kernel_test
def test_a_compiled_forward_with_a_later_backward():
    fl.manual_seed(1)
    x = fl.randn(6, 40, device="cuda", requires_grad=True)
    w = fl.randn(40, device="cuda", requires_grad=True)

    def f(x, w):
        return (F.softmax(x * w, -1) * x).sum(-1)

    f(x, w).sum().backward()
    want = x.grad.tolist(), w.grad.tolist()
    x.grad = w.grad = None
    fl.compile(f, numerics="exact")(x, w).sum().backward()
    assert (x.grad.tolist(), w.grad.tolist()) == want


@kernel_test
def test_new_sizes_and_numbers_reuse_kernels():
    f = fl.compile(lambda x, a: F.gelu(x * a) + 1)
    for n in (8, 16, 40):
        x = fl.randn(n, 8)
        for a in (0.5, 0.25):
            got, want = f(x.cuda(), a).cpu(), F.gelu(x * a) + 1
            assert (got - want).abs().max().item() < 1e-5


@kernel_test
def test_a_number_of_the_host_joins_the_device():
    x, half = fl.randn(5, device="cuda"), fl.tensor(0.5)
    want = (x.cpu() * 0.5).tolist()
    assert (x * half).tolist() == want
    assert fl.compile(lambda x, h: x * h)(x, half).tolist() == want


@kernel_test
def test_sums_of_column_sums():
    x = fl.randn(9, 11)
    for f in (lambda x: x.sum(0).sum(), lambda x: x.mean(0).sum(), lambda x: x - x.sum(0).sum(), lambda x: x.sum(0).softmax(0)):
        want = f(x)
        assert (fl.compile(f)(x.cuda()).cpu() - want).abs().max().item() < 1e-5
        assert (fl.compile(f)(x) - want).abs().max().item() < 1e-5


@kernel_test
def test_sums_over_nothing():
    for dtype in (fl.float32, fl.float16):
        e = fl.zeros(0, 4, dtype=dtype, device="cuda", requires_grad=True)
        for f in (lambda: e.amax(1).sum(), lambda: e.var(1).sum(), lambda: e.sum(0).sum(), lambda: fl.logsumexp(e, 1).sum()):
            loss = f()
            loss.backward()
            assert loss.item() == 0 and e.grad.shape == (0, 4)


@kernel_test
def test_a_write_counts_once():
    x = fl.ones(4, 3, device="cuda")
    for write in (lambda: x.mul_(2), lambda: x.t().add_(1), lambda: x[:, ::2].mul_(2), lambda: x.copy_(x + 1), lambda: x.zero_()):
        before = x._version
        write()
        assert x._version == before + 1


@kernel_test
def test_threads_have_the_device():
    results = []
    y = fl.ones(3, device="cuda")
    (y * 2).tolist()
    threads = [threading.Thread(target=lambda: results.append((y * 2).tolist())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[2.0] * 3] * 3


@kernel_test
def test_the_default_dtype_of_results():
    a, b = fl.tensor([1, 2, 3], device="cuda"), fl.tensor([2, 2, 2], device="cuda")
    assert (a / b).dtype is fl.float32
    fl.set_default_dtype(fl.float64)
    try:
        assert (a / b).dtype is fl.float64 and (a + 1.5).dtype is fl.float64
    finally:
        fl.set_default_dtype(fl.float32)


@kernel_test
def test_a_pinned_number_is_read_at_once():
    x, s = fl.zeros(5, device="cuda"), fl.tensor(1.0).pin_memory()
    y = x + s
    s.fill_(100.0)
    assert y.tolist() == [1.0] * 5


@kernel_test
def test_new_sizes_and_numbers_compile_nothing(tmp_path):
    code = """
import os
import fuselet as fl
import fuselet.nn.functional as F
def run(n, i):
    x = fl.randn(4, n, device="cuda")
    return [x.mean(0), x.mean(1), x.var(1), F.layer_norm(x, (n,)), x * i, F.dropout(x, 0.05 * i), F.mse_loss(x, x * 2)]
def entries():
    return len(os.listdir(os.environ["FUSELET_CACHE_DIR"] + "/cuda"))
run(33, 3); first = entries()
for n, i in ((34, 4), (35, 5), (38, 7)):
    [t.tolist() for t in run(n, i)]
print(entries() - first)
"""
    # A row's alignment is one of two kinds, which the second size brings.
    assert int(run_python(code, FUSELET_CACHE_DIR=str(tmp_path))) <= 4


@kernel_test
def test_products_of_16_bit_floats_read_no_float32_copies(monkeypatch, capfd):
    monkeypatch.setenv("FUSELET_DUMP", "narrow_products")
    for dtype, name in ((fl.bfloat16, "bf16"), (fl.float16, "f16")):
        w, b = (fl.randn(*size, device="cuda", dtype=dtype).requires_grad_() for size in ((4, 16), (4,)))
        x = fl.randn(2, 8, 16, device="cuda", dtype=dtype, requires_grad=True)
        f = fl.compile(lambda x: F.gelu(F.linear(x, w, b)) @ w)
        capfd.readouterr()
        f(x).backward(x.detach())
        products = re.findall(r"(\S+)\[.* = (matmul\w*)\(%(\d+), %(\d+)\)", text := capfd.readouterr().err)
        assert len(products) >= 6  # two forward, two and two backward
        for _, _, *factors in products:
            for factor in factors:
                assert re.search(rf"%{factor}: {name}\[", text), text
        # The sums stay wide for the bias alone.
        assert sum(result == "f32" for result, *_ in products) == 1, text


@kernel_test
@pytest.mark.parametrize("dtype", [fl.bfloat16, fl.float16], ids=str)
def test_exact_products_of_16_bit_floats_are_those_of_eager_mode(dtype):
    w, b, x = (fl.randn(*size, device="cuda", dtype=dtype).requires_grad_() for size in ((5, 16), (5,), (9, 16)))
    f = lambda x: F.linear(x, w, b).relu() @ w  # noqa: E731

    def results(f):
        y = f(x)
        y.backward(y.detach())
        out = [t.tolist() for t in (y, x.grad, w.grad, b.grad)]
        x.grad = w.grad = b.grad = None
        return out

    assert results(fl.compile(f, numerics="exact")) == results(f)


@kernel_test
def test_errors_of_indices_name_the_users_operator():
    x, at = fl.ones(5, 3, device="cuda"), fl.full((5,), 7, dtype=fl.int64, device="cuda")
    for run, name in ((lambda: F.embedding(at, x), "embedding"), (lambda: F.cross_entropy(x, at), "cross_entropy"),
                      (lambda: x.gather(0, at.view(5, 1)), "gather")):
        for f in (run, fl.compile(run)):
            f()
            with pytest.raises(IndexError, match=rf"^{name}(, .*py:\d+)?: an index is out of range for a dimension of size"):
                fl.cuda.synchronize()
