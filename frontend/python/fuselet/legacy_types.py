"""FloatTensor, LongTensor and the like: constructors with a dtype, and classes for isinstance() alone."""

from __future__ import annotations

from . import _C
from .making import tensor


class _TypeOf(type):
    def __instancecheck__(cls, obj):
        return isinstance(obj, _C.TensorBase) and obj.dtype is cls.dtype


def _make(name, dtype):
    def make(cls, *data):
        if len(data) == 1 and not isinstance(data[0], int):
            return tensor(data[0], dtype=dtype)
        return _C.functions.empty(data or (0,), dtype=dtype)

    doc = f"Tensors of {dtype.name}: {name}(data) copies data, {name}(*sizes) has contents of any value."
    return _TypeOf(name, (), {"dtype": dtype, "__new__": make, "__doc__": doc, "__module__": "fuselet"})


FloatTensor, DoubleTensor = _make("FloatTensor", _C.float32), _make("DoubleTensor", _C.float64)
HalfTensor, BFloat16Tensor = _make("HalfTensor", _C.float16), _make("BFloat16Tensor", _C.bfloat16)
LongTensor, IntTensor = _make("LongTensor", _C.int64), _make("IntTensor", _C.int32)
CharTensor, ByteTensor, BoolTensor = _make("CharTensor", _C.int8), _make("ByteTensor", _C.uint8), _make("BoolTensor", _C.bool)
