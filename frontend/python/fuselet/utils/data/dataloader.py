"""The loader by the place that it has in PyTorch: utils.data.dataloader.DataLoader, default_collate, …"""

from .collate import default_collate, default_convert
from .loader import DataLoader
from .workers import get_worker_info

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]
