"""Worker processes of the loader, the order of their batches, and their end."""

import collections
import collections.abc
import functools
import multiprocessing
import os
import time
import types

import numpy as np
import pytest

import fuselet as fl
from fuselet.utils.data import (BatchSampler, ChainDataset, ConcatDataset, DataLoader, Dataset, DistributedSampler,
                                IterableDataset, RandomSampler, StackDataset, Subset, SubsetRandomSampler, TensorDataset,
                                WeightedRandomSampler, default_collate, default_convert, get_worker_info, random_split)
from fuselet.utils.data.collate import pinned


class Numbers(Dataset):
    def __init__(self, n=10):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return fl.tensor(i), os.getpid()


class Part(IterableDataset):
    """Every worker's own numbers."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, self.n, step))


class Draws(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        info = get_worker_info()
        return fl.rand(1).item(), float(np.random.rand()), info.id, info.seed, info.num_workers


def no_child_is_left():
    until = time.time() + 5
    while multiprocessing.active_children() and time.time() < until:
        time.sleep(0.01)
    return not multiprocessing.active_children()


@pytest.mark.parametrize("context,workers", [("fork", 2), ("spawn", 1)])
def test_batches_come_in_order_from_other_processes(context, workers):
    loader = DataLoader(Numbers(), batch_size=3, num_workers=workers, multiprocessing_context=context)
    batches = list(loader)
    assert [b[0].tolist() for b in batches] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    pids = {p for b in batches for p in b[1].tolist()}
    assert len(pids) == workers and os.getpid() not in pids
    assert no_child_is_left()


def test_order_does_not_depend_on_the_workers():
    def order(workers):
        sampler = RandomSampler(Numbers(), generator=fl.Generator().manual_seed(3))
        return [i for b in DataLoader(Numbers(), batch_size=2, sampler=sampler, num_workers=workers) for i in b[0].tolist()]

    assert order(0) == order(1) == order(3)


def test_workers_have_seeds_of_their_own_and_repeat():
    def drawn():
        g = fl.Generator().manual_seed(1)
        loader = DataLoader(Draws(), batch_size=1, num_workers=2, generator=g)
        return [[tuple(v.item() for v in b) for b in loader] for _ in range(2)]

    first, second = drawn()
    assert [first, second] == drawn()
    assert [b[2] for b in first] == [0, 1, 0, 1] and first[1][3] == first[0][3] + 1 and first[0][4] == 2
    assert len({b[0] for b in first + second}) == 8 and len({b[1] for b in first + second}) == 8
    assert get_worker_info() is None


def test_worker_init_and_persistent_workers():
    def init(number):
        os.environ["LOADER_WORKER"] = str(number)

    class Env(Numbers):
        def __getitem__(self, i):
            return int(os.environ["LOADER_WORKER"]), os.getpid()

    def pids(loader):
        return {p for b in loader for p in b[1].tolist()}

    loader = DataLoader(Env(4), batch_size=1, num_workers=2, worker_init_fn=init, persistent_workers=True)
    assert [b[0].item() for b in loader] == [0, 1, 0, 1]
    first = pids(loader)
    iterator = iter(loader)
    next(iterator)  # left in the middle
    iterator.close()
    assert pids(loader) == first
    del loader, iterator
    assert no_child_is_left()
    fresh = DataLoader(Env(4), batch_size=1, num_workers=2, worker_init_fn=init)
    assert pids(fresh) != pids(fresh)


def test_iterable_datasets():
    assert [b.tolist() for b in DataLoader(Part(5), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in DataLoader(Part(5), batch_size=2, drop_last=True)] == [[0, 1], [2, 3]]
    # Worker 0 has 0 2 4 6, worker 1 has 1 3 5.
    assert [b.tolist() for b in DataLoader(Part(7), batch_size=2, num_workers=2)] == [[0, 2], [1, 3], [4, 6], [5]]
    assert sorted(DataLoader(Part(7), batch_size=None, num_workers=2)) == list(range(7))
    assert list(ChainDataset([Part(2), Part(3)])) == [0, 1, 0, 1, 2] == list(Part(2) + Part(3))
    with pytest.raises(ValueError, match="order"):
        DataLoader(Part(5), shuffle=True)
    with pytest.raises(TypeError, match="ChainDataset"):
        ConcatDataset([Part(2)])


def test_a_worker_that_dies_or_hangs():
    class Dies(Numbers):
        def __getitem__(self, i):
            os._exit(3)

    class Hangs(Numbers):
        def __getitem__(self, i):
            time.sleep(60)

    with pytest.raises(RuntimeError, match="exited unexpectedly with code 3"):
        list(DataLoader(Dies(), num_workers=1))
    begin = time.time()
    loader = iter(DataLoader(Hangs(), num_workers=1, timeout=0.2))
    with pytest.raises(RuntimeError, match="timeout of 0.2 s"):
        import fuselet.utils.data.workers as workers

        before, workers._SECONDS_TO_END = workers._SECONDS_TO_END, 0.1
        try:
            next(loader)
        finally:
            workers._SECONDS_TO_END = before
    assert time.time() - begin < 5 and no_child_is_left()


def test_errors_at_the_beginning_and_of_unpicklable_classes():
    def init(number):
        raise ValueError(f"no worker {number}")

    with pytest.raises(ValueError, match="no worker 0"):
        list(DataLoader(Numbers(), num_workers=1, worker_init_fn=init))

    class Local(Exception):
        pass

    class Raises(Numbers):
        def __getitem__(self, i):
            raise Local("inside")

    with pytest.raises(RuntimeError, match="(?s)Caught Local.*inside"):
        list(DataLoader(Raises(), num_workers=1))

    class Tracked(Numbers):
        def __getitem__(self, i):
            return fl.ones(1, requires_grad=True) * 2

    with pytest.raises(RuntimeError, match="leaves"):
        list(DataLoader(Tracked(), num_workers=1))


def test_large_batches_and_large_tasks_do_not_block_each_other():
    data = TensorDataset(fl.arange(60000.0, device="cpu").view(20000, 3))
    batches = list(DataLoader(data, batch_size=10000, num_workers=1, prefetch_factor=4))
    assert fl.equal(fl.cat([b[0] for b in batches]), data.tensors[0])


def test_an_abandoned_iterator_ends_its_workers():
    iterator = iter(DataLoader(Numbers(100), num_workers=2))
    next(iterator)
    assert len(multiprocessing.active_children()) == 2
    del iterator
    assert no_child_is_left()


def test_samplers():
    g = fl.Generator().manual_seed(0)
    assert sorted(SubsetRandomSampler([5, 7, 9], g)) == [5, 7, 9]
    assert list(BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]] and len(BatchSampler(range(5), 2, True)) == 2
    twice = list(RandomSampler(range(3), num_samples=5, generator=g))
    assert sorted(twice[:3]) == [0, 1, 2] and len(twice) == 5
    assert set(RandomSampler(range(3), replacement=True, num_samples=50, generator=g)) == {0, 1, 2}
    drawn = list(WeightedRandomSampler([0.0, 3.0, 1.0], 4000, generator=g))
    assert 0 not in drawn and drawn.count(1) / 4000 == pytest.approx(0.75, abs=0.03)
    assert sorted(WeightedRandomSampler([1.0, 1.0, 1.0], 3, replacement=False, generator=g)) == [0, 1, 2]
    parts = [DistributedSampler(range(10), 3, r, shuffle=True, seed=1) for r in range(3)]
    together = [i for p in parts for i in p]
    assert len(together) == 12 and set(together) == set(range(10))
    before = list(parts[0])
    parts[0].set_epoch(1)
    assert list(parts[0]) != before
    assert [list(DistributedSampler(range(5), 2, r, shuffle=False, drop_last=True)) for r in range(2)] == [[0, 2], [1, 3]]
    with pytest.raises(RuntimeError, match="num_replicas"):
        DistributedSampler(range(5))


Point = collections.namedtuple("Point", "x y")


def test_collating():
    batch = default_collate([Point(1, 2.0), Point(3, 4.0)])
    assert type(batch) is Point and batch.x.dtype is fl.int64 and batch.y.dtype is fl.float64 and batch.y.tolist() == [2, 4]
    batch = default_collate([{"a": np.float32(1), "b": np.ones((2,), np.int64), "c": "x", "d": True}] * 2)
    assert batch["a"].dtype is fl.float32 and batch["b"].shape == (2, 2) and batch["c"] == ["x", "x"] and batch["d"].dtype is fl.bool
    ordered = default_collate([collections.OrderedDict(a=[1, (2, 3)])] * 2)
    assert type(ordered) is collections.OrderedDict and ordered["a"][1][1].tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="lengths"):
        default_collate([[1], [1, 2]])
    with pytest.raises(TypeError, match="object"):
        default_collate([object()])
    converted = default_convert({"a": np.zeros(2, np.float32), "b": [np.int64(3), "s"]})
    assert converted["a"].dtype is fl.float32 and converted["b"][0].item() == 3 and converted["b"][1] == "s"


def test_datasets_together():
    stacked = StackDataset(image=fl.arange(3), label=[7, 8, 9])
    assert stacked[1]["label"] == 8 and StackDataset([1, 2], [3, 4])[1] == (2, 4)

    class AtOnce(Numbers):
        def __getitems__(self, indices):
            return [i * 10 for i in indices]

    assert [b.tolist() for b in DataLoader(Subset(AtOnce(), [4, 2, 1]), batch_size=2)] == [[40, 20], [10]]
    with pytest.raises(ValueError, match="lengths differ"):
        StackDataset([1], [1, 2])
    with pytest.raises(IndexError):
        ConcatDataset([[1, 2]])[5]


@pytest.mark.parametrize("options,message", [
    (dict(shuffle=True, sampler=[0]), "exclude"), (dict(batch_sampler=[[0]], batch_size=2), "excludes"),
    (dict(prefetch_factor=2), "num_workers"), (dict(num_workers=-1), "negative"), (dict(batch_size=None, drop_last=True), "batch_size"),
    (dict(num_workers=1, multiprocessing_context="nope"), "must be one of")])
def test_options_that_do_not_go_together(options, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(Numbers(), **options)


def test_pinning_and_partial_functions():
    loader = DataLoader(Numbers(4), batch_size=2, pin_memory=True, collate_fn=functools.partial(lambda scale, items: len(items) * scale, 5))
    assert list(loader) == [10, 10] and len(loader) == 2


def test_persistent_workers_serve_iterators_side_by_side():
    """One that begins while another goes on has workers of its own."""
    loader = DataLoader(range(3), num_workers=2, persistent_workers=True)
    assert [(a.item(), b.item()) for a, b in zip(loader, loader)] == [(0, 0), (1, 1), (2, 2)]
    assert [(a.item(), b.item()) for a in loader for b in loader] == [(i, j) for i in range(3) for j in range(3)]
    assert len(multiprocessing.active_children()) == 2
    del loader
    assert no_child_is_left()


class Ending(Numbers):
    def __getitem__(self, i):
        if i == 2:
            raise StopIteration
        return i


@pytest.mark.parametrize("workers", [0, 2])
def test_a_dataset_that_raises_stop_iteration_loses_no_batch_silently(workers):
    with pytest.raises(RuntimeError, match="raised StopIteration"):
        list(DataLoader(Ending(4), num_workers=workers))
    assert no_child_is_left()


def test_batches_keep_the_kinds_of_mappings_and_of_text():
    counts = collections.defaultdict(int, a=1)
    batch = default_collate([counts, counts])
    assert type(batch) is collections.defaultdict and batch["a"].tolist() == [1, 1] and batch["missing"] == 0
    assert type(default_convert(counts)) is collections.defaultdict and counts == {"a": 1}
    assert default_collate([(1, "x"), (2, "y")])[1] == ("x", "y")


class Wrapped(collections.abc.MutableMapping):
    """A mapping over a dict of its own, which copy.copy() does not copy."""

    def __init__(self, entries=()):
        self.inner = dict(entries)

    def __getitem__(self, key):
        return self.inner[key]

    def __setitem__(self, key, value):
        self.inner[key] = value

    def __delitem__(self, key):
        del self.inner[key]

    def __iter__(self):
        return iter(self.inner)

    def __len__(self):
        return len(self.inner)


class MadeOfPairs(Wrapped):
    def __init__(self, keys, values):
        super().__init__(zip(keys, values))


class Named(Wrapped):
    """Whose constructor takes a dict, but for something else."""

    def __init__(self, name):
        super().__init__()
        self.name = name


class Labelled(dict):
    label = None


@pytest.mark.parametrize("way", [default_convert, pinned, lambda item: default_collate([item, item])], ids=["convert", "pinned", "collate"])
def test_batches_leave_the_items(way):
    named = Named("n")
    named["a"] = 1
    labelled = Labelled(a=1)
    labelled.label = "l"
    for item, kind in ((Wrapped({"a": 1}), Wrapped), (MadeOfPairs(["a"], [1]), dict), (named, dict), (labelled, Labelled),
                       (collections.UserDict(a=1), collections.UserDict), (collections.OrderedDict(a=1), collections.OrderedDict),
                       (collections.defaultdict(int, a=1), collections.defaultdict), (types.MappingProxyType({"a": 1}), types.MappingProxyType)):
        batch = way(item)
        assert type(batch) is kind and list(batch) == ["a"] and batch is not item, kind
        assert type(item["a"]) is int and item["a"] == 1, kind
        if kind is Labelled:
            assert batch.label == "l"


@pytest.mark.parametrize("error,make", [
    (ValueError, lambda: RandomSampler(range(3), num_samples=1.5)), (TypeError, lambda: RandomSampler(range(3), 2)),
    (TypeError, lambda: WeightedRandomSampler([1.0], 1, None)), (TypeError, lambda: BatchSampler([0], 1, 0)),
    (ValueError, lambda: random_split(range(10), [-0.5, 1.5])), (ValueError, lambda: random_split(range(3), [-1, 4]))])
def test_arguments_in_the_place_of_others(error, make):
    with pytest.raises(error, match="must"):
        make()


def test_where_the_parts_of_a_concatenation_end():
    assert ConcatDataset([[1], [], [2, 3]]).cumulative_sizes == [1, 1, 3]
