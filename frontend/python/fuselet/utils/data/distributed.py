"""The part of a dataset that one of several processes reads."""

from __future__ import annotations

from ... import _C
from ...making import randperm
from .samplers import Sampler


class DistributedSampler(Sampler):
    """Every num_replicas-th index from rank on, in an order that seed and set_epoch(epoch) fix for all processes. The list is
    filled up from its beginning, or with drop_last cut, so that every process gets as many. num_replicas and rank must be
    given: there are no process groups to ask."""

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            raise RuntimeError("DistributedSampler: give num_replicas and rank; there is no process group to ask")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"DistributedSampler: rank must lie in [0, {num_replicas - 1}], got {rank}")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else -(-n // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        n = len(self.dataset)
        order = list(range(n))
        if self.shuffle:
            order = randperm(n, generator=_C.Generator().manual_seed(self.seed + self.epoch)).tolist()
        if not self.drop_last and n:
            order = (order * -(-self.total_size // n))[:self.total_size]
        return iter(order[self.rank:self.total_size:self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Another order for another epoch."""
        self.epoch = epoch
