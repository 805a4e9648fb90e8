"""NumPy and DLPack, both ways."""

import ctypes
import gc
import threading

import numpy as np
import pytest
from conftest import DEVICE
from cuda_marks import run_python

import fuselet as fl


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]

ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class FakeProducer:
    """Another library's array: float32, with a byte offset, strides in elements, and a deleter that counts. Its memory is an
    array's, or a tensor's, which is how it may be a device's."""

    def __init__(self, array, byte_offset=0, shape=None, strides=None, has_deleter=True):
        self.array, self.deleted = array, 0
        shape = shape or array.shape
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = (ctypes.c_int64 * len(shape))(*strides) if strides else None
        self._deleter = DELETER(self._delete) if has_deleter else DELETER()
        on_device = isinstance(array, fl.Tensor) and array.is_cuda
        self._device = (2, array.device.index) if on_device else (1, 0)
        address = array.data_ptr() if isinstance(array, fl.Tensor) else array.ctypes.data
        tensor = DLTensor(address, *self._device, len(shape), 2, 32, 1, self._shape, self._strides, byte_offset)
        self.managed = Managed(tensor, None, self._deleter)

    def _delete(self, managed):
        self.deleted += 1

    def __dlpack__(self, stream=None):
        return ctypes.pythonapi.PyCapsule_New(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self):
        return self._device


def test_byte_offset():
    """Read from where the offset says; the export folds it into the pointer."""
    p = FakeProducer(np.arange(16, dtype="f4"), byte_offset=32, shape=(8,), strides=(1,))
    t = fl.from_dlpack(p)
    assert t.tolist() == list(range(8, 16))
    assert fl.from_dlpack(t).tolist() == list(range(8, 16))
    assert np.from_dlpack(t).tolist() == list(range(8, 16))
    assert np.from_dlpack(t[2:]).tolist() == list(range(10, 16))


def test_strides_are_in_elements():
    p = FakeProducer(np.arange(12, dtype="f4"), shape=(3, 2), strides=(1, 6))
    assert fl.from_dlpack(p).tolist() == [[0, 6], [1, 7], [2, 8]]
    t = fl.arange(6.0, device="cpu").view(2, 3).t()
    assert np.from_dlpack(t).tolist() == t.tolist()


def test_deleter_runs_exactly_once():
    """Not while a view is alive, then once."""
    p = FakeProducer(np.arange(4, dtype="f4"))
    t = fl.from_dlpack(p)
    v = t[1:]
    del t
    gc.collect()
    assert p.deleted == 0
    assert v.tolist() == [1, 2, 3]
    del v
    gc.collect()
    assert p.deleted == 1


def test_null_deleter_and_second_consume():
    p = FakeProducer(np.arange(4, dtype="f4"), has_deleter=False)
    t = fl.from_dlpack(p)
    del t
    capsule = fl.ones(3).__dlpack__()
    assert fl.from_dlpack(capsule).tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="consumed"):
        fl.from_dlpack(capsule)


def test_unconsumed_capsule_frees_its_tensor():
    import weakref

    t = fl.ones(3)
    t.tag = 1
    ref = weakref.ref(t)
    capsule = t.__dlpack__()
    del t
    assert ref() is not None
    del capsule
    gc.collect()
    assert ref() is None


def test_failed_import_still_gives_the_memory_back():
    p = FakeProducer(np.arange(4, dtype="f4"), shape=(2,), strides=(-1,))
    with pytest.raises(RuntimeError, match="negative"):
        fl.from_dlpack(p)
    assert p.deleted == 1


@pytest.mark.parametrize("n", [4, 1000, 10 ** 6])
def test_numpy_shares_and_tensor_copies(n):
    """from_numpy shares, tensor copies, a read-only array stays unwritten."""
    a = np.zeros(n, np.float32)
    s, c = fl.from_numpy(a), fl.tensor(a)
    a[0] = 9
    assert s[0].item() == 9 and c[0].item() == 0
    s[1] = 3
    assert a[1] == 3
    back = s.numpy()
    back[2] = 4
    assert a[2] == 4


def test_read_only_memory():
    r = np.zeros(4, np.float32)
    r.flags.writeable = False
    t = fl.from_numpy(r)
    with pytest.raises(RuntimeError, match="read-only"):
        t[0] = 1
    with pytest.raises(RuntimeError, match="read-only"):
        t.add_(1)
    assert not t.numpy().flags.writeable
    exported = np.from_dlpack(t) if _numpy_knows_versions() else None
    assert exported is None or not exported.flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        t.__dlpack__()
    assert (t + 1).tolist() == [1] * 4


def _numpy_knows_versions():
    return tuple(int(v) for v in np.__version__.split(".")[:2]) >= (2, 1)


