"""Data loading."""

from . import data
