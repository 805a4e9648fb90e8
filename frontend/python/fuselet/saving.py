"""save() and load(): safetensors for a dict of tensors, else an archive of plain Python containers and tensors.

A file appears under its name only when it is whole. Loading runs no code from the file: the archive knows
containers, numbers, strings and tensors, and nothing else.
"""

from __future__ import annotations

import collections
import io
import json
import os
import pickle
import secrets
import zipfile
import zlib

from . import _C, serialization
from .tensor_class import Tensor, _bytes_of, tensor_of_bytes

_MAGIC = "fuselet-archive-1"


class OtherFormat(RuntimeError):
    """A sound file of another library."""


class RefusedClass(RuntimeError):
    """A sound file that asks for a class which load() makes only where it is told to."""


class MissingDevice(RuntimeError):
    """A tensor that load() cannot put where it belongs."""


def save(obj, f, pickle_module=None, pickle_protocol=None):
    """Writes `obj` to a path or a binary file. A path that ends in .safetensors takes a dict of tensors."""
    path = None if hasattr(f, "write") else os.fspath(f)
    data = _to_safetensors(obj) if path and path.endswith(".safetensors") else _to_archive(obj)
    if path is None:
        f.write(data)
        return
    temporary = f"{path}.{secrets.token_hex(4)}"
    try:
        # With the permissions of any new file, which a temporary file of the tempfile module has not.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, path) from None
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None):
    """What save() wrote. FileNotFoundError for a missing file; RuntimeError for a truncated or damaged one.

    Objects of other classes are made if serialization.add_safe_globals() has allowed them, or all with weights_only=False:
    only for a file from a source that you trust, for such a file may run any code. mmap changes nothing.

    map_location says where tensors go: a device, a dict from saved to new devices by name, or a function of the tensor in
    host memory and the saved device's name that gives the tensor. By default they go to the device that they were saved
    from; tensors of a .safetensors file, which names none, to the CPU."""
    path = None if hasattr(f, "read") else os.fspath(f)
    if path is None:
        data = f.read()
    else:
        with open(path, "rb") as file:
            data = file.read()
    name = path or "the file"
    if path and path.endswith(".safetensors"):
        return {key: _placed(t, "cpu", map_location) for key, t in _from_safetensors(data, name).items()}
    return _from_archive(data, name, map_location, weights_only)


def _placed(made, saved, map_location):
    """The tensor `made` in host memory, saved from the device `saved`, where map_location says."""
    if callable(map_location):
        moved = map_location(made, saved)
        return made if moved is None else moved
    place = map_location.get(saved, saved) if isinstance(map_location, dict) else map_location
    given = _C.device(saved if place is None else str(place))
    if given.type == "cuda" and given.index >= _C.cuda.device_count():
        why = _C.cuda.why_not_available() or f"the machine has {_C.cuda.device_count()}"
        raise MissingDevice(f"load: a tensor belongs on {given}, which this machine has not ({why}); "
                            "map_location='cpu' loads it on the CPU")
    return made.to(device=given)


# ---- safetensors: eight bytes with the header's length, a JSON header, the elements
_SAFETENSORS = {"F64": _C.float64, "F32": _C.float32, "F16": _C.float16, "BF16": _C.bfloat16, "I64": _C.int64,
                "I32": _C.int32, "I8": _C.int8, "U8": _C.uint8, "BOOL": _C.bool}
_SAFETENSORS_NAMES = {dtype: name for name, dtype in _SAFETENSORS.items()}


