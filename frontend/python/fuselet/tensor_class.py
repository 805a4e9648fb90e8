"""The class of tensors: what the operator table and the extension's TensorBase do not give."""

from __future__ import annotations

import builtins

from . import (_C, composed, constants, contracting, cumulative, diagonals, histograms, in_place, joining, ordering, printing, quantiles,
               reductions, selecting, shaping)
from .tensor_attributes import TensorAttributes

_F = _C.functions


class Size(tuple):
    """The sizes of a tensor: a tuple of ints."""

    __slots__ = ()

    def numel(self):
        """The number of elements of a tensor of this shape."""
        n = 1
        for size in self:
            n *= size
        return n

    def __getitem__(self, index):
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other):
        return Size((*other, *self))

    def __repr__(self):
        return f"fuselet.Size({list(self)})"

    def __reduce__(self):
        return Size, (tuple(self),)


class HookHandle:
    """Removes the hook that it was returned for; also as a context manager."""

    def __init__(self, remove):
        self._remove = remove

    def remove(self):
        remove, self._remove = self._remove, None
        if remove is not None:
            remove()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


class _Array:
    """What NumPy reads: the memory of a tensor, kept alive by this object."""

    def __init__(self, tensor):
        if tensor.dtype is _C.bfloat16:
            raise TypeError(
                "NumPy has no bfloat16: use t.float().numpy() for the values, or "
                "t.view(fuselet.uint16).numpy() for the bit patterns")
        pointer = tensor.data_ptr()  # an error for what a compiled function has yet to compute
        if tensor.is_cuda:
            raise TypeError(f"numpy(): the tensor is in memory of {tensor.device}; copy it with .cpu() first")
        width = tensor.element_size()
        self._tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "typestr": _TYPESTR[tensor.dtype],
            "shape": tuple(tensor.shape),
            "strides": tuple(s * width for s in tensor.stride()),
            "data": (pointer, tensor._is_read_only),
        }


_TYPESTR = {
    _C.float64: "<f8", _C.float32: "<f4", _C.float16: "<f2", _C.int64: "<i8", _C.int32: "<i4",
    _C.int8: "|i1", _C.uint8: "|u1", _C.bool: "|b1",
}


class _BitPatterns:
    """A 16-bit tensor read as unsigned integers, for NumPy alone: there is no uint16 tensor."""

    def __init__(self, tensor):
        self._tensor = tensor

    def numpy(self):
        import numpy

        array = _C._reinterpret(self._tensor, _C.float16)
        return array.numpy().view(numpy.uint16)