def test_bfloat16_and_numpy():
    """NumPy has no bfloat16: the error names both ways round, which keep the bits and the values."""
    t = fl.tensor([1.0, -2.5], dtype=fl.bfloat16)
    assert t.cpu().view(fl.uint16).numpy().tolist() == [16256, 49184]
    assert t.float().cpu().numpy().tolist() == [1.0, -2.5]
    with pytest.raises(TypeError, match=r"float\(\).*view\(fuselet.uint16\)"):
        t.cpu().numpy()
    assert t[1].item() == -2.5
    assert fl.compile(lambda t: t.float() * 2)(t).tolist() == [2.0, -5.0]


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool"])
def test_every_dtype_round_trips(name):
    a = np.array([[0, 1, 2], [3, 4, 5]]).astype(name)
    t = fl.tensor(a)
    assert t.dtype.name == name
    np.testing.assert_array_equal(t.cpu().numpy(), a)
    np.testing.assert_array_equal(fl.from_numpy(a[:, ::2]).numpy(), a[:, ::2])
    np.testing.assert_array_equal(t.t().cpu().numpy(), a.T)


def test_errors():
    with pytest.raises(RuntimeError, match="negative"):
        fl.from_numpy(np.arange(3.0)[::-1])
    with pytest.raises(RuntimeError, match="detach"):
        fl.ones(2, device="cpu", requires_grad=True).numpy()
    with pytest.raises(TypeError):
        fl.from_numpy([1, 2])
    assert np.asarray(fl.ones(2, device="cpu")).tolist() == [1, 1]
    assert fl.tensor(np.arange(3.0)[::-1]).tolist() == [2, 1, 0]


def test_numpy_scalars_are_numbers():
    x = fl.ones(2)
    assert (np.float32(2) * x).tolist() == [2, 2] and (x + np.int64(1)).dtype is fl.float32
    assert fl.zeros(np.int64(2), np.int64(3)).shape == (2, 3)
    assert fl.tensor([np.float32(1.5), np.int64(2)]).tolist() == [1.5, 2]


# ---- memory of the default device, eagerly and in compiled functions
BOTH = pytest.mark.parametrize("mode", [lambda f: f, fl.compile], ids=["eager", "compiled"])


@BOTH
def test_another_librarys_memory_of_any_device(mode):
    memory = fl.arange(16.0)
    p = FakeProducer(memory, byte_offset=32, shape=(4, 2), strides=(1, 4))
    t = fl.from_dlpack(p)
    assert t.device == fl.get_default_device() and t.data_ptr() == memory.data_ptr() + 32
    f = mode(lambda t: (t * 2 + 1, t.add_(100)))
    doubled, written = f(t)
    assert doubled.tolist() == [[17, 25], [19, 27], [21, 29], [23, 31]]
    assert written.tolist() == [[108, 112], [109, 113], [110, 114], [111, 115]]
    # Both, and what is exported again, are the producer's memory.
    again = fl.from_dlpack(t)
    assert again.tolist() == written.tolist() and memory.tolist() == [*range(8), *range(108, 116)]
    del t, written, again
    f = None
    gc.collect()
    assert p.deleted == 1


@BOTH
def test_the_deleter_waits_for_views_and_runs_on_any_thread(mode):
    p = FakeProducer(fl.arange(4.0))
    t, f = fl.from_dlpack(p), mode(lambda t: t[1:])
    views = [f(t)]
    del t
    gc.collect()
    assert p.deleted == 0 and views[0].tolist() == [1, 2, 3]
    thread = threading.Thread(target=views.clear)
    thread.start()
    thread.join()
    f = None
    gc.collect()
    assert p.deleted == 1


def test_shared_memory_may_outlive_the_interpreter():
    code = f"""
import builtins, numpy as np, fuselet as fl
fl.set_default_device({DEVICE!r})
host = fl.ones(3, device="cpu")
builtins.kept = [fl.from_dlpack(np.arange(4.0)), np.from_dlpack(host), host.numpy(), fl.from_numpy(np.ones(2)),
                 fl.ones(3).__dlpack__(), fl.from_dlpack(fl.ones(3))]
print("whole")
"""
    assert run_python(code) == "whole"


@BOTH
@pytest.mark.parametrize("n", [4, 1000, 10 ** 6])
def test_an_array_that_changes_after_the_call(n, mode):
    """A copy, a move to the device and a result hold what the array held when they were made."""
    device = fl.get_default_device()
    a = np.zeros(n, np.float32)
    shared, copied, moved = fl.from_numpy(a), fl.tensor(a), fl.from_numpy(a).to(device, copy=True)
    f = mode(lambda t: t.to(device) + 1)
    result = f(shared)
    a[...] = 9
    assert shared[0].item() == 9 and shared[-1].item() == 9
    assert not copied.any() and not moved.any() and (result == 1).all()
    assert (f(shared) == 10).all()


@pytest.mark.host_only("a device shares no memory with NumPy")
def test_a_compiled_function_writes_to_the_array():
    a = np.zeros(4, np.float32)
    f = fl.compile(lambda t: t.add_(1) * 2)
    for k in range(1, 3):
        assert f(fl.from_numpy(a)).tolist() == [2 * k] * 4 and a.tolist() == [k] * 4
    a.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        f(fl.from_numpy(a))
    assert a.tolist() == [2] * 4 and fl.compile(lambda t: t + 1)(fl.from_numpy(a)).tolist() == [3] * 4
