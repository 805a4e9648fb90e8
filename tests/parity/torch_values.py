"""Values carried from PyTorch to fuselet, and compared there: tensors keep their layout, everything else its meaning."""

import numpy as np
import torch

import fuselet as fl

DTYPES = {getattr(torch, name): getattr(fl, name)
          for name in ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
          if hasattr(fl, name)}

# PyTorch's own defaults: torch.testing.assert_close. Relative, absolute.
TOLERANCES = {torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7), torch.float16: (1e-3, 1e-5),
              torch.bfloat16: (1.6e-2, 1e-5)}


class NoCounterpart(Exception):
    """An argument that fuselet has no form of."""


def to_fuselet(value, device):
    """`value` with every tensor a fuselet leaf on `device` of the same sizes and strides."""
    if isinstance(value, torch.Tensor):
        return tensor_to_fuselet(value, device)
    if isinstance(value, torch.dtype):
        if value not in DTYPES:
            raise NoCounterpart(str(value))
        return DTYPES[value]
    if isinstance(value, torch.device):
        return fl.device(device)
    if isinstance(value, (torch.memory_format, torch.layout, torch.Generator)):
        raise NoCounterpart(type(value).__name__)
    if isinstance(value, complex):
        raise NoCounterpart("complex")
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (list, tuple)):
        return type(value)(to_fuselet(v, device) for v in value)
    if isinstance(value, dict):
        return {k: to_fuselet(v, device) for k, v in value.items()}
    return value


def tensor_to_fuselet(t, device):
    if t.dtype not in DTYPES or t.layout != torch.strided or t.is_quantized:
        raise NoCounterpart(f"a {t.dtype} {t.layout} tensor")
    plain = t.detach()
    span = 0 if plain.numel() == 0 else 1 + sum((n - 1) * s for n, s in zip(plain.shape, plain.stride()))
    flat = plain.as_strided((span,), (1,)).clone()
    if flat.dtype in (torch.bfloat16, torch.float16):
        base = fl.tensor(flat.float().numpy()).to(DTYPES[flat.dtype])
    else:
        base = fl.tensor(flat.numpy())
    result = base.to(device).as_strided(tuple(plain.shape), plain.stride()) if span else base.to(device).reshape(plain.shape)
    return result.detach().requires_grad_(True) if t.requires_grad else result


def tensors_of(value):
    """The tensors in a value, in order."""
    if isinstance(value, (torch.Tensor, fl.Tensor)):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors_of(v)]
    if isinstance(value, dict):
        return [t for v in value.values() for t in tensors_of(v)]
    return []


def as_array(t):
    """A fuselet tensor's values."""
    t = t.detach().cpu()
    return (t.float() if t.dtype in (fl.bfloat16, fl.float16) else t).numpy()


def difference(got, want, dtype):
    """None where a fuselet tensor equals PyTorch's within the tolerance of `dtype`, else what differs."""
    if tuple(got.shape) != tuple(want.shape):
        return f"shape {tuple(got.shape)}, want {tuple(want.shape)}"
    if DTYPES.get(want.dtype) != got.dtype:
        return f"dtype {got.dtype}, want {want.dtype}"
    a = as_array(got)
    b = want.detach().cpu()
    b = (b.float() if b.dtype in (torch.bfloat16, torch.float16) else b).numpy()
    if a.dtype.kind != "f":
        return None if np.array_equal(a, b) else "values"
    relative, absolute = TOLERANCES.get(want.dtype, TOLERANCES[dtype])
    close = np.isclose(a, b, rtol=relative, atol=absolute, equal_nan=True)
    if close.all():
        return None
    with np.errstate(all="ignore"):
        worst = np.nanmax(np.where(close, 0, np.abs(a.astype(np.float64) - b)))
    at = tuple(int(i) for i in np.argwhere(~close)[0])
    return f"{int((~close).sum())} of {close.size} values, by up to {worst:.3g}; at {at} {a[at]!r}, want {b[at]!r}"
