"""The default device, and what a compiled function moves to the device that it runs on."""

import threading

import numpy as np
import pytest

import fuselet as fl
from cuda_marks import device_test, kernel_test
from fuselet import nn
from fuselet.utils.data import DataLoader, TensorDataset


@kernel_test
def test_what_is_made_without_a_device_goes_to_the_default_one():
    cpu = fl.get_default_device()
    with fl.device("cuda") as cuda:
        assert fl.get_default_device() == cuda == fl.device("cuda:0")
        made = [fl.zeros(2), fl.ones(2), fl.empty(2), fl.full((2,), 1.0), fl.arange(3), fl.rand(2), fl.randn(2), fl.randint(3, (2,)),
                fl.randperm(3), fl.eye(2), fl.linspace(0, 1, 3), fl.tensor([1, 2]), fl.tensor(1.5), fl.tensor(np.ones(2)),
                fl.as_tensor(np.ones(2)), fl.scalar_tensor(1), fl.normal(0.0, 1.0, (2,)), nn.Parameter(), fl.Tensor([1.0]),
                nn.Linear(2, 2).weight, nn.Conv2d(1, 1, 3).bias, nn.Embedding(2, 2).weight, nn.LayerNorm(2).weight]
        assert all(t.device == cuda for t in made)
        host = fl.zeros(2, device="cpu")
        stay = [host, fl.zeros_like(host), host.new_ones(2), fl.tensor(host), fl.from_numpy(np.ones(2)), fl.get_rng_state()]
        assert all(t.device == cpu for t in stay)
        with fl.device("cpu"):
            assert fl.zeros(2).device == cpu
        assert fl.zeros(2).device == cuda
        assert [float(2.0 ** fl.tensor(3.0)), (7.0 // fl.tensor([2.0])).tolist()] == [8.0, [3.0]]
    assert fl.get_default_device() == cpu and fl.zeros(2).device == cpu


@device_test
def test_the_default_device_belongs_to_the_thread_and_outlives_errors():
    seen = []
    fl.set_default_device("cuda")
    try:
        thread = threading.Thread(target=lambda: seen.append(fl.get_default_device().type))
        thread.start()
        thread.join()
        assert seen == ["cpu"] and fl.get_default_device().type == "cuda"
        with pytest.raises(ZeroDivisionError):
            with fl.device("cpu"):
                raise ZeroDivisionError
        assert fl.get_default_device().type == "cuda"
    finally:
        fl.set_default_device(None)
    assert fl.get_default_device().type == "cpu"
    with pytest.raises(RuntimeError):
        fl.set_default_device("cuda:15")
    with pytest.raises(RuntimeError, match="without __enter__"):
        fl.device("cpu").__exit__(None, None, None)


@kernel_test
def test_loaders_heed_it_but_for_their_worker_processes():
    with fl.device("cuda"):
        for workers, on_device in ((0, True), (2, False)):
            assert [x.is_cuda for x in DataLoader([1.0, 2.0], num_workers=workers)] == [on_device, on_device]
        host = TensorDataset(fl.arange(4, device="cpu"))
        assert [x.is_cuda for (x,) in DataLoader(host, batch_size=2, shuffle=True)] == [False, False]


@kernel_test
def test_a_change_of_the_default_device_serves_no_stale_code():
    for pure in (False, True):
        f = fl.compile(lambda: fl.arange(3) * 2, pure=pure)
        assert [f().device.type for _ in range(2)] == ["cpu", "cpu"]
        with fl.device("cuda"):
            assert [(f().device.type, f().tolist()) for _ in range(2)] == [("cuda", [0, 2, 4])] * 2
        assert f().device.type == "cpu"


@kernel_test
def test_gradients_of_powers_of_numbers():
    for f in (lambda x: 2.0 ** x, fl.compile(lambda x: 2.0 ** x)):
        x = fl.tensor([0.0, 3.0], device="cuda", requires_grad=True)
        f(x).sum().backward()
        np.testing.assert_allclose(x.grad.cpu().numpy(), np.log(2) * np.array([1, 8]), rtol=1e-6)


@kernel_test
def test_literals_and_indices_inside_a_compiled_function():
    @fl.compile
    def f(x, array, at):
        picked = x[[0, 2]] + x[fl.tensor(at, device="cuda")] + x[np.array([1, -1])] + x[fl.tensor([1, 0], dtype=fl.int32)]
        return picked * fl.tensor(array, device="cuda") + fl.as_tensor([1.0, 2.0], device="cuda")

    base = np.arange(6, dtype=np.float32).reshape(3, 2)
    x = fl.tensor(base, device="cuda")
    for k in range(3):
        array, at = np.array([k, 2.0], dtype=np.float32), [k, 0]
        want = (base[[0, 2]] + base[at] + base[[1, -1]] + base[[1, 0]]) * array + np.array([1, 2], dtype=np.float32)
        np.testing.assert_allclose(f(x, array, at).cpu().numpy(), want, rtol=1e-6)
    with pytest.raises(IndexError, match="index 5 is out of range for dimension 0 of size 3"):
        fl.compile(lambda x: x[[5]])(x)


@kernel_test
def test_writing_what_the_host_has():
    def write(x, values):
        x.copy_(values)
        x[[0]] = np.array([[7.0, 8.0]], dtype=np.float32)
        x[1] = values[2]
        x[fl.tensor([[False, False], [False, False], [True, False]], device="cpu")] = -1.0
        return x + 1

    values = fl.arange(6.0).view(3, 2)
    for f in (write, fl.compile(write)):
        for step in range(2):
            x = fl.zeros(3, 2, device="cuda")
            got = f(x, values + step)
            assert x.tolist() == [[7, 8], [4 + step, 5 + step], [-1, 5 + step]]
            assert got.tolist() == [[8, 9], [5 + step, 6 + step], [0, 6 + step]]


@kernel_test
@pytest.mark.parametrize("pure", [False, True])
def test_inputs_are_moved_by_the_function_that_computes_with_them(pure):
    f = fl.compile(lambda x: (x.to("cuda") * 2, x.cuda().half() + 1, x.to("cuda", fl.float16), x[1:].cuda() - 1), pure=pure)
    for k in range(3):
        got = f(fl.tensor([1.0 + k, 2.0]))
        assert all(t.is_cuda for t in got) and got[2].dtype is fl.float16
        assert [t.tolist() for t in got] == [[2.0 + 2 * k, 4.0], [2.0 + k, 3.0], [1.0 + k, 2.0], [1.0]]
    back = fl.compile(lambda x: x.cpu() * 2)
    assert [back(fl.tensor([k], device="cuda")).tolist() for k in range(2)] == [[0], [2]]


@kernel_test
def test_gradients_flow_back_through_what_the_function_moved():
    f = fl.compile(lambda x, w: (x.cuda() * w.cuda()).sum())
    for k in range(2):
        x, w = fl.tensor([1.0, 2.0]), fl.tensor([3.0, k], requires_grad=True)
        f(x, w).backward()
        assert not w.grad.is_cuda and w.grad.tolist() == [1.0, 2.0]


@kernel_test
def test_what_cannot_move_inside_a_compiled_function_says_why():
    x = fl.ones(2, device="cuda")
    with pytest.raises(NotImplementedError, match="moving what the function computes itself to another device"):
        fl.compile(lambda x: (x * 2).cpu())(x)

    def after_a_write(x):
        x.mul_(2)
        return x.cpu()

    with pytest.raises(NotImplementedError, match="moving what the function computes itself to another device"):
        fl.compile(after_a_write)(x)
    assert x.tolist() == [1, 1]
    with pytest.raises(NotImplementedError, match="a compiled function runs on one device"):
        fl.compile(lambda x, y: (x * 2, y * 2))(x, fl.ones(2))
