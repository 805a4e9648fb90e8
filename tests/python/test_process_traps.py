"""Child processes of a process that has computed: forked and spawned ones, and the loader's, beside threads of the pool and
beside a CUDA device in use. Every case is a process of its own, so that nothing was forked or started before."""

import pytest
from conftest import DEVICE
from cuda_marks import run_python

SECONDS = 10  # for a child, which else hangs
FORK = f"""
import gc, os, signal, sys, time
import fuselet as fl

fl.set_default_device({DEVICE!r})
x, f = fl.ones(10 ** 6), fl.compile(lambda x: x + 1)
assert x.sum().item() == 10 ** 6 and f(fl.ones(3)).tolist() == [2] * 3


def ends_well(child):
    sys.stdout.flush()
    if not (pid := os.fork()):
        signal.alarm({SECONDS})
        child()
        sys.exit()  # through exit handlers and destructors
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == 0, code


def host_work():
    fl.set_default_device("cpu")
    assert fl.ones(10 ** 6).sum().item() == 10 ** 6 and (fl.ones(300, 300) @ fl.ones(300, 300))[0, 0].item() == 300
    assert fl.compile(lambda x: x + 1)(fl.ones(3)).tolist() == [2] * 3
    y = fl.ones(100_000, requires_grad=True)
    fl.compile(lambda y: (y * 3).sum())(y).backward()
    assert y.grad.tolist() == [3] * 100_000


def device_work():
    begin = time.monotonic()
    for use in (lambda: fl.ones(1), lambda: x + 1, lambda: x.cpu(), lambda: f(x), lambda: fl.cuda.synchronize()):
        try:
            use()
        except RuntimeError as error:
            assert "spawn" in str(error), error
        else:
            raise AssertionError("the device was used")
    assert time.monotonic() - begin < 1
    host_work()


ends_well(host_work)
if {DEVICE!r} == "cpu":
    ends_well(lambda: f(fl.ones(3)).tolist() == [2] * 3 or sys.exit("the parent's function"))
    ends_well(lambda: ends_well(host_work))
else:
    ends_well(device_work)
# What the children have ended is theirs alone.
gc.collect()
assert x.sum().item() == 10 ** 6 and f(x).sum().item() == 2 * 10 ** 6 and fl.compile(lambda x: x * 3)(x)[0].item() == 3
print("whole")
"""


def test_forked_children_compute_on_the_host_and_refuse_the_device():
    assert run_python(FORK) == "whole"


LOADERS = f"""
import fuselet as fl
from fuselet.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    fl.set_default_device({DEVICE!r})
    x = fl.arange(8.0)
    assert x.sum().item() == 28 and fl.compile(lambda x: x * 2)(x).sum().item() == 56
    host = TensorDataset(x.cpu())
    for context in ("fork", "spawn"):
        batches = [b.tolist() for b, in DataLoader(host, batch_size=4, num_workers=2, multiprocessing_context=context)]
        assert batches == [[0, 1, 2, 3], [4, 5, 6, 7]], (context, batches)
    try:
        batches = [b.tolist() for b, in DataLoader(TensorDataset(x), batch_size=4, num_workers=1, multiprocessing_context="fork")]
        assert {DEVICE!r} == "cpu" and batches == [[0, 1, 2, 3], [4, 5, 6, 7]]
    except RuntimeError as error:
        assert {DEVICE!r} != "cpu" and "spawn" in str(error), error
    assert (x + 1).sum().item() == 36
    print("whole")
"""


def test_workers_of_loaders_are_forked_or_spawned():
    assert run_python(LOADERS) == "whole"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_process_of_multiprocessing(method, tmp_path):
    """A spawned process has the device to itself; a forked one has the host."""
    path = tmp_path / "work.py"
    path.write_text(f"""
import multiprocessing
import fuselet as fl

def work(device, queue):
    fl.set_default_device(device)
    y = fl.ones(1000, requires_grad=True)
    fl.compile(lambda y: (y * y).sum())(y).backward()
    queue.put(y.grad.tolist() == [2] * 1000)

if __name__ == "__main__":
    fl.set_default_device({DEVICE!r})
    assert fl.ones(10 ** 6).sum().item() == 10 ** 6
    context = multiprocessing.get_context({method!r})
    queue = context.Queue()
    child = context.Process(target=work, args=({DEVICE if method == "spawn" else "cpu"!r}, queue))
    child.start()
    assert queue.get(timeout=60)
    child.join({SECONDS})
    assert child.exitcode == 0
    print("whole")
""")
    assert run_python(f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')") == "whole"
