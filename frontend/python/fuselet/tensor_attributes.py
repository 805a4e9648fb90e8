"""Attributes and methods of tensors that need no operator: memory formats, memory itself, questions with one answer here."""

from __future__ import annotations

import builtins

from . import _C, constants

_ORDERS = {constants.channels_last: (0, 2, 3, 1), constants.channels_last_3d: (0, 2, 3, 4, 1)}


class Storage:
    """The memory of a tensor, which its views share."""

    def __init__(self, tensor):
        self._tensor = tensor

    def nbytes(self):
        """Bytes of the whole memory."""
        return self._tensor._storage_bytes()

    def data_ptr(self):
        """Address of the memory's first byte."""
        return self._tensor.data_ptr() - self._tensor.storage_offset() * self._tensor.element_size()

    def size(self):
        """Elements of the tensor's dtype that the memory holds."""
        return self.nbytes() // self._tensor.element_size()

    __len__ = size

    @property
    def device(self):
        return self._tensor.device


def _permuted(tensor, memory_format):
    order = _ORDERS[memory_format]
    if tensor.dim() != len(order):
        raise RuntimeError(f"{memory_format!r} needs {len(order)} dimensions, got shape {list(tensor.shape)}")
    return tensor.permute(order), [order.index(d) for d in range(len(order))]


class TensorAttributes:
    """Comes before the extension's TensorBase in the class Tensor."""

    is_sparse = is_quantized = is_mkldnn = is_nested = is_mps = is_xpu = is_meta = False
    layout = constants.strided
    names = property(lambda self: (None,) * self.dim(), doc="No dimension has a name.")
    is_cpu = property(lambda self: self.device.type == "cpu", doc="Whether the memory is the host's.")
    itemsize = property(lambda self: self.element_size(), doc="Bytes of an element.")
    nbytes = property(lambda self: self.numel() * self.element_size(), doc="Bytes of all elements.")

    def is_complex(self):
        """False: there are no complex dtypes."""
        return False

    def is_conj(self):
        """False: there are no complex dtypes."""
        return False

    def is_signed(self):
        """Whether the dtype has negative numbers."""
        return self.dtype.is_signed

    def is_same_size(self, other):
        """Whether both have one shape."""
        return tuple(self.shape) == tuple(other.shape)

    def is_shared(self):
        """False: no memory is shared with other processes."""
        return False

    def is_set_to(self, other):
        """Whether both are the same memory with the same shape and strides."""
        return (self._shares_memory(other) and self.storage_offset() == other.storage_offset()
                and tuple(self.shape) == tuple(other.shape) and self.stride() == other.stride())

    def char(self):
        """to(int8)."""
        return self.to(_C.int8)

    def untyped_storage(self):
        """The memory, as bytes."""
        return Storage(self)

    storage = untyped_storage

    def new(self, *size):
        """An empty tensor, or one of the given sizes with contents of any value, of this dtype on this device."""
        if len(size) == 1 and not isinstance(size[0], builtins.int):
            return self.new_tensor(size[0])
        return self.new_empty(size or (0,))

    def contiguous(self, memory_format=constants.contiguous_format):
        """The tensor itself if its elements lie in that order, else a copy in which they do."""
        if memory_format not in _ORDERS:
            return _C.TensorBase.contiguous(self)
        moved, back = _permuted(self, memory_format)
        return self if moved.is_contiguous() else _C.TensorBase.contiguous(moved).permute(back)

    def clone(self, *, memory_format=constants.preserve_format, contiguous=False):
        """A copy in memory of its own; keeps a dense layout unless another memory_format is asked for."""
        if memory_format in _ORDERS:
            made = self.contiguous(memory_format)
            return _C.TensorBase.clone(made) if made is self else made
        return _C.TensorBase.clone(self, contiguous or memory_format is constants.contiguous_format)

    def is_contiguous(self, memory_format=constants.contiguous_format):
        """Whether the elements lie in that order without gaps."""
        if memory_format in _ORDERS:
            return self.dim() == len(_ORDERS[memory_format]) and _permuted(self, memory_format)[0].is_contiguous()
        return _C.TensorBase.is_contiguous(self)

    def dim_order(self):
        """The dimensions from the largest stride to the smallest."""
        return tuple(sorted(range(self.dim()), key=lambda d: (-self.stride(d), d)))

    def __round__(self, ndigits=0):
        return round(self.item(), ndigits) if ndigits else self.round()

    def __complex__(self):
        return complex(self.item())

    @property
    def H(self):
        """The transposed matrix, as mT: there are no complex dtypes."""
        if self.dim() not in (0, 2):
            raise RuntimeError(f"H: expected a matrix, got shape {list(self.shape)}")
        return self.mT if self.dim() else self

    def tril_(self, diagonal=0):
        """Zeros above a diagonal, written in place."""
        return self.copy_(self.tril(diagonal))

    def triu_(self, diagonal=0):
        """Zeros below a diagonal, written in place."""
        return self.copy_(self.triu(diagonal))

    def bernoulli(self, *, generator=None):
        """1 with the probability that the element gives, else 0."""
        from .making import bernoulli

        return bernoulli(self, generator=generator)

    def multinomial(self, num_samples, replacement=False, *, generator=None):
        """Indices of the last dimension drawn with probability proportional to the elements."""
        from .making import multinomial

        return multinomial(self, num_samples, replacement, generator=generator)

    def to_dense(self):
        """The tensor itself, which is dense."""
        return self

    def apply_(self, function):
        """Each element replaced by function(element), which is called for each; on the CPU alone."""
        values = [function(v) for v in self.detach().reshape(-1).tolist()]
        return self.copy_(self.new_tensor(values).view(self.shape))
