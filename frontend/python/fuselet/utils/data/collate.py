"""Items to one batch."""

from __future__ import annotations

import collections.abc
import copy

from ... import _C
from ...making import as_tensor, tensor
from ...tensor_class import Tensor


def _is_numpy(item):
    return type(item).__module__ == "numpy" or hasattr(item, "__array_interface__")


def default_convert(data):
    """NumPy arrays and numbers as tensors, inside containers too; everything else as it is."""
    if isinstance(data, Tensor) or isinstance(data, (str, bytes)):
        return data
    if _is_numpy(data):
        return data if getattr(data, "dtype", None) is not None and data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _rebuilt(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, (tuple, list)):
        return [default_convert(item) for item in data]
    return data


def default_collate(batch):
    """A list of items as one batch: tensors and arrays are stacked (one more dimension at the front), numbers become an int64
    or float64 tensor, texts stay as they are; dicts, named tuples, tuples and lists (of one length) are gone through.

    TypeError for items of other kinds, RuntimeError for sequences of different lengths."""
    first = batch[0]
    if isinstance(first, Tensor):
        return _C.functions.stack(list(batch))
    if isinstance(first, bool):
        return tensor(batch)
    if isinstance(first, float):
        return tensor(batch, dtype=_C.float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if _is_numpy(first):
        if first.dtype.kind in "SUO":
            raise TypeError(f"default_collate: no way to make a batch of NumPy values of dtype {first.dtype}; pass collate_fn")
        return _C.functions.stack([tensor(item) for item in batch])
    if isinstance(first, collections.abc.Mapping):
        return _rebuilt(first, {key: default_collate([item[key] for item in batch]) for key in first})
    if isinstance(first, (tuple, list)):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError(f"default_collate: the items have different lengths: {[len(item) for item in batch]}")
        parts = [default_collate(part) for part in zip(*batch)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise TypeError(f"default_collate: no way to make a batch of {type(first).__name__}; pass collate_fn")


def _rebuilt(like, entries):
    """entries as a mapping of like's type, where that copies its entries or can be made of a dict; else as a dict."""
    try:
        if isinstance(like, dict) or isinstance(like, collections.abc.MutableMapping) and hasattr(type(like), "__copy__"):
            mapping = copy.copy(like)  # which keeps what else it has, like the default of a defaultdict
            mapping.update(entries)
        else:
            # A copy of its attributes alone would share its entries with the dataset's item.
            mapping = type(like)(entries)
        return mapping if set(mapping) == set(entries) else entries
    except TypeError:
        return entries


def pinned(batch):
    """The batch with its tensors in pinned memory; an object with pin_memory() says itself how."""
    if isinstance(batch, Tensor) or hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    if isinstance(batch, collections.abc.Mapping):
        return _rebuilt(batch, {key: pinned(value) for key, value in batch.items()})
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(pinned, batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(map(pinned, batch))
    return batch
