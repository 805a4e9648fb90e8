"""NumPy and DLPack, both ways."""

import ctypes
import gc

import numpy as np
import pytest

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
    """Another library's array: float32, with a byte offset, strides in elements, and a deleter that counts."""

    def __init__(self, array, byte_offset=0, shape=None, strides=None, has_deleter=True):
        self.array, self.deleted = array, 0
        shape = shape or array.shape
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = (ctypes.c_int64 * len(shape))(*strides) if strides else None
        self._deleter = DELETER(self._delete) if has_deleter else DELETER()
        tensor = DLTensor(array.ctypes.data, 1, 0, len(shape), 2, 32, 1, self._shape, self._strides, byte_offset)
        self.managed = Managed(tensor, None, self._deleter)

    def _delete(self, managed):
        self.deleted += 1

    def __dlpack__(self, stream=None):
        return ctypes.pythonapi.PyCapsule_New(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self):
        return (1, 0)


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
    t = fl.arange(6.0).view(2, 3).t()
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
    assert t.view(fl.uint16).numpy().tolist() == [16256, 49184]
    assert t.float().numpy().tolist() == [1.0, -2.5]
    with pytest.raises(TypeError, match=r"float\(\).*view\(fuselet.uint16\)"):
        t.numpy()
    assert t[1].item() == -2.5


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool"])
def test_every_dtype_round_trips(name):
    a = np.array([[0, 1, 2], [3, 4, 5]]).astype(name)
    t = fl.tensor(a)
    assert t.dtype.name == name
    np.testing.assert_array_equal(t.numpy(), a)
    np.testing.assert_array_equal(fl.from_numpy(a[:, ::2]).numpy(), a[:, ::2])
    np.testing.assert_array_equal(t.t().numpy(), a.T)


def test_errors():
    with pytest.raises(RuntimeError, match="negative"):
        fl.from_numpy(np.arange(3.0)[::-1])
    with pytest.raises(RuntimeError, match="detach"):
        fl.ones(2, requires_grad=True).numpy()
    with pytest.raises(TypeError):
        fl.from_numpy([1, 2])
    assert np.asarray(fl.ones(2)).tolist() == [1, 1]
    assert fl.tensor(np.arange(3.0)[::-1]).tolist() == [2, 1, 0]


def test_numpy_scalars_are_numbers():
    x = fl.ones(2)
    assert (np.float32(2) * x).tolist() == [2, 2] and (x + np.int64(1)).dtype is fl.float32
    assert fl.zeros(np.int64(2), np.int64(3)).shape == (2, 3)
    assert fl.tensor([np.float32(1.5), np.int64(2)]).tolist() == [1.5, 2]
