"""Rates that fall when a metric stops improving."""

from __future__ import annotations

import math

from .schedule import LRScheduler, each


class ReduceLROnPlateau(LRScheduler):
    """lr times factor when step(metric) has seen no better metric for more than patience calls; then cooldown calls without
    counting. Better: by the threshold, relative ('rel') or absolute ('abs'), in the direction of mode."""

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0, min_lr=0.0,
                 eps=1e-8):
        if factor >= 1:
            raise ValueError(f"ReduceLROnPlateau: factor must be less than 1, got {factor}")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f"ReduceLROnPlateau: no mode {mode!r} with threshold_mode {threshold_mode!r}")
        self._check_start(optimizer, -1)
        self.optimizer = optimizer
        self.mode, self.factor, self.patience, self.threshold, self.threshold_mode = mode, factor, patience, threshold, threshold_mode
        self.cooldown, self.min_lrs, self.eps = cooldown, each(min_lr, optimizer), eps
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.best = math.inf if mode == "min" else -math.inf
        self.last_epoch = self.num_bad_epochs = self.cooldown_counter = 0
        self._last_lr = self._rates()

    def is_better(self, value, best):
        """Whether a value improves on the best one by more than the threshold."""
        margin = self.threshold * (best if self.threshold_mode == "rel" and math.isfinite(best) else 1.0)
        if not math.isfinite(best):
            margin = 0.0
        return value < best - margin if self.mode == "min" else value > best + margin

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def step(self, metrics, epoch=None):
        value, groups = float(metrics), self.optimizer.param_groups
        if len(self.min_lrs) != len(groups):  # a group has been added
            self.min_lrs = each(self.min_lrs if self.default_min_lr is None else self.default_min_lr, self.optimizer)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            for group, low in zip(groups, self.min_lrs):
                rate = max(group["lr"] * self.factor, low)
                if group["lr"] - rate > self.eps:
                    group["lr"] = rate
        self._last_lr = self._rates()
