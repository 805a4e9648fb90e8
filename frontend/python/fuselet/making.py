"""Making tensors from data and numbers."""

from __future__ import annotations

from . import _C
from .constants import preserve_format
from .grad_mode import no_grad
from .shaping import _grid
from .tensor_class import Tensor, _device, _dtype

_F = _C.functions

zeros, ones, empty, full = _F.zeros, _F.ones, _F.empty, _F.full
rand, randn, arange = _F.rand, _F.randn, _F.arange


def tensor(data, *, dtype=None, device=None, requires_grad=False):
    """A new tensor with a copy of `data`: a number, nested lists of numbers, a NumPy array, a tensor.

    Without a dtype, Python numbers give bool, int64 or the default floating dtype; arrays keep theirs. Without a device,
    numbers and arrays go to the default device, and a tensor's copy stays on the tensor's.
    """
    if device is not None:
        device = _device(device)
    if isinstance(data, Tensor):
        made = data.detach().clone() if device is None else data.detach().to(device=device, copy=True)
    elif hasattr(data, "__array_interface__") and not hasattr(data, "item") or _is_array(data):
        made = _C._copy_of_array(_native(data), device or _C.get_default_device())
    else:
        made = _C._from_nested(_plain(data), None if dtype is None else _dtype(dtype), device or _C.get_default_device())
    if dtype is not None:
        made = made.to(dtype)
    return made.requires_grad_() if requires_grad else made


def _is_array(data):
    return hasattr(data, "__array_interface__") and hasattr(data, "ndim")


def _native(array):
    """The array in this machine's byte order and with strides that tensors have."""
    import numpy

    if array.dtype.kind == "u" and array.dtype.itemsize > 1 or array.dtype == numpy.int16:
        return array.astype(numpy.int64)
    strides = getattr(array, "strides", ())
    return numpy.array(array) if any(s < 0 for s in strides) else numpy.asarray(array)


def _plain(data):
    """Sequences that are neither lists nor tuples (ranges, arrays inside lists) as lists."""
    if isinstance(data, (list, tuple)):
        return [_plain(d) for d in data] if any(not isinstance(d, (int, float)) for d in data) else data
    if isinstance(data, Tensor):
        return data if data.dim() == 0 else data.tolist()
    if hasattr(data, "tolist"):
        return data.tolist()
    return list(data) if isinstance(data, range) else data


def as_tensor(data, dtype=None, device=None):
    """As tensor(), but shares memory with a tensor or an array whose dtype and device are right already."""
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    if _is_array(data):
        device = _C.get_default_device() if device is None else device
        made = from_numpy(data) if data.flags.writeable else tensor(data, device="cpu")
        return made.to(dtype=dtype, device=device)
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(array):
    """A tensor over the array's memory: a write to one shows in the other. A read-only array gives a
    read-only tensor. The version counter does not see NumPy's writes."""
    if not hasattr(array, "__array_interface__"):
        raise TypeError(f"from_numpy: expected a NumPy array, got {type(array).__name__}")
    return _C._over_array(array)


def from_dlpack(source):
    """A tensor over the memory of an object with __dlpack__, or of a DLPack capsule.

    Memory of a CUDA device is read behind what its producer has done; the producer must not reuse it before the work of
    this device's current stream has been done."""
    if not hasattr(source, "__dlpack__"):
        return _C._from_capsule(source)
    kind, index = source.__dlpack_device__() if hasattr(source, "__dlpack_device__") else (1, 0)
    on_stream = {"stream": _C.cuda.current_stream(index).cuda_stream} if kind == 2 else {}
    try:
        capsule = source.__dlpack__(max_version=(1, 0), **on_stream)
    except TypeError:  # a producer that is older than versions
        capsule = source.__dlpack__(**on_stream)
    return _C._from_capsule(capsule)


def _like(make, make_on):
    """make(input, …), or on another device than input's make_on(shape, …)."""

    def made(input, *args, dtype=None, device=None, requires_grad=False, memory_format=preserve_format, layout=None, **generator):
        if memory_format is not preserve_format:
            dense = made(input, *args, dtype=dtype, device=device, **generator).contiguous(memory_format)
            return dense.requires_grad_(requires_grad)
        if device is None or _device(device) == input.device:
            return make(input, *args, dtype=dtype, requires_grad=requires_grad, **generator)
        return make_on(input.shape, *args, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad, **generator)

    made.__name__ = make.__name__
    made.__doc__ = make.__doc__
    return made


zeros_like, ones_like, full_like = _like(_F.zeros_like, zeros), _like(_F.ones_like, ones), _like(_F.full_like, full)
rand_like, randn_like = _like(_F.rand_like, rand), _like(_F.randn_like, randn)


def empty_like(input, *, dtype=None, device=None, requires_grad=False, memory_format=preserve_format, layout=None):
    """A tensor of the shape, dtype and device of input with whatever the memory holds."""
    if memory_format is not preserve_format:
        return empty_like(input, dtype=dtype, device=device).contiguous(memory_format).requires_grad_(requires_grad)
    return empty(input.shape, dtype=dtype or input.dtype, device=device or input.device, requires_grad=requires_grad)


