"""Datasets: a length and items by index, or (IterableDataset) items one after another.

One with __getitems__(indices) gives a list of items at once; the loader asks for it where it can.
"""

from __future__ import annotations

import bisect
import itertools

from ...making import randperm


class Dataset:
    """Derive and write __getitem__(index) and __len__()."""

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__()")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Derive and write __iter__(). Every worker of a loader iterates over a copy of its own: get_worker_info() tells which
    part is its."""

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __iter__()")

    def __add__(self, other):
        return ChainDataset([self, other])


class ChainDataset(IterableDataset):
    """Iterable datasets one after another."""

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self):
        return sum(len(d) for d in self.datasets)


class TensorDataset(Dataset):
    """Item i is the tuple of the i-th entries of all tensors."""

    def __init__(self, *tensors):
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise ValueError(f"TensorDataset: the first sizes differ: {[t.size(0) for t in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def batch(self, indices):
        """The entries of a tensor of indices, each tensor's at once."""
        return tuple(t[indices] for t in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class Subset(Dataset):
    """Those items of a dataset that the indices name."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, list(indices)

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices):
        chosen = [self.indices[i] for i in indices]
        if hasattr(self.dataset, "__getitems__"):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[i] for i in chosen]

    def __len__(self):
        return len(self.indices)


class StackDataset(Dataset):
    """Item i is the tuple of the i-th items of all datasets, or with names a dict of them."""

    def __init__(self, *datasets, **named):
        if bool(datasets) == bool(named):
            raise ValueError("StackDataset: expected datasets, all with or all without a name")
        self.datasets = named or datasets
        lengths = [len(d) for d in (named.values() if named else datasets)]
        if len(set(lengths)) != 1:
            raise ValueError(f"StackDataset: the lengths differ: {lengths}")
        self._length = lengths[0]

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: d[index] for name, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __len__(self):
        return self._length


class ConcatDataset(Dataset):
    """Datasets one after another."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise TypeError("ConcatDataset: an IterableDataset has no items by index; chain them with ChainDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __getitem__(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError(f"ConcatDataset: index {index} is out of range for {len(self)} items")
        index = index + len(self) if index < 0 else index
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]

    def __len__(self):
        return self.cumulative_sizes[-1] if self.cumulative_sizes else 0


def random_split(dataset, lengths, generator=None):
    """Subsets of the given lengths (or, where they sum to 1, fractions) in a random order."""
    total = len(dataset)
    if any(part < 0 for part in lengths):
        raise ValueError(f"random_split: lengths must not be negative, got {list(lengths)}")
    if abs(sum(lengths) - 1) < 1e-9 and sum(lengths) != total:
        counts = [int(total * part) for part in lengths]
        for i in range(total - sum(counts)):
            counts[i % len(counts)] += 1
        lengths = counts
    if sum(lengths) != total:
        raise ValueError(f"random_split: lengths {list(lengths)} do not sum to {total}")
    order = randperm(total, generator=generator).tolist()
    ends = list(itertools.accumulate(lengths))
    return [Subset(dataset, order[end - n:end]) for n, end in zip(lengths, ends)]
