"""Schedules of the learning rate; call step() once an epoch (or a batch), after the optimizer's."""

from __future__ import annotations

import math


class LRScheduler:
    """Sets each group's lr to rate(base lr, epoch, group); epoch counts the calls of step()."""

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def rate(self, base, epoch, group):
        """A group's rate after `epoch` steps, from its base rate; a subclass defines it."""
        raise NotImplementedError

    def step(self):
        """Counts one epoch and sets the rates."""
        self.last_epoch += 1
        for i, group in enumerate(self.optimizer.param_groups):
            group["lr"] = self.rate(self.base_lrs[i], self.last_epoch, i)

    def get_last_lr(self):
        """The groups' rates as they are."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self):
        """Where the schedule stands; functions are no part of it."""
        return {k: v for k, v in vars(self).items() if k != "optimizer" and not callable(v) and k != "lr_lambdas"}

    def load_state_dict(self, state_dict):
        """Takes over a state_dict() and sets the optimizer's rates."""
        vars(self).update(state_dict)
        for i, group in enumerate(self.optimizer.param_groups):
            group["lr"] = self.rate(self.base_lrs[i], self.last_epoch, i)


class StepLR(LRScheduler):
    """lr times gamma after every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base, epoch, group):
        return base * self.gamma ** (epoch // self.step_size)


class CosineAnnealingLR(LRScheduler):
    """From lr down to eta_min along half a cosine in T_max epochs (Loshchilov and Hutter 2017)."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, base, epoch, group):
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * epoch / self.T_max)) / 2


class LambdaLR(LRScheduler):
    """lr times lr_lambda(epoch); a list gives one function a group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        one = callable(lr_lambda)
        self.lr_lambdas = [lr_lambda] * len(optimizer.param_groups) if one else list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def rate(self, base, epoch, group):
        return base * self.lr_lambdas[group](epoch)


class LinearLR(LRScheduler):
    """lr times a factor that goes from start_factor to end_factor in total_iters epochs."""

    def __init__(self, optimizer, start_factor=1 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, base, epoch, group):
        part = min(epoch, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * part)
