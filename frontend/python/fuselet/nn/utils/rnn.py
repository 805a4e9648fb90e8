"""Sequences of different lengths: padded to one tensor, or packed without padding, longest first.

A packed sequence holds the steps one after another; at step t only the first batch_sizes[t] sequences are still going.
"""

from __future__ import annotations

import collections

from ... import _C
from ...making import full, tensor
from ...tensor_class import Tensor

_F = _C.functions


class PackedSequence(collections.namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])):
    """data (sum of lengths, …), batch_sizes (longest length), and the order of the sequences if they came unsorted."""

    __slots__ = ()

    def to(self, *args, **kwargs):
        """The same with its data converted or on another device."""
        moved = [None if i is None else i.to(device=self.data.to(*args, **kwargs).device) for i in self[2:]]
        return PackedSequence(self.data.to(*args, **kwargs), self.batch_sizes, *moved)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors (L_i, …) -> (longest, N, …), with batch_first (N, longest, …), filled up with padding_value."""
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("pad_sequence: expected at least one sequence")
    if padding_side not in ("right", "left"):
        raise ValueError(f"pad_sequence: padding_side must be 'right' or 'left', got {padding_side!r}")
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        rest = full([longest - s.size(0), *s.shape[1:]], padding_value, dtype=s.dtype, device=s.device)
        rows.append(s if s.size(0) == longest else _F.cat([s, rest] if padding_side == "right" else [rest, s], 0))
    return _F.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded tensor, as a list."""
    by_sequence = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [by_sequence[i][:n] for i, n in enumerate(_integers(lengths))]


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """(T, N, …), with batch_first (N, T, …), and N lengths -> PackedSequence. With enforce_sorted the lengths must not grow;
    without, the sequences are sorted and their order is kept. RuntimeError for a length of 0 or more than T."""
    x = input.transpose(0, 1) if batch_first else input
    counts = _integers(lengths)
    if len(counts) != x.size(1) or any(not 0 < n <= x.size(0) for n in counts):
        raise RuntimeError(f"pack_padded_sequence: expected {x.size(1)} lengths between 1 and {x.size(0)}, got {counts}")
    order = None
    if enforce_sorted:
        if any(a < b for a, b in zip(counts, counts[1:])):
            raise RuntimeError("pack_padded_sequence: with enforce_sorted=True the lengths must not grow, got " + str(counts))
    else:
        order = sorted(range(len(counts)), key=lambda i: -counts[i])
        counts = [counts[i] for i in order]
        x = x.index_select(1, tensor(order, device=x.device))
    sizes = [sum(n > t for n in counts) for t in range(counts[0])]
    data = _select_valid(x, sizes)
    if order is None:
        return PackedSequence(data, tensor(sizes, device="cpu"), None, None)
    back = sorted(range(len(order)), key=order.__getitem__)
    return PackedSequence(data, tensor(sizes, device="cpu"), tensor(order, device=x.device), tensor(back, device=x.device))


def pack_sequence(sequences, enforce_sorted=True):
    """Tensors (L_i, …) -> PackedSequence."""
    sequences = list(sequences)
    return pack_padded_sequence(pad_sequence(sequences), [s.size(0) for s in sequences], enforce_sorted=enforce_sorted)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """PackedSequence -> (padded tensor (T, N, …) or (N, T, …), int64 lengths), in the order that the sequences had."""
    sizes = sequence.batch_sizes.tolist()
    lengths = [sum(size > i for size in sizes) for i in range(sizes[0])]
    steps = len(sizes) if total_length is None else total_length
    if steps < len(sizes):
        raise ValueError(f"pad_packed_sequence: total_length {total_length} is less than the longest sequence, {len(sizes)}")
    x = _spread(sequence.data, sizes + [0] * (steps - len(sizes)), padding_value)
    counts = tensor(lengths, device="cpu")
    if sequence.unsorted_indices is not None:
        x = x.index_select(1, sequence.unsorted_indices)
        counts = counts.index_select(0, sequence.unsorted_indices.cpu())
    return (x.transpose(0, 1) if batch_first else x), counts


def valid_steps(packed):
    """(T, N, …) with zeros for what is not there, and for each step a mask (N, 1) of the sequences that are still going."""
    sizes = packed.batch_sizes.tolist()
    device = packed.data.device
    masks = [tensor([[i < size] for i in range(sizes[0])], device=device) for size in sizes]
    return _spread(packed.data, sizes, 0.0), masks


def pack_steps(x, packed):
    """x (T, N, …) packed as `packed` is."""
    return packed._replace(data=_select_valid(x, packed.batch_sizes.tolist()))


def _integers(lengths):
    return [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]


def _select_valid(x, sizes):
    rows = [t * x.size(1) + i for t, size in enumerate(sizes) for i in range(size)]
    return x.reshape([x.size(0) * x.size(1), *x.shape[2:]]).index_select(0, tensor(rows, device=x.device))


def _spread(data, sizes, value):
    """The packed rows as (T, N, …), `value` elsewhere: the row behind the last one."""
    width, rows, at = sizes[0], [], 0
    for size in sizes:
        rows += [at + i if i < size else data.size(0) for i in range(width)]
        at += size
    filled = _F.cat([data, full([1, *data.shape[1:]], value, dtype=data.dtype, device=data.device)], 0)
    return filled.index_select(0, tensor(rows, device=data.device)).reshape([len(sizes), width, *data.shape[1:]])