def randint(low, high=None, size=None, *, dtype=None, device=None, generator=None, requires_grad=False):
    """Integers of [low, high); randint(high, size) counts from 0."""
    if size is None:
        low, high, size = 0, low, high
    made = _F.randint(low, high, size, dtype=dtype, device=device, generator=generator)
    return made.requires_grad_() if requires_grad else made


def randint_like(input, low, high=None, *, dtype=None, device=None, generator=None):
    """Integers of [low, high) in the shape, dtype and device of input; randint_like(input, high) counts from 0."""
    low, high = (0, low) if high is None else (low, high)
    return _F.randint(low, high, input.shape, dtype=dtype or input.dtype, device=device or input.device, generator=generator)


def randperm(n, *, generator=None, dtype=None, device=None):
    """A random order of 0 … n-1. One draw: the order of n uniform numbers."""
    return _F.rand(n, dtype=_C.float64, device=device, generator=generator).argsort().to(dtype or _C.int64)


def normal(mean=0.0, std=1.0, size=None, *, generator=None, dtype=None, device=None, requires_grad=False):
    """Normal numbers of that mean and standard deviation: tensors, which broadcast and whose shape the result has, or numbers
    and a size. RuntimeError for a negative number std."""
    given = [t for t in (mean, std) if isinstance(t, Tensor)]
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal: std must not be negative, got {std}")
    if size is None:
        if not given:
            raise RuntimeError("normal: numbers for mean and std need a size")
        size = _F.add(mean, std).shape
    device = given[0].device if given and device is None else device
    dtype = given[0].dtype if given and dtype is None else dtype
    with no_grad():
        made = randn(size, dtype=dtype, device=device, generator=generator) * std + mean
    return made.requires_grad_() if requires_grad else made


def bernoulli(input, *, generator=None):
    """1 with the probability that the element gives, else 0.

    A probability outside [0, 1] is an error; in a compiled function, where no value can be looked at, it counts as the nearer end."""
    with no_grad():
        if not _C._is_compiling() and not ((input >= 0) & (input <= 1)).all():
            raise RuntimeError("bernoulli: the probabilities must lie in [0, 1]")
        return (rand(input.shape, device=input.device, generator=generator) < input).to(input.dtype)


def multinomial(input, num_samples, replacement=False, *, generator=None):
    """Indices of the last dimension drawn with probability proportional to input's elements.

    input: (C) or (N, C), not negative, enough of it positive: else RuntimeError, where compiled code looks at no value. Without
    replacement, the largest of the perturbed logarithms."""
    with no_grad():
        if not replacement and num_samples > input.size(-1):
            raise RuntimeError(f"multinomial: {num_samples} samples without replacement of {input.size(-1)}")
        likely = (input > 0).sum(-1)
        if not _C._is_compiling() and (not ((input >= 0) & _F.isfinite(input)).all() or not (likely >= (1 if replacement else max(num_samples, 1))).all()):
            raise RuntimeError(f"multinomial: expected finite weights that are not negative, enough of them positive for "
                               f"{num_samples} samples, got shape {list(input.shape)}")
        logs = input.to(_C.float64).log()
        shape = tuple(input.shape[:-1]) + (num_samples if replacement else 1, input.size(-1))
        noise = -(-(rand(shape, dtype=_C.float64, device=input.device, generator=generator).clamp(min=1e-300).log())).log()
        scores = logs.unsqueeze(-2) + noise
        return scores.argmax(-1) if replacement else scores.select(-2, 0).topk(num_samples, -1).indices


def eye(n, m=None, *, dtype=None, device=None, requires_grad=False):
    """1 on the diagonal, else 0: shape (n, m)."""
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"eye: sizes must not be negative, got {[n, n if m is None else m]}")
    rows, columns = arange(n, device=device).unsqueeze(1), arange(n if m is None else m, device=device).unsqueeze(0)
    made = (rows == columns).to(dtype or _C.get_default_dtype())
    return made.requires_grad_() if requires_grad else made


def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False):
    """`steps` numbers from start to end, both included; both are numbers, or 0-d tensors, which the host reads."""
    start, end = (x.item() if isinstance(x, Tensor) else x for x in (start, end))
    if steps < 0:
        raise RuntimeError(f"linspace: the number of steps must not be negative, got {steps}")
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    at = arange(steps, dtype=_C.float64, device=device)
    # From each end to the middle, so that both ends are exact.
    values = _F.where(at < steps / 2, start + at * step, end - (steps - 1 - at) * step)
    made = values.to(dtype or _C.get_default_dtype())
    return made.requires_grad_() if requires_grad else made


def scalar_tensor(value, *, dtype=None, device=None, requires_grad=False):
    """A 0-d tensor, of the default floating dtype without one."""
    return tensor(value, dtype=dtype or _C.get_default_dtype(), device=device, requires_grad=requires_grad)


def meshgrid(*tensors, indexing="ij"):
    """Vectors of sizes N1, N2, … as tensors of shape (N1, N2, …), each repeated along the others' dimensions; 'xy' has the
    first two dimensions exchanged."""
    tensors = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing must be 'ij' or 'xy', got {indexing!r}")
    return tuple(t.transpose(0, 1) if indexing == "xy" and t.dim() > 1 else t for t in _grid(tensors))