class Tensor(TensorAttributes, _C.TensorBase):
    """A multi-dimensional array with gradients. Made by fuselet.tensor(), zeros(), rand(), …"""

    __module__ = "fuselet"
    __hash__ = _C.TensorBase.__hash__
    # NumPy's own operators then leave mixed expressions to us.
    __array_priority__ = 1000

    def __new__(cls, *data, dtype=None, device=None, requires_grad=False):
        from .making import empty, tensor

        if len(data) == 1 and not isinstance(data[0], int):
            made = tensor(data[0], dtype=dtype or _C.get_default_dtype(), device=device)
        else:
            made = empty(data or (0,), dtype=dtype, device=device)
        return _C._make_subclass(cls, made, requires_grad)

    # ---- printing, copying, pickling
    def __repr__(self):
        text = printing.text_of(self)
        node = self.grad_fn
        if node is not None:
            text = text.replace(", requires_grad=True)", f", grad_fn=<{node.name()}>)")
        return text

    def __format__(self, spec):
        return format(self.item(), spec) if self.dim() == 0 and spec else format(str(self), spec)

    def __copy__(self):
        """Another tensor over the same memory."""
        if not self.is_leaf:
            raise RuntimeError("copy: only leaves of the graph can be copied; use detach() or clone()")
        copied = _C._make_subclass(type(self), self.detach(), self.requires_grad)
        copied.__dict__.update(self.__dict__)
        return copied

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError("deepcopy: only leaves of the graph can be copied; use detach() or clone()")
        with _no_grad():
            copied = _C._make_subclass(type(self), self._copied_with_views(memo), self.requires_grad)
            if self.grad is not None:
                copied.grad = self.grad.detach().clone()
        memo[id(self)] = copied
        import copy

        for name, value in self.__dict__.items():
            copied.__dict__[name] = copy.deepcopy(value, memo)
        return copied

    def _copied_with_views(self, memo):
        """A detached copy; tensors of one memory (and dtype), copied with one memo, share a memory again."""
        if self.numel() == 0 or _C._is_compiling():
            return self.detach().clone()
        storage = self.untyped_storage()
        key = ("memory", str(self.device), storage.data_ptr(), self.dtype)
        if key not in memo:
            memo[key] = self.detach().as_strided((storage.size(),), (1,), 0).clone()
        return _C._detached(memo[key].as_strided(tuple(self.shape), self.stride(), self.storage_offset()))

    def __reduce_ex__(self, protocol):
        if not self.is_leaf:
            raise RuntimeError("only leaves of the graph can be pickled; use detach() first")
        data = _bytes_of(self)
        state = (type(self), data, tuple(self.shape), self.dtype.name, self.requires_grad, str(self.device))
        return _rebuild, state, self.__dict__ or None

    # ---- other libraries
    def numpy(self, *, force=False):
        """A NumPy array over the same memory. TypeError for a tensor on a device; force=True detaches and copies it first."""
        import numpy

        if self.requires_grad:
            if not force:
                raise RuntimeError("numpy(): a tensor that requires grad; use detach().numpy()")
            self = self.detach()
        return numpy.asarray(_Array(self.cpu() if force else self))

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule over the memory. On a CUDA device, work of the consumer's `stream` (a driver's handle; by default the
        driver's legacy default stream; -1: no waiting) comes behind the work of the current stream."""
        source = self.clone() if copy else self
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"__dlpack__: the tensor is on {self.device}; move it with .to() first")
        if self.is_cuda and stream != -1:
            if stream == 0:
                raise BufferError("__dlpack__: stream 0 could mean two streams: use 1 (legacy default) or 2 (per thread)")
            _C.cuda.hand_over(self.device.index, 1 if stream is None else int(stream))
        return source._dlpack_capsule(max_version is not None and max_version[0] >= 1)

    def __dlpack_device__(self):
        return (2, self.device.index) if self.is_cuda else (1, 0)

    @property
    def __cuda_array_interface__(self):
        """Version 3: the memory for other CUDA libraries, and the stream behind whose work it may be read."""
        if not self.is_cuda:
            raise AttributeError(f"__cuda_array_interface__: the tensor is on {self.device}")
        if self.requires_grad:
            raise RuntimeError("__cuda_array_interface__: a tensor that requires grad; use detach() first")
        if self.dtype is _C.bfloat16:
            raise TypeError("__cuda_array_interface__ has no bfloat16; use __dlpack__()")
        width = self.element_size()
        return {"version": 3, "typestr": _TYPESTR[self.dtype], "shape": tuple(self.shape),
                "strides": None if self.is_contiguous() else tuple(s * width for s in self.stride()),
                "data": (self.data_ptr(), self._is_read_only),
                "stream": _C.cuda.current_stream(self.device.index).cuda_stream}

    # ---- dtype and device
    def to(self, *args, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None):
        """The tensor with another dtype or on another device; itself where both are right already.

        to(dtype), to(device, dtype), to(other): each may be followed by non_blocking and copy. With non_blocking, a copy
        from or to pinned memory may still run when the call returns: on the device's current stream."""
        if memory_format not in (None, constants.preserve_format):
            return self.to(*args, dtype=dtype, device=device, copy=copy, non_blocking=non_blocking).contiguous(memory_format)
        flags = []
        for given in args:
            if isinstance(given, Tensor):
                dtype, device = given.dtype, given.device
            elif isinstance(given, builtins.bool):
                flags.append(given)
            elif isinstance(given, (_C.device, str, builtins.int)):
                device = given
            elif given is not None:
                dtype = given
        non_blocking, copy = (flags + [non_blocking, copy][len(flags):])[:2]
        dtype = self.dtype if dtype is None else _dtype(dtype)
        target = self.device if device is None else _device(device)
        if target != self.device:
            # Converted on the side where fewer bytes are to be moved; inside a compiled function, on the side where it runs.
            first = dtype.itemsize < self.dtype.itemsize and not _C._is_in_compiled_call()
            moved = self.cast(dtype) if first else self
            moved = _C.internal.transfer(moved, target, non_blocking)
            return moved if moved.dtype is dtype else moved.cast(dtype)
        if dtype is not self.dtype:
            return self.cast(dtype)
        return self.clone() if copy else self

    def type(self, dtype=None):
        """"fuselet.float32" and the like; with a dtype, to(dtype)."""
        return f"fuselet.{self.dtype.name}" if dtype is None else self.to(dtype)

    def type_as(self, other):
        """to() the dtype of other."""
        return self.to(other.dtype)

    def float(self):
        """to(float32)."""
        return self.to(_C.float32)

    def double(self):
        """to(float64)."""
        return self.to(_C.float64)

    def half(self):
        """to(float16)."""
        return self.to(_C.float16)

    def bfloat16(self):
        """to(bfloat16)."""
        return self.to(_C.bfloat16)

    def int(self):
        """to(int32): floats truncate and saturate, NaN gives 0."""
        return self.to(_C.int32)

    def long(self):
        """to(int64): floats truncate and saturate, NaN gives 0."""
        return self.to(_C.int64)

    def byte(self):
        """to(uint8): floats truncate and saturate, NaN gives 0."""
        return self.to(_C.uint8)

    def bool(self):
        """to(bool): whether an element is nonzero."""
        return self.to(_C.bool)

    def cpu(self):
        """The tensor in host memory; itself where it is there."""
        return self.to("cpu")

    def cuda(self, device=None, non_blocking=False):
        """The tensor on a CUDA device, the current one by default."""
        return self.to("cuda" if device is None else device, non_blocking=non_blocking)

    def get_device(self):
        """The number of the CUDA device; -1 on the CPU."""
        return self.device.index if self.is_cuda else -1

    def pin_memory(self):
        """A copy in pinned host memory, from which to(device, non_blocking=True) copies while the caller goes on; the tensor
        itself if it is there. RuntimeError where there is no CUDA device."""
        return _C.cuda.pin_memory(self)

    def is_pinned(self):
        """Whether the elements are in memory that pin_memory() made."""
        return _C.cuda.is_pinned(self)

    def record_stream(self, stream):
        """The memory is used by work of `stream` too: freed, it is not used again before that work is done."""
        _C.cuda.record_stream(self, stream)

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    def view(self, *shape, **named):
        """Another shape, or (given a dtype of the same width) other elements, over the same memory."""
        if len(shape) == 1 and isinstance(shape[0], (_C.dtype, UnsignedBits)):
            if shape[0] is uint16:
                if self.element_size() != 2:
                    raise RuntimeError("view(uint16): expected a 16-bit dtype")
                return _BitPatterns(self)
            return _C._reinterpret(self, shape[0])
        return _C.TensorBase.view(self, *shape, **named)

    def view_as(self, other):
        """view() with the shape of other."""
        return self.view(other.shape)

    def reshape_as(self, other):
        """reshape() with the shape of other."""
        return self.reshape(other.shape)

    # ---- autograd
    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Adds the gradients of this tensor to `.grad` of the leaves it depends on."""
        from .autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs)

    def register_hook(self, hook):
        """Calls hook(gradient) when this tensor's gradient is computed; a returned tensor replaces it."""
        number = self._register_hook(hook)
        return HookHandle(lambda: self._remove_hook(number))

    def register_post_accumulate_grad_hook(self, hook):
        """Calls hook(self) when backward() has added to this leaf's .grad, after all leaves have theirs."""
        from .autograd.accumulated import register

        return register(self, hook)

    # ---- writing in place
    def copy_(self, source, non_blocking=False):
        """Writes source, broadcast to the shape and cast to the dtype of self. Between devices, with non_blocking, a copy
        from or to pinned memory may still run when the call returns."""
        if non_blocking and isinstance(source, Tensor) and source.device != self.device:
            _C.cuda.copy_non_blocking(self, source)
            return self
        return _C.TensorBase.copy_(self, source)

    def fill_(self, value):
        """Writes a number, or a tensor that broadcasts, to every element."""
        return self.copy_(value)

    def zero_(self):
        """Writes 0 to every element."""
        return self.copy_(0)

    def normal_(self, mean=0.0, std=1.0, *, generator=None):
        """Writes normal numbers, without recording; one draw of the generator."""
        with _no_grad():
            return self.copy_(_F.randn(self.shape, dtype=_drawn(self), device=self.device, generator=generator) * std + mean)

    def uniform_(self, low=0.0, high=1.0, *, generator=None):
        """Writes uniform numbers of [low, high), without recording; one draw of the generator."""
        with _no_grad():
            return self.copy_(_F.rand(self.shape, dtype=_drawn(self), device=self.device, generator=generator) * (high - low) + low)

    def bernoulli_(self, p=0.5, *, generator=None):
        """Writes 1 with probability p, else 0, without recording; one draw of the generator."""
        with _no_grad():
            return self.copy_((_F.rand(self.shape, device=self.device, generator=generator) < p).to(self.dtype))

    def exponential_(self, lambd=1.0, *, generator=None):
        """Exponentially distributed numbers of rate lambd. RuntimeError unless it is positive."""
        if lambd <= 0:
            raise RuntimeError(f"exponential_: lambd must be positive, got {lambd}")
        with _no_grad():
            uniform = _F.rand(self.shape, dtype=_drawn(self), device=self.device, generator=generator)
            return self.copy_(-_F.log1p(-uniform) / lambd)

    def random_(self, *bounds, generator=None):
        """Integers of [bounds[0], bounds[1]), or below the one bound; without bounds, of all that the dtype holds exactly
        from 0 on."""
        if len(bounds) > 2:
            raise TypeError(f"random_: expected at most two bounds, got {len(bounds)}")
        digits = {_C.float64: 53, _C.float32: 24, _C.float16: 11, _C.bfloat16: 8, _C.int64: 62, _C.int32: 31, _C.int8: 7,
                  _C.uint8: 8, _C.bool: 1}[self.dtype]
        whole = 2 ** digits + (1 if self.is_floating_point() else 0)
        low, high = (0, *bounds)[-2:] if bounds else (0, whole)
        with _no_grad():
            return self.copy_(_F.randint(low, high, self.shape, device=self.device, generator=generator))

    def set_(self, source):
        """Takes over the memory, shape and dtype of source, as assigning `.data` does."""
        self.data = source
        return self

    # ---- new tensors like this one
    def new_zeros(self, *size, dtype=None, device=None, requires_grad=False):
        """Zeros of this dtype and device."""
        return _F.zeros(*size, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)

    def new_ones(self, *size, dtype=None, device=None, requires_grad=False):
        """Ones of this dtype and device."""
        return _F.ones(*size, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)

    def new_empty(self, *size, dtype=None, device=None, requires_grad=False):
        """A tensor of this dtype and device with whatever the memory holds."""
        return _F.empty(*size, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)

    def new_full(self, size, fill_value, dtype=None, device=None, requires_grad=False):
        """A tensor of this dtype and device filled with a number."""
        return _F.full(size, fill_value, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)

    def new_tensor(self, data, dtype=None, device=None, requires_grad=False):
        """tensor(data), of this dtype and device."""
        from .making import tensor

        return tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)

    # ---- containers
    def __contains__(self, value):
        return bool((self == value).to(_C.int32).amax().item()) if self.numel() else False

    def __reversed__(self):
        return shaping.flip(self, 0)

    # The whole of the extension's iteration is __getitem__ until IndexError; this one knows the end.
    def __iter__(self):
        if self.dim() == 0:
            raise TypeError("a 0-d tensor cannot be iterated over")
        return iter(joining.unbind(self))


