"""fuselet.cuda: devices, streams, events, memory. On a GPU, or on the simulated device
(FUSELET_CUDA=sim), where ./dev test runs it a second time."""

import os
import threading

import pytest

import fuselet as fl
from cuda_marks import available, device_test, kernel_test, run_python

MIB = 1 << 20


def alloc_mib(n):
    return fl.zeros(n * MIB, dtype=fl.int8).cuda()


# ---- without a device
def test_off_has_no_device_and_says_why():
    out = run_python("""
import fuselet as fl
print(fl.cuda.is_available(), fl.cuda.device_count(), fl.cuda.why_not_available(), fl.cuda.memory_allocated())
fl.cuda.synchronize(); fl.cuda.manual_seed(3); fl.cuda.empty_cache()
try:
    fl.ones(2).cuda()
except RuntimeError as error:
    print(error)
try:
    fl.zeros(2).pin_memory()
except RuntimeError as error:
    print(error)
""", FUSELET_CUDA="off").splitlines()
    assert out[0] == "False 0 FUSELET_CUDA=off 0"
    assert out[1] == "CUDA is not available: FUSELET_CUDA=off" == out[2]


def test_an_unknown_choice_is_named():
    code = "import fuselet as fl; print(fl.cuda.is_available(), fl.cuda.why_not_available())"
    assert run_python(code, FUSELET_CUDA="gpu") == "False FUSELET_CUDA='gpu': expected auto, off or sim"


def test_questions_load_nothing():
    code = """
import fuselet as fl
print(fl.cuda.memory_allocated(), fl.cuda.max_memory_reserved(), fl.cuda.memory_stats()["allocation.all.current"],
      fl.cuda.memory_snapshot(), fl.cuda.is_initialized())
fl.cuda.reset_peak_memory_stats(); fl.cuda.empty_cache(); fl.cuda.synchronize()
assert "Allocated memory" in fl.cuda.memory_summary() and not fl.cuda.is_initialized()
"""
    assert run_python(code) == "0 0 0 [] False"


def test_names_of_devices():
    assert str(fl.device("cuda:3")) == "cuda:3" and fl.device("cuda").type == "cuda"
    assert fl.device("cuda", 2) == fl.device("cuda:2") != fl.device("cpu")
    with pytest.raises(RuntimeError, match="at most 16"):
        fl.device("cuda:16")
    with pytest.raises(ValueError, match="expected a CUDA device, got cpu"):
        fl.cuda.memory_allocated("cpu")


def test_bad_allocator_options_are_an_error():
    if not available:
        pytest.skip(fl.cuda.why_not_available())
    code = """
import fuselet as fl
try:
    fl.ones(2).cuda()
except RuntimeError as error:
    print(error)
"""
    out = run_python(code, FUSELET_CUDA_ALLOC_CONF="max_split_size_mb:oops")
    assert out == "FUSELET_CUDA_ALLOC_CONF: max_split_size_mb:oops: expected a whole number of MiB above 20"


# ---- devices
@device_test
def test_device_properties():
    p = fl.cuda.get_device_properties(0)
    assert p.name == fl.cuda.get_device_name() and (p.major, p.minor) == fl.cuda.get_device_capability("cuda:0")
    free, total = fl.cuda.mem_get_info()
    assert 0 < free <= total <= p.total_memory and p.multi_processor_count > 0 and p.warp_size == 32
    assert fl.cuda.current_device() == 0 and fl.cuda.device_count() >= 1
    with fl.cuda.device(0):
        assert fl.ones(1).to("cuda").device == fl.device("cuda:0")
    with pytest.raises(RuntimeError, match="there is no device cuda:15"):
        fl.cuda.set_device(15)


# ---- streams and events
@device_test
def test_streams():
    assert fl.cuda.current_stream() == fl.cuda.default_stream() and fl.cuda.default_stream().cuda_stream != 0
    s = fl.cuda.Stream()
    assert s != fl.cuda.current_stream() and s.device == fl.device("cuda:0")
    with fl.cuda.stream(s):
        assert fl.cuda.current_stream() == s
        seen = []
        thread = threading.Thread(target=lambda: seen.append(fl.cuda.current_stream() == fl.cuda.default_stream()))
        thread.start(), thread.join()
        assert seen == [True]
        with fl.cuda.stream(None):
            assert fl.cuda.current_stream() == s
    assert fl.cuda.current_stream() == fl.cuda.default_stream()
    fl.cuda.set_stream(s)
    assert fl.cuda.current_stream() == s
    fl.cuda.set_stream(fl.cuda.default_stream())
    s.synchronize()
    assert s.query() and len({s, fl.cuda.current_stream(), s}) == 2


