"""Datasets: a length and items by index."""

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


class TensorDataset(Dataset):
    """Item i is the tuple of the i-th entries of all tensors."""

    def __init__(self, *tensors):
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise ValueError(f"TensorDataset: the first sizes differ: {[t.size(0) for t in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __getitems__(self, indices):
        """A whole batch at once: the loader asks for it where it can."""
        return tuple(t[indices] for t in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class Subset(Dataset):
    """Those items of a dataset that the indices name."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, list(indices)

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    """Datasets one after another."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        self.ends = list(itertools.accumulate(len(d) for d in self.datasets))

    def __getitem__(self, index):
        index = index + len(self) if index < 0 else index
        which = bisect.bisect_right(self.ends, index)
        return self.datasets[which][index - (self.ends[which - 1] if which else 0)]

    def __len__(self):
        return self.ends[-1] if self.ends else 0


def random_split(dataset, lengths, generator=None):
    """Subsets of the given lengths (or, where they sum to 1, fractions) in a random order."""
    total = len(dataset)
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