def _to_safetensors(tensors):
    if not isinstance(tensors, dict) or not all(isinstance(t, Tensor) for t in tensors.values()):
        raise TypeError("save: a .safetensors file takes a dict of tensors")
    header, parts, at = {}, [], 0
    for name, t in tensors.items():
        data = _bytes_of(t)
        header[str(name)] = {"dtype": _SAFETENSORS_NAMES[t.dtype], "shape": list(t.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def _from_safetensors(data, name):
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise RuntimeError(f"load: {name} is truncated: its header is not whole")
    try:
        header = json.loads(data[8:8 + length])
        header.pop("__metadata__", None)
        entries = [(key, _SAFETENSORS[e["dtype"]], list(e["shape"]), *e["data_offsets"]) for key, e in header.items()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RuntimeError(f"load: the header of {name} is damaged: {error}") from None
    body = memoryview(data)[8 + length:]
    out = {}
    for key, dtype, shape, begin, end in entries:
        if not 0 <= begin <= end <= len(body):
            raise RuntimeError(f"load: {name} is truncated: the elements of '{key}' are not all there")
        try:
            out[key] = tensor_of_bytes(body[begin:end], shape, dtype.name)
        except (RuntimeError, ValueError) as error:
            raise RuntimeError(f"load: the entry '{key}' of {name} is damaged: {error}") from None
    return out


# ---- the archive: a zip file with a pickle of the structure and one member a tensor
class _Pickler(pickle.Pickler):
    def __init__(self, file, members):
        super().__init__(file, protocol=4)
        self._members = members
        self._keys = {}

    def persistent_id(self, obj):
        if isinstance(obj, Tensor):
            key = self._keys.get(id(obj))
            if key is None:
                key = self._keys[id(obj)] = f"tensors/{len(self._members)}"
                self._members.append((key, _bytes_of(obj), obj))
            kind = "parameter" if type(obj).__name__ == "Parameter" else "tensor"
            where = (str(obj.device),) if obj.is_cuda else ()
            return (kind, key, tuple(obj.shape), obj.dtype.name, obj.requires_grad, *where)
        if isinstance(obj, _C.dtype):
            return ("dtype", obj.name)
        if isinstance(obj, _C.device):
            return ("device", str(obj))
        return None


_SAFE_NAMES = {("collections", "OrderedDict"): collections.OrderedDict, ("collections", "defaultdict"): collections.defaultdict,
               ("builtins", "set"): set, ("builtins", "frozenset"): frozenset, ("builtins", "complex"): complex,
               ("builtins", "bytearray"): bytearray, ("builtins", "slice"): slice, ("builtins", "range"): range}


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, archive, name, map_location, weights_only):
        super().__init__(file)
        self._weights_only = weights_only
        self._archive = archive
        self._name, self._map_location = name, map_location
        self._made = {}

    def find_class(self, module, name):
        if module == "fuselet.tensor_class" and name == "Size":
            from .tensor_class import Size

            return Size
        if (module, name) in _SAFE_NAMES:
            return _SAFE_NAMES[module, name]
        if not self._weights_only:
            return super().find_class(module, name)
        if (found := serialization.allowed(module, name)) is not None:
            return found
        raise RefusedClass(f"load: {self._name} asks for {module}.{name}; only containers, numbers, strings and tensors are loaded, "
                           "and classes allowed by serialization.add_safe_globals(), or all with weights_only=False for a file "
                           "that you trust")

    def persistent_load(self, pid):
        if pid[0] == "dtype":
            return _C.dtype(pid[1])
        if pid[0] == "device":
            return _C.device(pid[1])
        kind, key, shape, dtype, requires_grad, saved = (*pid, "cpu")[:6]
        if key not in self._made:
            made = tensor_of_bytes(self._archive.read(key), shape, dtype)
            made = _placed(made, saved, self._map_location)
            if kind == "parameter":
                from .nn import Parameter

                made = Parameter(made, requires_grad)
            self._made[key] = made.requires_grad_(requires_grad)
        return self._made[key]


def _to_archive(obj):
    members, structure = [], io.BytesIO()
    _Pickler(structure, members).dump(obj)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        entries = [("format", _MAGIC.encode()), ("structure", structure.getvalue())]
        for key, data in entries + [(key, data) for key, data, _ in members]:
            # Without the time of day, so that equal states give equal files.
            archive.writestr(zipfile.ZipInfo(key), data)
    return out.getvalue()


def _from_archive(data, name, map_location, weights_only):
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if any(member.endswith("/data.pkl") for member in archive.namelist()):
                raise OtherFormat(f"load: {name} is an archive of torch.save; write the state dict as .safetensors there, "
                                  "which load() reads")
            if archive.read("format").decode() != _MAGIC:
                raise RuntimeError("it is not an archive of this library")
            return _Unpickler(io.BytesIO(archive.read("structure")), archive, name, map_location, weights_only).load()
    except (MissingDevice, OtherFormat, RefusedClass):
        raise
    except (zipfile.BadZipFile, pickle.UnpicklingError, zlib.error, EOFError, KeyError, ValueError, TypeError, IndexError,
            AttributeError, UnicodeDecodeError, RuntimeError, NotImplementedError, OSError, ImportError) as error:
        raise RuntimeError(f"load: {name} cannot be read, it is truncated or damaged: {error}") from None
