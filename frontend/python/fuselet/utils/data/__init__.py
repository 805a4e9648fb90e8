"""Datasets and the loader that makes batches of them."""

from .dataset import ConcatDataset, Dataset, Subset, TensorDataset, random_split
from .loader import BatchSampler, DataLoader, RandomSampler, Sampler, SequentialSampler, default_collate

__all__ = ["BatchSampler", "ConcatDataset", "DataLoader", "Dataset", "RandomSampler", "Sampler", "SequentialSampler",
           "Subset", "TensorDataset", "default_collate", "random_split"]
