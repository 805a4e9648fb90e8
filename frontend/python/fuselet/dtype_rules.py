"""Questions about dtypes: what operators would give, and what may be cast to what."""

from __future__ import annotations

from . import _C

_F = _C.functions
_KINDS = {"bool": 0, "uint8": 1, "int8": 1, "int32": 1, "int64": 1}


def result_type(tensor1, tensor2):
    """The dtype of an operator of both, which are tensors or Python numbers."""
    if not isinstance(tensor1, _C.TensorBase) and not isinstance(tensor2, _C.TensorBase):
        kinds = [type(v) for v in (tensor1, tensor2)]
        return _C.get_default_dtype() if float in kinds else _C.int64 if int in kinds else _C.bool
    parts = [_F.empty([0] * bool(t.dim()), dtype=t.dtype) if isinstance(t, _C.TensorBase) else t for t in (tensor1, tensor2)]
    return _F.where(_F.empty([0] * any(isinstance(p, _C.TensorBase) and p.dim() for p in parts), dtype=_C.bool), *parts).dtype


def can_cast(from_, to):
    """Whether a cast keeps the category: bool < integer < floating, and no signed integer to an unsigned one."""
    if to is _C.uint8 and from_.name in ("int8", "int32", "int64"):
        return False
    return _KINDS.get(from_.name, 2) <= _KINDS.get(to.name, 2)


def is_complex(input):
    """False: there are no complex dtypes."""
    return False


def is_nonzero(input):
    """Whether the one element is not 0; RuntimeError for any other number of elements."""
    if input.numel() != 1:
        raise RuntimeError(f"is_nonzero: expected one element, got shape {list(input.shape)}")
    return bool(input.item() != 0)


def typename(obj):
    """The name of a class with its module; of a tensor with its dtype."""
    return obj.type() if isinstance(obj, _C.TensorBase) else f"{type(obj).__module__}.{type(obj).__qualname__}"