class UnsignedBits:
    """The name uint16, which only view() knows: 16-bit tensors as NumPy bit patterns."""

    name = "uint16"
    itemsize = 2

    def __repr__(self):
        return "fuselet.uint16"


uint16 = UnsignedBits()

# Functions of tensors that are methods as well.
for _name in ("add allclose deg2rad div divide equal float_power fmax fmin heaviside isclose isneginf isposinf logit max min "
              "rad2deg round sgn sinc squeeze sub subtract true_divide").split():
    setattr(Tensor, _name, getattr(composed, _name))
for _name in "aminmax dist logsumexp median mode nanmedian norm std var".split():
    setattr(Tensor, _name, getattr(reductions, _name))


def _div_(self, other, *, rounding_mode=None):
    """self / other, true or rounded by rounding_mode, written into self."""
    return getattr(_C.TensorBase, composed._divide(rounding_mode).__name__ + "_")(self, other)


def _add_(self, other, *, alpha=1):
    """self + alpha other, written into self."""
    return _C.TensorBase.add_(self, composed._times(other, alpha))


def _sub_(self, other, *, alpha=1):
    """self - alpha other, written into self."""
    return _C.TensorBase.sub_(self, composed._times(other, alpha))


def _round_(self, *, decimals=0):
    """self rounded to the nearest multiple of 10^-decimals, written into self."""
    return _C.TensorBase.round_(self) if decimals == 0 else self.copy_(composed.round(self, decimals=decimals))


