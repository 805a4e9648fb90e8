"""The interpreter lock, worker threads, and fork."""

import os
import signal
import threading
import time

import pytest

import fuselet as fl


@pytest.mark.host_only("a device leaves the host nothing to wait for")
def test_other_threads_run_while_a_kernel_runs():
    a = fl.randn(1200, 1200)
    a @ a
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    t = threading.Thread(target=tick)
    t.start()
    begin = time.perf_counter()
    for _ in range(3):
        a @ a
    end = time.perf_counter()
    stop.set()
    t.join()
    during = sum(begin < x < end for x in ticks)
    # Were the lock held, a tick could come between two products only.
    assert during > 8, (during, end - begin)


def test_threads_compute_side_by_side():
    x = fl.arange(20000.0)
    want = (x * 2 + 1).sum().item()
    results = []

    def work():
        for _ in range(50):
            results.append((x * 2 + 1).sum().item())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [want] * 200


def test_backward_with_python_hooks_on_large_tensors_in_threads():
    seen = []

    def work():
        x = fl.ones(100_000, requires_grad=True)
        x.register_hook(lambda g: seen.append(g.numel()))
        for _ in range(5):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert seen == [100_000] * 15


def child_ends_well(work):
    """Whether work() gives true in a forked child, within ten seconds."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    deadline = time.time() + 10
    while time.time() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


@pytest.mark.host_only("a device does not survive a fork; test_process_traps has what a child may do")
def test_fork_after_the_pool_has_started():
    """A forked child computes, although the parent had used its threads."""
    assert fl.ones(10 ** 6).sum().item() == 10 ** 6
    assert child_ends_well(lambda: fl.ones(10 ** 6).sum().item() == 10 ** 6 and (fl.ones(300, 300) @ fl.ones(300, 300))[0, 0].item() == 300)


def test_results_do_not_depend_on_the_number_of_threads():
    before = fl.get_num_threads()
    x, w = fl.randn(257, 300), fl.randn(300, 129)
    results = []
    try:
        for n in (1, 2):
            fl.set_num_threads(n)
            results.append(((x @ w).softmax(-1), x.sum(), x.exp().mean(0)))
    finally:
        fl.set_num_threads(before)
    assert all(fl.equal(a, b) for a, b in zip(*results))


@pytest.mark.host_only("a device does not survive a fork; test_process_traps has what a child may do")
def test_a_forked_child_compiles():
    """Code that the parent has compiled runs in the child, and code that is new there is compiled."""
    f = fl.compile(lambda x: x + 1)
    assert f(fl.ones(3)).tolist() == [2, 2, 2]
    assert child_ends_well(lambda: f(fl.ones(3)).tolist() == [2, 2, 2])
    assert child_ends_well(lambda: fl.compile(lambda x: x * 3 - 1)(fl.ones(3)).tolist() == [2, 2, 2])
