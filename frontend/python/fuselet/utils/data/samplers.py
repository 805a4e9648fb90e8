"""The orders in which a dataset is read. A generator's draws decide; without one those of the default generator."""

from __future__ import annotations

import itertools

from ... import _C
from ...making import as_tensor, multinomial, randint, randperm


def _check_flag(owner, name, value):
    """TypeError for what is no bool: an argument that stands in another's place."""
    if not isinstance(value, bool):
        raise TypeError(f"{owner}: {name} must be a bool, got {value!r}")


class Sampler:
    """Indices in some order."""

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __iter__()")


class SequentialSampler(Sampler):
    """0, 1, 2, …"""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """Every index once, in a random order: one draw of the generator an epoch. With num_samples that many: orders one after
    another, or with replacement any indices."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        if num_samples is not None and (not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0):
            raise ValueError(f"RandomSampler: num_samples must be a positive int, got {num_samples!r}")
        _check_flag("RandomSampler", "replacement", replacement)
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples

    @property
    def num_samples(self):
        """How many indices an epoch has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n, wanted = len(self.data_source), self.num_samples
        if self.replacement:
            yield from randint(n, (wanted,), generator=self.generator).tolist()
            return
        while wanted > 0 and n > 0:
            yield from randperm(n, generator=self.generator).tolist()[:wanted]
            wanted -= n

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in a random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        return (self.indices[i] for i in randperm(len(self.indices), generator=self.generator).tolist())

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """num_samples indices, each with a probability proportional to its weight; without replacement each at most once."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or num_samples <= 0:
            raise ValueError(f"WeightedRandomSampler: num_samples must be a positive int, got {num_samples!r}")
        _check_flag("WeightedRandomSampler", "replacement", replacement)
        self.weights = as_tensor(weights, dtype=_C.float64)
        if self.weights.dim() != 1:
            raise ValueError(f"WeightedRandomSampler: expected one weight an index, got shape {list(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        return iter(multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of batch_size indices; the last may be shorter unless drop_last."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"BatchSampler: batch_size must be a positive int, got {batch_size!r}")
        _check_flag("BatchSampler", "drop_last", drop_last)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


class Endless(Sampler):
    """None for ever: in the place of indices where a dataset is iterated over."""

    def __iter__(self):
        return itertools.repeat(None)