Tensor.add_, Tensor.sub_, Tensor.subtract_, Tensor.round_ = _add_, _sub_, _sub_, _round_
Tensor.div_ = Tensor.divide_ = Tensor.true_divide_ = _div_

for _module in (shaping, joining, diagonals, selecting, ordering, contracting, quantiles, cumulative, histograms):
    for _name in _module.METHODS:
        setattr(Tensor, _name, getattr(_module, _name))
for _name, _method in in_place.METHODS.items():
    setattr(Tensor, _name, _method)


def _where(self, condition, other):
    """self where condition is true, else other."""
    return _F.where(condition, self, other)


Tensor.where = _where


def _no_grad():
    from .grad_mode import no_grad

    return no_grad()


def _drawn(tensor):
    return tensor.dtype if tensor.is_floating_point() else None


def _device(device):
    return device if isinstance(device, _C.device) else _C.device(device)


def _dtype(dtype):
    if isinstance(dtype, _C.dtype):
        return dtype
    names = {builtins.float: "float64", builtins.int: "int64", builtins.bool: "bool"}
    if dtype in names:
        return getattr(_C, names[dtype])
    return _C.dtype(getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype))


def _bytes_of(tensor):
    """The elements in row-major order."""
    dense = tensor.detach().cpu().contiguous()
    if dense.dtype is _C.bfloat16:
        dense = _C._reinterpret(dense, _C.float16)
    return dense.numpy().tobytes()


def tensor_of_bytes(data, shape, dtype_name):
    """The tensor that _bytes_of() wrote."""
    import numpy

    dtype = _C.dtype(dtype_name)
    carrier = _C.float16 if dtype is _C.bfloat16 else dtype
    array = numpy.frombuffer(data, dtype=_TYPESTR[carrier])
    size = Size(shape).numel()
    if array.size != size:
        raise RuntimeError(f"a tensor of shape {list(shape)} needs {size} elements, the data has {array.size}")
    made = _C._copy_of_array(array.reshape(shape), "cpu")
    return made if carrier is dtype else _C._reinterpret(made, dtype)


def _rebuild(cls, data, shape, dtype_name, requires_grad, device="cpu"):
    return _C._make_subclass(cls, tensor_of_bytes(data, shape, dtype_name).to(device), requires_grad)


_C._register_classes(Tensor, Size)
