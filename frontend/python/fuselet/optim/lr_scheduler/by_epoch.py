"""Rates that follow the epoch by a formula, or by functions of the caller's."""

from __future__ import annotations

import bisect
import collections
import math

from .schedule import LRScheduler


class _FunctionSchedule(LRScheduler):
    """With one function a group, or one for all of them."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        groups = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"{type(self).__name__}: {len(self.lr_lambdas)} functions for {groups} groups")
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """The state of functions is saved where they are objects of a class."""
        state = {k: v for k, v in super().state_dict().items() if k != "lr_lambdas"}
        state["lr_lambdas"] = [dict(vars(f)) if hasattr(f, "__dict__") and not hasattr(f, "__code__") else None for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        for f, saved in zip(self.lr_lambdas, state_dict.get("lr_lambdas", ())):
            if saved is not None:
                vars(f).update(saved)
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})


class LambdaLR(_FunctionSchedule):
    """The first rate times lr_lambda(epoch); a list gives one function a group."""

    def get_lr(self):
        return [base * f(self.last_epoch) for base, f in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_FunctionSchedule):
    """The rate times lr_lambda(epoch) at every epoch from 1 on."""

    moves_rates = True

    def get_lr(self):
        return [rate * f(self.last_epoch) if self.last_epoch > 0 else rate for rate, f in zip(self._rates(), self.lr_lambdas)]


class StepLR(LRScheduler):
    """lr times gamma after every step_size epochs."""

    moves_rates = True

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        moves = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma if moves else rate for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """lr times gamma at every milestone (twice at one that is named twice)."""

    moves_rates = True

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = collections.Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates()]

    def _get_closed_form_lr(self):
        passed = bisect.bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma ** passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """lr times factor for total_iters epochs."""

    moves_rates = True

    def __init__(self, optimizer, factor=1 / 3, total_iters=5, last_epoch=-1):
        if not 0 <= factor <= 1:
            raise ValueError(f"ConstantLR: factor must lie in [0, 1], got {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        change = self.factor if self.last_epoch == 0 else 1 / self.factor if self.last_epoch == self.total_iters else 1.0
        return [rate * change for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * (self.factor if self.last_epoch < self.total_iters else 1.0) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """lr times a factor that goes from start_factor to end_factor in total_iters epochs."""

    moves_rates = True

    def __init__(self, optimizer, start_factor=1 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError(f"LinearLR: the factors must lie in (0, 1] and [0, 1], got {start_factor} and {end_factor}")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        change = 1.0
        if self.last_epoch == 0:
            change = self.start_factor
        elif self.last_epoch <= self.total_iters:
            change = self._factor(self.last_epoch) / self._factor(self.last_epoch - 1)
        return [rate * change for rate in self._rates()]

    def _factor(self, epoch):
        return self.start_factor + (self.end_factor - self.start_factor) * min(epoch, self.total_iters) / self.total_iters

    def _get_closed_form_lr(self):
        return [base * self._factor(self.last_epoch) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """lr times gamma after every epoch."""

    moves_rates = True

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [rate * self.gamma if self.last_epoch > 0 else rate for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """lr times (1 - epoch / total_iters)^power, 0 from total_iters on."""

    moves_rates = True

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if not 0 < self.last_epoch <= self.total_iters:
            return self._rates()
        left, before = self.total_iters - self.last_epoch, self.total_iters - self.last_epoch + 1
        return [rate * (left / before) ** self.power for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * (1 - min(self.last_epoch, self.total_iters) / self.total_iters) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """From lr down to eta_min along half a cosine in T_max epochs, then up again (Loshchilov and Hutter 2017)."""

    moves_rates = True

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return self._rates()
        now, before = (1 + math.cos(math.pi * e / self.T_max) for e in (self.last_epoch, self.last_epoch - 1))
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # before is 0: the rate was eta_min
            return [rate + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
                    for rate, base in zip(self._rates(), self.base_lrs)]
        return [now / before * (rate - self.eta_min) + self.eta_min for rate in self._rates()]

    def _get_closed_form_lr(self):
        part = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from lr to eta_min in T_0 epochs, then from the start again in T_mult times as many, and so on. step()
    takes a fractional epoch too."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or T_mult < 1:
            raise ValueError(f"CosineAnnealingWarmRestarts: expected T_0 > 0 and T_mult >= 1, got {T_0} and {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self.T_i, self.T_cur = T_0, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        part = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]

    def step(self, epoch=None):
        epoch = self.last_epoch + 1 if epoch is None else epoch
        if epoch < 0:
            raise ValueError(f"CosineAnnealingWarmRestarts: epoch must not be negative, got {epoch}")
        start, self.T_i = 0, self.T_0
        while epoch >= start + self.T_i:
            start, self.T_i = start + self.T_i, self.T_i * self.T_mult
        self._step_count += 1
        self.T_cur, self.last_epoch = epoch - start, math.floor(epoch)
        self._set(self.get_lr())
