"""Tensors on CUDA devices: there and back, gradients, pinned memory, other libraries, files."""

import copy
import pickle

import pytest

import fuselet as fl
from cuda_marks import device_test, has_kernels, kernel_test, run_python
from fuselet import nn, optim


@device_test
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool"])
def test_there_and_back(dtype):
    x = fl.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(fl, dtype))
    for t in (x, x.t(), x[:, 1:], x[0, 0], x[:0], x.expand(2, 2, 3)):
        y = t.cuda()
        assert y.is_cuda and y.device == fl.device("cuda:0") and y.get_device() == 0 and y.dtype is t.dtype
        assert y.tolist() == t.tolist() and y.cpu().tolist() == t.tolist() and not y.cpu().is_cuda
        assert y.cuda() is y and y.to("cuda:0") is y
    assert x[1, 1].cuda().item() == x[1, 1].item() and bool(x[1, 1].cuda())


@device_test
def test_to_takes_device_dtype_and_both():
    x = fl.tensor([1.5, -2.5])
    assert x.to(fl.device("cuda"), fl.float16).tolist() == [1.5, -2.5]
    assert x.to(0).is_cuda and x.to(x.cuda()).is_cuda and x.cuda(0).to(x).device == x.device
    assert x.to("cuda", non_blocking=True).tolist() == [1.5, -2.5] and x.to("cuda", True).is_cuda
    y = x.to("cpu", copy=True)
    assert y is not x and not y._shares_memory(x)
    assert fl.tensor([1, 2], device="cuda").tolist() == [1, 2] and fl.as_tensor([1.0], device="cuda").is_cuda
    assert sorted(fl.randperm(5, device="cuda").tolist()) == [0, 1, 2, 3, 4]


@device_test
def test_host_reads():
    x = fl.tensor([1.0, 2.5]).cuda()
    assert repr(x) == "tensor([1., 2.5], device=cuda:0)" and f"{fl.tensor(2.5).cuda():.2f}" == "2.50"
    assert [10, 20, 30][fl.tensor(1).cuda()] == 20 and float(fl.tensor(2.5).cuda()) == 2.5
    with pytest.raises(TypeError, match=r"numpy\(\): the tensor is in memory of cuda:0; copy it with .cpu\(\) first"):
        x.numpy()
    assert x.numpy(force=True).tolist() == [1.0, 2.5] == x.cpu().numpy().tolist()


@device_test
def test_copy_between_devices():
    host, there = fl.zeros(2, 3), fl.zeros(2, 3).cuda()
    assert there.copy_(fl.arange(6.0).view(2, 3)) is there and there._version == 1
    assert host.copy_(there).tolist() == [[0, 1, 2], [3, 4, 5]]
    host.t().copy_(there.t())
    assert host.tolist() == [[0, 1, 2], [3, 4, 5]]
    there.copy_(fl.tensor([7, 8, 9]).expand(2, 3))
    assert there.tolist() == [[7, 8, 9], [7, 8, 9]]
    pinned = fl.zeros(2, 3).pin_memory()
    pinned.copy_(there, non_blocking=True)
    fl.cuda.synchronize()
    assert pinned.tolist() == there.tolist()
    with pytest.raises(RuntimeError, match=r"\[4\]"):
        host.copy_(fl.zeros(4).cuda())
    with pytest.raises(RuntimeError, match="add: all tensors must be on one device, got cpu and cuda:0"):
        host + there


@device_test
def test_gradients_cross_devices():
    x = fl.ones(3, requires_grad=True)
    (x.cuda().cpu() * fl.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [1, 2, 3] and not x.grad.is_cuda
    z = fl.ones(3).cuda().requires_grad_()
    (z.cpu() * 2).sum().backward()
    assert z.grad.is_cuda and z.grad.tolist() == [2, 2, 2]
    y = fl.ones(2, requires_grad=True)
    there = fl.zeros(2).cuda()
    out = there.clone() if has_kernels() else fl.zeros(2).cuda()
    out.copy_(y * 3)
    out.cpu().sum().backward()
    assert y.grad.tolist() == [3, 3] and not y.grad.is_cuda
    with pytest.raises(RuntimeError, match="the tensor is on cuda:0, the gradient on cpu"):
        z.grad = fl.ones(3)


@device_test
def test_pinned_memory():
    x = fl.arange(1000.0).pin_memory()
    assert x.is_pinned() and x[10:].is_pinned() and not fl.ones(2).is_pinned() and x.pin_memory() is x
    y = x.to("cuda", non_blocking=True)
    fl.cuda.synchronize()
    assert y.tolist() == x.tolist() and not y.is_pinned()
    with pytest.raises(RuntimeError, match="only tensors on the CPU"):
        y.pin_memory()
    loader = fl.utils.data.DataLoader(fl.utils.data.TensorDataset(fl.arange(4.0), fl.arange(4)), batch_size=2, pin_memory=True)
    for a, b in loader:
        assert a.is_pinned() and b.is_pinned()


@device_test
def test_other_libraries():
    x = fl.arange(6.0).view(2, 3).cuda()
    assert x.__dlpack_device__() == (2, 0) and fl.ones(1).__dlpack_device__() == (1, 0)
    y = fl.from_dlpack(x.t())
    assert y.data_ptr() == x.data_ptr() and y.device == x.device and y.tolist() == [[0, 3], [1, 4], [2, 5]]
    capsule = x.__dlpack__()
    del capsule
    with pytest.raises(BufferError, match="the tensor is on cuda:0"):
        x.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match="stream 0"):
        x.__dlpack__(stream=0)
    interface = x.t().__cuda_array_interface__
    assert interface["shape"] == (3, 2) and interface["strides"] == (4, 12) and interface["typestr"] == "<f4"
    assert interface["data"] == (x.data_ptr(), False) and interface["version"] == 3
    assert interface["stream"] == fl.cuda.current_stream().cuda_stream and x.__cuda_array_interface__["strides"] is None
    assert not hasattr(fl.ones(1), "__cuda_array_interface__")


