"""Data loading and checkpointing."""

from . import checkpoint, data

__all__ = ["checkpoint", "data"]
