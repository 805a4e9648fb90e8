"""What goes wrong around the system's compiler and the cache of kernels, end to end: results stay right, reports say what
happened. Every case is a process of its own with a cache folder of its own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import fuselet as fl

NOBODY = 65534
PROGRAM = """
import json, os, resource, sys
import fuselet as fl
from fuselet import nn

if "FILE_SIZE" in os.environ:  # of every file that is written from now on: what a full disk does
    most = int(os.environ["FILE_SIZE"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

fl.manual_seed(3)
model = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Dropout(0.25), nn.Linear(16, 3))
optimizer = fl.optim.AdamW(model.parameters(), lr=0.05)
x, y = fl.randn(8, 6), fl.randint(0, 3, (8,))


def step(x, y):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


if sys.argv[1] == "compiled":
    step = fl.compile(step, numerics="exact")
losses = [step(x, y).item() for _ in range(4)]
kernels, text = [], ""
if sys.argv[1] == "compiled":
    kernels = [(k.origin, k.remark) for r in fl.compiler.reports(step) for k in r.kernels]
    text = str(fl.compiler.report(step))
print(json.dumps({"losses": losses, "parameters": [p.tolist() for p in model.parameters()], "kernels": kernels, "text": text}))
"""


def start(cache, mode="compiled", user=None, **environment):
    path = os.pathsep.join([str(Path(fl.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "FUSELET_CACHE_DIR": str(cache), **environment}
    identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    return subprocess.Popen([sys.executable, "-c", PROGRAM, mode], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **identity)


def finish(process):
    printed, messages = process.communicate(timeout=120)
    assert process.returncode == 0, messages
    return json.loads(printed)


def run(cache, mode="compiled", user=None, **environment):
    return finish(start(cache, mode, user, **environment))


def origins(result):
    return {origin for origin, _ in result["kernels"]}


def remarks(result):
    return {remark for _, remark in result["kernels"]}


@pytest.fixture(scope="module")
def eager(tmp_path_factory):
    return run(tmp_path_factory.mktemp("unused"), "eager")


@pytest.fixture
def check(eager):
    def equals_eager(result):
        assert result["losses"] == eager["losses"] and result["parameters"] == eager["parameters"]
        assert result["kernels"]

    return equals_eager


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A cache folder in which every kernel is."""
    cache = tmp_path_factory.mktemp("kept")
    assert origins(run(cache)) <= {"compiled", "memory cache"}
    return cache


@pytest.fixture
def filled(kept, tmp_path):
    return Path(shutil.copytree(kept, tmp_path / "filled"))


def test_a_compiler_that_is_not_there(tmp_path, check):
    result = run(tmp_path, FUSELET_CXX="", CXX="/nonexistent")
    check(result)
    assert origins(result) == {"interpreted"}
    assert remarks(result) == {"the C++ compiler that CXX names, '/nonexistent', is not there"}
    assert "interpreted" in result["text"] and "/nonexistent" in result["text"]
    # Once it is there, kernels are compiled.
    result = run(tmp_path)
    check(result)
    assert origins(result) <= {"compiled", "memory cache"} and remarks(result) == {""}


def test_a_compiler_that_fails(tmp_path, check):
    result = run(tmp_path, FUSELET_CXX="", CXX="/bin/false")
    check(result)
    assert origins(result) == {"interpreted"}
    assert all(r.startswith(f"the C++ compiler failed on {tmp_path}/failed/") for r in remarks(result))
    assert "the C++ compiler failed" in result["text"]
    sources = list((tmp_path / "failed").glob("*.cpp"))
    assert len(sources) == len(remarks(result)) and all(s.read_text() for s in sources)


def test_a_file_in_the_place_of_the_cache_folder(tmp_path, check):
    cache = tmp_path / "cache"
    cache.write_text("not a folder")
    for _ in range(2):
        result = run(cache)
        check(result)
        assert origins(result) <= {"compiled", "memory cache"}
        assert any("not cached on disk" in r for r in remarks(result))
    assert cache.read_text() == "not a folder"


def test_a_place_where_no_folder_can_be_made(check):
    result = run("/proc/fuselet")  # not even by root
    check(result)
    assert origins(result) <= {"compiled", "memory cache"} and any("not cached on disk" in r for r in remarks(result))


@pytest.mark.parametrize("filled", [False, True])
def test_a_cache_folder_that_may_only_be_read(check, filled):
    user = None
    if os.geteuid() == 0:  # permissions do not bind root
        user = NOBODY
        if subprocess.run([sys.executable, "-c", "import fuselet"], env=os.environ, user=user, cwd="/").returncode:
            pytest.skip("no other user can run the package")
    # Not below tmp_path, into which other users cannot look.
    with tempfile.TemporaryDirectory() as root:
        cache = Path(root) / "cache"
        (cache / "cpu").mkdir(parents=True)
        os.chmod(root, 0o755)
        if user is not None:
            for folder in (cache, cache / "cpu"):
                os.chown(folder, user, user)
        if filled:
            run(cache, user=user)
        before = {e.name: e.read_bytes() for e in (cache / "cpu").iterdir()}
        for folder in (cache / "cpu", cache):
            folder.chmod(0o555)
        try:
            result = run(cache, user=user)
        finally:
            for folder in (cache, cache / "cpu"):
                folder.chmod(0o755)
        assert {e.name: e.read_bytes() for e in (cache / "cpu").iterdir()} == before
    check(result)
    if filled:
        assert origins(result) <= {"disk cache", "memory cache"} and remarks(result) == {""}
    else:
        assert origins(result) <= {"compiled", "memory cache"} and any("not cached on disk" in r for r in remarks(result))


# Bytes: nothing, no object, some objects but not their entries, which hold the source besides.
@pytest.mark.parametrize("most", [0, 30000, 60000])
def test_a_disk_that_is_full(tmp_path, check, most):
    result = run(tmp_path, FILE_SIZE=str(most))
    check(result)
    for origin, remark in result["kernels"]:
        if origin == "interpreted":
            assert remark.startswith(("temporary files can be written neither", "the C++ compiler failed"))
        else:
            assert remark == "" or remark.startswith(f"not cached on disk: {tmp_path}/cpu: ")
    if most == 0:
        assert origins(result) == {"interpreted"}
    # What stays behind is whole: the next process compiles the rest, the one after it nothing.
    result = run(tmp_path)
    check(result)
    assert "interpreted" not in origins(result) and remarks(result) == {""}
    assert origins(run(tmp_path)) <= {"disk cache", "memory cache"}
    assert not list((tmp_path / "cpu").glob(".*"))


def test_damaged_entries_are_compiled_again(filled, check):
    entries = sorted((filled / "cpu").iterdir())
    assert len(entries) >= 4
    whole = {e: e.read_bytes() for e in entries}
    assert origins(run(filled)) <= {"disk cache", "memory cache"}
    for i, (entry, data) in enumerate(whole.items()):
        middle = len(data) // 2
        entry.write_bytes([b"", data[:middle], data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:],
                           b"\x7fELF" * 50][i % 4])
    result = run(filled)
    check(result)
    assert origins(result) <= {"compiled", "memory cache"} and remarks(result) == {""}
    result = run(filled)
    check(result)
    assert origins(result) <= {"disk cache", "memory cache"}


def test_entries_of_other_kernels_under_the_right_names(filled, check):
    entries = sorted((filled / "cpu").iterdir())
    contents = [e.read_bytes() for e in entries]
    for entry, data in zip(entries, contents[1:] + contents[:1]):
        entry.write_bytes(data)
    result = run(filled)
    check(result)
    assert origins(result) <= {"compiled", "memory cache"}


def test_folders_in_the_place_of_entries(filled, check):
    for entry in sorted((filled / "cpu").iterdir()):
        entry.unlink()
        entry.mkdir()
        (entry / "inside").write_text("")
    result = run(filled)
    check(result)
    assert origins(result) <= {"compiled", "memory cache"} and any("not cached on disk" in r for r in remarks(result))


def test_two_processes_compile_at_once(tmp_path, check):
    for result in map(finish, [start(tmp_path), start(tmp_path)]):
        check(result)
        assert origins(result) <= {"compiled", "memory cache", "disk cache"} and remarks(result) == {""}
    result = run(tmp_path)
    check(result)
    assert origins(result) <= {"disk cache", "memory cache"}
    assert all(e.is_file() for e in (tmp_path / "cpu").iterdir())  # work folders are gone
