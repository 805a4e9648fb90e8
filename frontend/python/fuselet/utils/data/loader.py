"""DataLoader: batches of a dataset, in order or shuffled, made here or ahead by worker processes."""

from __future__ import annotations

import functools
import itertools
import multiprocessing

from ... import _C
from ...making import tensor
from .collate import default_collate, default_convert, pinned
from .dataset import IterableDataset, TensorDataset
from .samplers import BatchSampler, Endless, RandomSampler, SequentialSampler
from .workers import Exhausted, WorkerPool


def _fetch_by_index(dataset, collate_fn, batched, indices):
    try:
        return _collated(dataset, collate_fn, batched, indices)
    except StopIteration as error:
        # On its way through the loader it would end the epoch, or lose a batch, without a word.
        raise RuntimeError(f"DataLoader: the dataset or collate_fn raised StopIteration for {indices}") from error


def _collated(dataset, collate_fn, batched, indices):
    if not batched:
        return collate_fn(dataset[indices])
    if type(dataset) is TensorDataset and collate_fn is default_collate:
        return list(dataset.batch(tensor(indices, dtype=_C.int64, device="cpu")))
    if hasattr(dataset, "__getitems__"):
        return collate_fn(dataset.__getitems__(indices))
    return collate_fn([dataset[i] for i in indices])


def _fetcher(collate_fn, batched, drop_last, dataset):
    """A function from what the sampler gives to a batch; StopIteration at the end of an iterable dataset."""
    if not isinstance(dataset, IterableDataset):
        return functools.partial(_fetch_by_index, dataset, collate_fn, batched)
    items = iter(dataset)

    def fetch(places):
        if not batched:
            return collate_fn(next(items))
        batch = list(itertools.islice(items, len(places)))
        if not batch or drop_last and len(batch) < len(places):
            raise StopIteration
        return collate_fn(batch)

    return fetch


class DataLoader:
    """Iterates over batches of a dataset; the order is the sampler's, whatever the number of workers.

    num_workers processes make batches ahead, prefetch_factor each; they start by multiprocessing_context ('fork', 'spawn', …;
    'fork' by default), call worker_init_fn(worker number) and have seeds of their own, drawn from the generator. With
    persistent_workers they live as long as the loader. An error in a worker is raised here with the worker's traceback;
    RuntimeError for a batch that takes longer than timeout seconds and for a worker that dies.

    An IterableDataset is iterated over in every worker; batch_size=None gives items one by one. pin_memory: batches lie in
    pinned memory where there is a CUDA device, for .to(device, non_blocking=True)."""

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
                 pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True):
        if num_workers < 0 or timeout < 0:
            raise ValueError(f"DataLoader: num_workers and timeout must not be negative, got {num_workers} and {timeout}")
        if num_workers == 0 and (prefetch_factor is not None or persistent_workers or timeout):
            raise ValueError("DataLoader: prefetch_factor, persistent_workers and timeout need num_workers > 0")
        if prefetch_factor is not None and prefetch_factor < 1:
            raise ValueError(f"DataLoader: prefetch_factor must be positive, got {prefetch_factor}")
        if shuffle and sampler is not None:
            raise ValueError("DataLoader: shuffle and sampler exclude each other")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
        if batch_sampler is None and batch_size is not None and batch_size < 1:
            raise ValueError(f"DataLoader: batch_size must be positive, got {batch_size}")
        if batch_sampler is None and batch_size is None and (shuffle or drop_last) and drop_last:
            raise ValueError("DataLoader: drop_last needs a batch_size")
        iterable = isinstance(dataset, IterableDataset)
        if iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("DataLoader: an IterableDataset has its own order; no shuffle, sampler or batch_sampler")
        if isinstance(multiprocessing_context, str) and multiprocessing_context not in multiprocessing.get_all_start_methods():
            raise ValueError(f"DataLoader: multiprocessing_context must be one of {multiprocessing.get_all_start_methods()}, got "
                             f"{multiprocessing_context!r}")
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.batch_size, self.drop_last = (None if batch_sampler is not None else batch_size), drop_last
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self.persistent_workers, self.worker_init_fn = persistent_workers, worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator, self.pin_memory = generator, pin_memory
        if sampler is None:
            sampler = Endless() if iterable else RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        self.batch_sampler = batch_sampler or (None if batch_size is None else BatchSampler(sampler, batch_size, drop_last))
        batched = self.batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self._make_fetcher = functools.partial(_fetcher, self.collate_fn, batched, drop_last)
        self._pool = None

    def __len__(self):
        if not isinstance(self.dataset, IterableDataset):
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def __iter__(self):
        places = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        batches = self._here(places) if self.num_workers == 0 else self._ahead(places)
        return map(pinned, batches) if self.pin_memory and _C.cuda.is_available() else batches

    def _here(self, places):
        fetch = self._make_fetcher(self.dataset)
        for place in places:
            try:
                batch = fetch(place)
            except StopIteration:
                return
            yield batch

    def _ahead(self, places):
        pool = self._pool
        if pool is None or pool.busy:  # with the batches of an iterator that has not ended
            pool = WorkerPool(self.num_workers, self.dataset, self._make_fetcher, self.worker_init_fn,
                              self.multiprocessing_context, self.timeout)
            if self.persistent_workers and self._pool is None:
                self._pool = pool
        pool.busy, kept = True, False
        try:
            pool.begin(_scattered((self.generator or _C.default_generator).next_seed()))
            yield from _in_turn(pool, places, self.prefetch_factor)
            kept = pool is self._pool
        except GeneratorExit:
            kept = pool is self._pool
            raise
        finally:
            pool.busy = False
            if not kept:
                # After an error in a batch the others are thrown away with the workers.
                if pool is self._pool:
                    self._pool = None
                pool.close()


def _scattered(seed):
    """Far from those of neighbouring seeds, for worker k adds k: the mixing function of SplitMix64 (Steele et al. 2014)."""
    seed &= (1 << 64) - 1
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        seed = (seed ^ seed >> shift) * factor & (1 << 64) - 1
    return (seed ^ seed >> 31) >> 2


def _in_turn(pool, places, ahead):
    """The batches in order: worker after worker, those whose part of an iterable dataset has ended left out."""
    going, tasks = list(range(len(pool))), []
    turn = itertools.count()

    def give():
        for place in itertools.islice(places, 1):
            worker = going[next(turn) % len(going)]
            pool.give(worker, place)
            tasks.append(worker)

    for _ in range(ahead * len(pool)):
        give()
    while tasks:
        worker = tasks.pop(0)
        batch = pool.take(worker)
        if isinstance(batch, Exhausted):
            if worker in going:
                going.remove(worker)
            if going:
                give()
            continue
        give()
        yield batch
