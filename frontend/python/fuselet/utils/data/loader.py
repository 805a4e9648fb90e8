"""DataLoader: batches of a dataset, in order or shuffled, made ahead by background threads."""

from __future__ import annotations

import collections
import concurrent.futures

from ... import _C
from ...making import randperm, tensor
from ...tensor_class import Tensor
from .dataset import TensorDataset


class Sampler:
    """Indices in some order."""

    def __iter__(self):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """Every index once, in a random order: one draw of the generator an epoch."""

    def __init__(self, data_source, generator=None):
        self.data_source, self.generator = data_source, generator

    def __iter__(self):
        return iter(randperm(len(self.data_source), generator=self.generator).tolist())

    def __len__(self):
        return len(self.data_source)


class BatchSampler(Sampler):
    """Lists of batch_size indices; the last may be shorter unless drop_last."""

    def __init__(self, sampler, batch_size, drop_last):
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        batch = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self):
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def default_collate(batch):
    """Items to one batch: tensors are stacked, numbers become tensors, containers are gone through."""
    first = batch[0]
    if isinstance(first, Tensor):
        return _C.functions.stack(batch)
    if isinstance(first, (bool, int, float)):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, dict):
        return {key: default_collate([item[key] for item in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(list(parts)) for parts in zip(*batch)))
    if isinstance(first, (tuple, list)):
        return [default_collate(list(parts)) for parts in zip(*batch)]
    if hasattr(first, "__array_interface__"):
        return _C.functions.stack([tensor(item) for item in batch])
    raise TypeError(f"default_collate: no way to make a batch of {type(first).__name__}; pass collate_fn")


def _pinned(batch):
    """The batch with its tensors in pinned memory."""
    if isinstance(batch, Tensor):
        return batch.pin_memory()
    if isinstance(batch, dict):
        return {key: _pinned(value) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(_pinned, batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(map(_pinned, batch))
    return batch


class DataLoader:
    """Iterates over batches. num_workers threads make them ahead; their order stays.

    pin_memory: batches lie in pinned memory where there is a CUDA device, for .to(device, non_blocking=True)."""

    def __init__(self, dataset, batch_size=1, shuffle=False, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
                 pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, generator=None, prefetch_factor=2,
                 persistent_workers=False):
        if num_workers < 0:
            raise ValueError(f"DataLoader: num_workers must not be negative, got {num_workers}")
        if batch_sampler is None and batch_size is not None and batch_size < 1:
            raise ValueError(f"DataLoader: batch_size must be positive, got {batch_size}")
        if shuffle and sampler is not None:
            raise ValueError("DataLoader: shuffle and sampler exclude each other")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.num_workers, self.prefetch_factor = num_workers, prefetch_factor
        self.collate_fn = collate_fn or default_collate
        self.generator = generator
        self.pin_memory = pin_memory
        self.sampler = sampler or (RandomSampler(dataset, generator) if shuffle else SequentialSampler(dataset))
        self.batch_sampler = batch_sampler or BatchSampler(self.sampler, batch_size, drop_last)

    def __len__(self):
        return len(self.batch_sampler)

    def _load(self, indices):
        batch = self._collated(indices)
        return _pinned(batch) if self.pin_memory and _C.cuda.is_available() else batch

    def _load_on(self, device, indices):
        """For a thread of its own, whose default device is not the loader's."""
        with device:
            return self._load(indices)

    def _collated(self, indices):
        whole = type(self.dataset) is TensorDataset and self.collate_fn is default_collate
        if whole:
            return list(self.dataset.__getitems__(tensor(indices, dtype=_C.int64, device="cpu")))
        return self.collate_fn([self.dataset[i] for i in indices])

    def __iter__(self):
        if self.num_workers == 0:
            return map(self._load, iter(self.batch_sampler))
        return self._load_ahead()

    def _load_ahead(self):
        pending = collections.deque()
        device = _C.get_default_device()
        with concurrent.futures.ThreadPoolExecutor(self.num_workers, thread_name_prefix="loader") as threads:
            try:
                for indices in self.batch_sampler:
                    pending.append(threads.submit(self._load_on, device, indices))
                    if len(pending) > self.num_workers * self.prefetch_factor:
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()
