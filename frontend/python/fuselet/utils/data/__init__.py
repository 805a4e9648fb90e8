"""Datasets, the orders in which they are read, and the loader that makes batches of them."""

from ...pytorch_names import absent as _absent
from . import dataloader, distributed, sampler
from .collate import default_collate, default_convert
from .dataset import (ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset,
                      random_split)
from .distributed import DistributedSampler
from .loader import DataLoader
from .samplers import (BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,
                       WeightedRandomSampler)
from .workers import WorkerInfo, get_worker_info

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler", "IterableDataset",
           "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
           "WeightedRandomSampler", "WorkerInfo", "dataloader", "default_collate", "default_convert", "distributed", "get_worker_info",
           "random_split", "sampler"]

__getattr__ = _absent("torch.utils.data")