# ---- saving
@device_test
def test_saving_keeps_devices(tmp_path):
    p = nn.Parameter(fl.ones(2).cuda())
    state = {"w": fl.arange(3.0).cuda(), "host": fl.ones(1), "p": p, "again": p, "h": fl.tensor([1.5]).to(fl.bfloat16).cuda()}
    fl.save(state, tmp_path / "a.pt")
    back = fl.load(tmp_path / "a.pt")
    assert back["w"].is_cuda and not back["host"].is_cuda and back["p"].is_cuda and back["p"] is back["again"]
    assert back["w"].tolist() == [0, 1, 2] and back["h"].tolist() == [1.5] and type(back["p"]) is nn.Parameter
    for place in ("cpu", fl.device("cpu"), {"cuda:0": "cpu"}, lambda t, location: t):
        moved = fl.load(tmp_path / "a.pt", map_location=place)
        assert not any(t.is_cuda for t in moved.values()) and moved["w"].tolist() == [0, 1, 2]
    fl.save({"w": state["w"]}, tmp_path / "a.safetensors")
    assert not fl.load(tmp_path / "a.safetensors")["w"].is_cuda
    assert fl.load(tmp_path / "a.safetensors", map_location="cuda")["w"].is_cuda
    again = pickle.loads(pickle.dumps(state["w"]))
    assert again.is_cuda and again.tolist() == [0, 1, 2]
    code = f"""
import fuselet as fl
try:
    fl.load({str(tmp_path / "a.pt")!r})
except RuntimeError as error:
    print(error)
print(fl.load({str(tmp_path / "a.pt")!r}, map_location="cpu")["w"].tolist())
"""
    out = run_python(code, FUSELET_CUDA="off").splitlines()
    assert out == ["load: a tensor belongs on cuda:0, which this machine has not (FUSELET_CUDA=off); "
                   "map_location='cpu' loads it on the CPU", "[0.0, 1.0, 2.0]"]


@device_test
def test_modules_and_optimizers_move():
    net = nn.Linear(3, 2)
    weight = net.weight
    before = weight.tolist()
    assert net.cuda() is net and net.weight is weight and weight.is_cuda and weight.tolist() == before
    host = nn.Linear(3, 2)
    host.load_state_dict(net.state_dict())
    assert not host.weight.is_cuda and host.weight.tolist() == before
    opt = optim.AdamW(host.parameters())
    host(fl.ones(1, 3)).sum().backward()
    opt.step()
    there = optim.AdamW(net.parameters())
    there.load_state_dict(opt.state_dict())
    moments = [v for s in there.state.values() for v in s.values() if isinstance(v, fl.Tensor)]
    assert moments and all(m.is_cuda for m in moments)
    assert net.cpu().weight.tolist() == before and not weight.is_cuda


@kernel_test
def test_copies_that_need_kernels():
    x = fl.arange(24.0, device="cuda").view(2, 3, 4)
    assert x[:, ::2].cpu().tolist() == x.cpu()[:, ::2].tolist() and copy.deepcopy(x).tolist() == x.tolist()
    x[0].copy_(fl.full((3, 4), 7.0).t().contiguous().t())
    assert x[0].tolist() == [[7.0] * 4] * 3
    assert x[fl.tensor([1, 0])].is_cuda and x.new_zeros(2).is_cuda and fl.zeros_like(x).is_cuda
    x.mul_(2)
    assert fl.eye(2, device="cuda").tolist() == [[1, 0], [0, 1]]
    assert fl.linspace(0, 1, 3, device="cuda").tolist() == [0, 0.5, 1]
    assert fl.tensor([1.5]).to("cuda", fl.float64).cpu().dtype is fl.float64
    assert x.to("cpu", fl.int32)[0, 0].tolist() == [14] * 4
    with pytest.raises(IndexError):
        x[fl.tensor([5])]


@device_test
@pytest.mark.parametrize("there,back", [("cuda", "cpu"), ("cpu", "cuda")])
def test_pairs_of_lbfgs_go_to_the_device_of_their_parameter(there, back):
    pair = tuple(fl.tensor(values, device=there) for values in ([1.0, 2.0], [3.0, 4.0]))
    state = {"func_evals": 2, "n_iter": 2, "d": pair[0], "t": 0.5, "pairs": ((*pair, 0.25),), "scale": 1.0, "prev_flat_grad": pair[1]}
    p = nn.Parameter(fl.zeros(2, device=back))
    opt = optim.LBFGS([p])
    opt.load_state_dict({"state": {0: state}, "param_groups": opt.state_dict()["param_groups"]})
    (s, y, inverse), = opt.state[p]["pairs"]
    assert {t.device.type for t in (s, y, opt.state[p]["d"])} == {back} and (s.tolist(), y.tolist(), inverse) == ([1, 2], [3, 4], 0.25)
