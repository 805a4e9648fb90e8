"""save() and load(): what comes back, and what a damaged file does."""

import os
import pickle
import zipfile

import pytest

import fuselet as fl
from fuselet import nn, optim

DTYPES = [fl.float64, fl.float32, fl.float16, fl.bfloat16, fl.int64, fl.int32, fl.int8, fl.uint8, fl.bool]


def tensors():
    out = {d.name: fl.tensor([0, 1, 2, 3]).to(d) for d in DTYPES}
    out["view"] = fl.arange(6.0).view(2, 3).t()
    out["empty"] = fl.zeros(0, 3)
    out["scalar"] = fl.tensor(2.5)
    return out


@pytest.mark.parametrize("name", ["a.safetensors", "a.pt"])
def test_round_trip(tmp_path, name):
    fl.save(tensors(), tmp_path / name)
    back = fl.load(tmp_path / name)
    for key, t in tensors().items():
        assert back[key].dtype is t.dtype and back[key].shape == t.shape and back[key].tolist() == t.tolist()


def test_safetensors_is_the_public_format(tmp_path):
    numpy_format = pytest.importorskip("safetensors.numpy")
    fl.save({"w": fl.arange(6.0).view(2, 3)}, tmp_path / "a.safetensors")
    assert numpy_format.load_file(tmp_path / "a.safetensors")["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
    numpy_format.save_file({"v": fl.ones(2).numpy()}, tmp_path / "b.safetensors", metadata={"format": "x"})
    assert fl.load(tmp_path / "b.safetensors")["v"].tolist() == [1, 1]


def test_structures_share_and_keep_types(tmp_path):
    net = nn.Linear(2, 2)
    opt = optim.AdamW(net.parameters())
    net(fl.ones(1, 2)).sum().backward()
    opt.step()
    state = {"model": net.state_dict(), "optimizer": opt.state_dict(), "epoch": 3, "rng": fl.get_rng_state(),
             "twice": [net.weight, net.weight], "dtype": fl.float16, "size": net.weight.shape}
    fl.save(state, tmp_path / "s.pt")
    back = fl.load(tmp_path / "s.pt")
    assert back["epoch"] == 3 and back["dtype"] is fl.float16 and back["size"] == (2, 2)
    assert back["twice"][0] is back["twice"][1] and type(back["twice"][0]) is nn.Parameter and back["twice"][0].requires_grad
    fresh, opt2 = nn.Linear(2, 2), None
    fresh.load_state_dict(back["model"])
    opt2 = optim.AdamW(fresh.parameters())
    opt2.load_state_dict(back["optimizer"])
    assert fl.equal(fresh.weight, net.weight) and opt2.state_dict()["state"][0]["step"] == 1


@pytest.mark.parametrize("name", ["a.safetensors", "a.pt"])
def test_truncated_and_damaged_files(tmp_path, name):
    path = tmp_path / name
    fl.save(tensors(), path)
    whole = path.read_bytes()
    for cut in (0, 4, 8, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(RuntimeError, match="truncated|damaged"):
            fl.load(path)
    if name == "a.pt":
        for at in range(0, len(whole), max(1, len(whole) // 40)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1:])
            try:
                back = fl.load(path)
            except RuntimeError:
                continue
            assert {k: v.tolist() for k, v in back.items()} == {k: v.tolist() for k, v in tensors().items()}
    with pytest.raises(FileNotFoundError):
        fl.load(tmp_path / "missing.pt")


def test_a_file_runs_no_code(tmp_path):
    class Bad:
        def __reduce__(self):
            return os.system, ("touch " + str(tmp_path / "ran"),)

    path = tmp_path / "bad.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("format", "fuselet-archive-1")
        archive.writestr("structure", pickle.dumps(Bad()))
    with pytest.raises(RuntimeError, match="only containers"):
        fl.load(path)
    assert not (tmp_path / "ran").exists()


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.pt"
    fl.save({"x": fl.ones(1)}, path)
    with pytest.raises(Exception):
        fl.save({"x": lambda: 0}, path)
    assert fl.load(path)["x"].tolist() == [1]
    with pytest.raises(TypeError, match="dict of tensors"):
        fl.save([1], tmp_path / "b.safetensors")
    assert os.listdir(tmp_path) == ["a.pt"]


def test_equal_states_give_equal_files_with_ordinary_permissions(tmp_path, monkeypatch):
    import time

    state = {"w": fl.ones(3), "step": 4}
    fl.save(state, tmp_path / "first")
    later = time.localtime(time.time() + 86400)
    monkeypatch.setattr(time, "localtime", lambda *_: later)
    fl.save(state, tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "first").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert sorted(p.name for p in tmp_path.iterdir()) == ["first", "plain", "second"]


def test_a_folder_that_is_not_there_is_named_as_it_was_given(tmp_path):
    path = tmp_path / "missing" / "model"
    with pytest.raises(FileNotFoundError) as caught:
        fl.save({"w": fl.ones(3)}, path)
    assert caught.value.filename == str(path)


def test_sound_files_that_are_not_loaded_are_not_called_damaged(tmp_path):
    import zipfile

    path = tmp_path / "model.pt"
    fl.save(fl.nn.Linear(2, 1), path)
    with pytest.raises(RuntimeError, match="asks for fuselet.nn.*weights_only=False") as caught:
        fl.load(path)
    assert "damaged" not in str(caught.value)
    assert fl.load(path, weights_only=False)(fl.ones(1, 2)).shape == (1, 1)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"")
    with pytest.raises(RuntimeError, match="archive of torch.save; .*safetensors"):
        fl.load(path)