@device_test
def test_events():
    start, end = fl.cuda.Event(enable_timing=True), fl.cuda.Event(enable_timing=True)
    assert start.query()
    s = fl.cuda.Stream()
    start.record(s)
    with fl.cuda.stream(s):
        fl.cuda._sleep(1_000_000)
    assert s.record_event(end) is end
    fl.cuda.current_stream().wait_event(end)
    fl.cuda.current_stream().wait_stream(s)
    end.wait()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    with pytest.raises(RuntimeError, match="enable_timing"):
        fl.cuda.Event().elapsed_time(end)
    with pytest.raises(RuntimeError, match="recorded"):
        start.elapsed_time(fl.cuda.Event(enable_timing=True))


# ---- memory
@device_test
def test_statistics_are_exact():
    fl.cuda.empty_cache()
    base = fl.cuda.memory_allocated()
    a = alloc_mib(4)
    fl.cuda.reset_peak_memory_stats()
    n0, p0 = fl.cuda.memory_allocated() - base, fl.cuda.max_memory_allocated() - base
    b = alloc_mib(2)
    del b
    p1 = fl.cuda.max_memory_allocated() - base
    del a
    n1 = fl.cuda.memory_allocated() - base
    assert (n0, p0, p1, n1) == (4 * MIB, 4 * MIB, 6 * MIB, 0)
    stats = fl.cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == base and stats["num_ooms"] >= 0
    assert sum(s["total_size"] for s in fl.cuda.memory_snapshot()) == fl.cuda.memory_reserved()
    assert "20.00 MiB" in fl.cuda.memory_summary() or "MiB" in fl.cuda.memory_summary()


@device_test
def test_out_of_memory():
    base = fl.cuda.memory_allocated()
    free, total = fl.cuda.mem_get_info()
    x = fl.zeros(1, dtype=fl.int8).expand(total + MIB)
    assert issubclass(fl.cuda.OutOfMemoryError, RuntimeError)
    with pytest.raises(fl.cuda.OutOfMemoryError, match="cuda:0 is out of memory: .* were asked for"):
        x.cuda()
    assert fl.cuda.memory_allocated() == base and fl.cuda.memory_stats()["num_ooms"] >= 1
    assert fl.ones(3).cuda().tolist() == [1, 1, 1]


@device_test
def test_memory_in_use_elsewhere_is_not_handed_out():
    src, s = fl.ones(1 << 18).cuda(), fl.cuda.Stream()
    s.wait_stream(fl.cuda.current_stream())
    dst = fl.zeros(1 << 18).pin_memory()
    with fl.cuda.stream(s):
        fl.cuda._sleep(50_000_000)
        dst.copy_(src, non_blocking=True)
    address = src.data_ptr()
    src.record_stream(s)
    del src
    junk = fl.zeros(1 << 18).cuda()
    assert s.query() or junk.data_ptr() != address
    fl.cuda.synchronize()
    assert dst.sum().item() == 1 << 18


@kernel_test
def test_memory_that_a_kernel_still_reads_is_not_handed_out():
    src, s = fl.ones(1 << 20, device="cuda"), fl.cuda.Stream()
    s.wait_stream(fl.cuda.current_stream())
    with fl.cuda.stream(s):
        fl.cuda._sleep(50_000_000)
        dst = src.clone()
    address = src.data_ptr()
    src.record_stream(s)
    del src
    junk = fl.zeros(1 << 20, device="cuda")
    assert s.query() or junk.data_ptr() != address
    fl.cuda.synchronize()
    assert dst.sum().item() == 1048576


@device_test
def test_tensors_may_outlive_everything():
    run_python("""
import builtins, fuselet as fl
builtins.kept = [fl.ones(3).cuda(), fl.ones(3).pin_memory(), fl.cuda.Stream(), fl.cuda.Event()]
builtins.kept[3].record()
builtins.kept[0].record_stream(builtins.kept[2])
""")


@kernel_test
def test_a_forked_child_is_told_to_be_spawned():
    """CUDA does not survive fork(): its use in the child is an error at once, the CPU works, and nothing of the parent's is
    freed."""
    x = fl.ones(4, device="cuda")
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            assert fl.ones(10 ** 6).sum().item() == 10 ** 6
            for use in (lambda: fl.ones(1, device="cuda"), lambda: x + 1, lambda: x.cpu(), lambda: fl.cuda.synchronize()):
                with pytest.raises(RuntimeError, match="spawn"):
                    use()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert (x + 1).sum().item() == 8
