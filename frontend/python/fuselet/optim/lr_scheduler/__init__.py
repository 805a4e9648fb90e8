"""Schedules of the learning rate; call step() once an epoch (or a batch), after the optimizer's.

A schedule computes the next rates from the groups' present ones in get_lr(), so that several may act on one optimizer. Those
that know the rate of any epoch say so in _get_closed_form_lr(), which step(epoch) uses.
"""

from ...pytorch_names import absent as _absent
from .by_epoch import (ConstantLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, ExponentialLR, LambdaLR, LinearLR,
                       MultiplicativeLR, MultiStepLR, PolynomialLR, StepLR)
from .combined import ChainedScheduler, SequentialLR
from .cycles import CyclicLR, OneCycleLR
from .plateau import ReduceLROnPlateau
from .schedule import LRScheduler

_LRScheduler = LRScheduler

__all__ = ["ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
           "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
           "ReduceLROnPlateau", "SequentialLR", "StepLR"]

__getattr__ = _absent("torch.optim.lr_scheduler")
