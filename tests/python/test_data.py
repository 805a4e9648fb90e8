"""Datasets and the loader."""

import pytest

import fuselet as fl
from fuselet.utils.data import ConcatDataset, DataLoader, Dataset, Subset, TensorDataset, random_split


class Squares(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        if i == 13:
            raise KeyError(i)
        return fl.tensor(float(i)), i * i


def test_batches_in_order():
    batches = list(DataLoader(Squares(), batch_size=4))
    assert [b[0].tolist() for b in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert batches[1][1].tolist() == [16, 25, 36, 49]
    assert len(DataLoader(Squares(), batch_size=4, drop_last=True)) == 2 == len(list(DataLoader(Squares(), batch_size=4, drop_last=True)))


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_shuffle_is_a_permutation_fixed_by_the_generator(workers):
    def order():
        g = fl.Generator().manual_seed(5)
        loader = DataLoader(Squares(), batch_size=3, shuffle=True, generator=g, num_workers=workers)
        return [[i for b in loader for i in b[0].tolist()] for _ in range(2)]

    first, second = order()
    assert sorted(first) == sorted(second) == list(range(10)) and first != second
    assert order() == [first, second]


def test_tensor_datasets_subsets_and_splits():
    d = TensorDataset(fl.arange(10.0), fl.arange(10))
    x, y = next(iter(DataLoader(d, batch_size=5)))
    assert x.tolist() == y.tolist() == [0, 1, 2, 3, 4]
    assert [p[1].item() for p in (Subset(d, [3, 1])[i] for i in range(2))] == [3, 1]
    a, b = random_split(d, [7, 3], fl.Generator().manual_seed(0))
    assert sorted(a.indices + b.indices) == list(range(10)) and len(b) == 3
    assert [len(p) for p in random_split(d, [0.5, 0.5])] == [5, 5]
    assert ConcatDataset([d, d])[12][1].item() == 2 and len(d + d) == 20
    with pytest.raises(ValueError):
        random_split(d, [1, 2])


def test_collate():
    items = [{"a": 1.0, "b": (fl.ones(2), "s")}, {"a": 2.0, "b": (fl.zeros(2), "t")}]
    batch = next(iter(DataLoader(items, batch_size=2)))
    assert batch["a"].tolist() == [1, 2] and batch["b"][0].shape == (2, 2) and batch["b"][1] == ("s", "t")
    assert next(iter(DataLoader([1, 2, 3], batch_size=3, collate_fn=sum))) == 6


def test_errors_in_a_worker_reach_the_caller():
    """With the line of the dataset's own code that raised it."""
    loader = DataLoader(Squares(), batch_sampler=[[0], [13]], num_workers=1)
    with pytest.raises(KeyError, match=r"(?s)worker process 0.*test_data.py.*raise KeyError\(i\)"):
        list(loader)
    with pytest.raises(ValueError, match="batch_size"):
        DataLoader(Squares(), batch_size=0)


def test_modules_by_pytorchs_places():
    from fuselet.utils.data.dataloader import DataLoader, default_collate
    from fuselet.utils.data.sampler import RandomSampler

    assert DataLoader is fl.utils.data.DataLoader and default_collate is fl.utils.data.default_collate and RandomSampler is fl.utils.data.RandomSampler
