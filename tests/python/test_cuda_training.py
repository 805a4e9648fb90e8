"""Training on a CUDA device: eager, compiled and as a whole step, beside the same on the CPU."""

import pytest

import fuselet as fl
import fuselet.nn as nn
import fuselet.nn.functional as F
from cuda_marks import kernel_test


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
def test_moving_tensors_inside_a_compiled_function_is_refused():
    with pytest.raises(NotImplementedError, match="moving a tensor to another device"):
        fl.compile(lambda x: x.to("cuda") * 2)(fl.randn(3))
