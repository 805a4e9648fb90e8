"""Rates that rise and fall while momentum falls and rises."""

from __future__ import annotations

import math

from .schedule import LRScheduler, each


def _set_momentum(group, value):
    """SGD's momentum, or the first of Adam's betas."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _check_momentum(name, optimizer):
    if any("momentum" not in g and "betas" not in g for g in optimizer.param_groups):
        raise ValueError(f"{name}: cycle_momentum needs an optimizer with momentum or betas")


class CyclicLR(LRScheduler):
    """Between base_lr and max_lr, up in step_size_up and down in step_size_down steps (Smith 2017). mode 'triangular2' halves
    the height every cycle, 'exp_range' takes gamma^step; scale_fn of the cycle or of the step ('iterations') replaces them.
    With cycle_momentum, momentum moves the other way."""

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
                 scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1):
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(f"CyclicLR: no mode {mode!r}")
        self._check_start(optimizer, last_epoch)
        self.total_size = step_size_up + (step_size_up if step_size_down is None else step_size_down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma, self._scale_fn, self.scale_mode = mode, gamma, scale_fn, scale_mode
        self.max_lrs = each(max_lr, optimizer)
        self.cycle_momentum = cycle_momentum
        self.base_momentums, self.max_momentums = each(base_momentum, optimizer), each(max_momentum, optimizer)
        if cycle_momentum:
            _check_momentum("CyclicLR", optimizer)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, each(base_lr, optimizer)):
                group["lr"] = group["initial_lr"] = rate
        super().__init__(optimizer, last_epoch)

    def _scale(self, cycle):
        if self._scale_fn is not None:
            return self._scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return {"triangular": 1.0, "triangular2": 0.5 ** (cycle - 1), "exp_range": self.gamma ** self.last_epoch}[self.mode]

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        at = 1.0 + self.last_epoch / self.total_size - cycle
        height = (at / self.step_ratio if at <= self.step_ratio else (at - 1) / (self.step_ratio - 1)) * self._scale(cycle)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                _set_momentum(group, high - (high - low) * height)
        return [base + (top - base) * height for base, top in zip(self.base_lrs, self.max_lrs)]


class OneCycleLR(LRScheduler):
    """From max_lr / div_factor up to max_lr in pct_start of total_steps, then down to the first rate / final_div_factor (Smith
    and Topin 2018); with three_phase first down to the first rate in as many steps. total_steps, or epochs times
    steps_per_epoch; step() may be called total_steps times. With cycle_momentum, momentum moves the other way."""

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
                 anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
                 final_div_factor=1e4, three_phase=False, last_epoch=-1):
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR: expected total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if total_steps <= 0 or not 0 <= pct_start <= 1:
            raise ValueError(f"OneCycleLR: expected total_steps > 0 and pct_start in [0, 1], got {total_steps} and {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR: anneal_strategy must be 'cos' or 'linear', got {anneal_strategy!r}")
        self._check_start(optimizer, last_epoch)
        self.total_steps, self.anneal_strategy, self.cycle_momentum = total_steps, anneal_strategy, cycle_momentum
        up = pct_start * total_steps - 1
        # (last step, rate before, rate after, momentum before, momentum after), by name
        phases = [(up, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            phases += [(2 * up, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                       (total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
        else:
            phases += [(total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        self._phases = phases
        if cycle_momentum:
            _check_momentum("OneCycleLR", optimizer)
        if last_epoch == -1:
            tops, lows, highs = (each(v, optimizer) for v in (max_lr, base_momentum, max_momentum))
            for group, top, low, high in zip(optimizer.param_groups, tops, lows, highs):
                first = top / div_factor
                group.update({"initial_lr": first, "max_lr": top, "min_lr": first / final_div_factor})
                if cycle_momentum:
                    group.update({"base_momentum": low, "max_momentum": high})
        super().__init__(optimizer, last_epoch)

    def _between(self, start, end, part):
        return end + (start - end) * (1 + math.cos(math.pi * part)) / 2 if self.anneal_strategy == "cos" else start + (end - start) * part

    def get_lr(self):
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"OneCycleLR: step {step} of {self.total_steps}")
        begin = 0.0
        for i, (end, *names) in enumerate(self._phases):
            if step <= end or i + 1 == len(self._phases):
                part = (step - begin) / (end - begin) if end != begin else 1.0
                break
            begin = end
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[names[0]], group[names[1]], part))
            if self.cycle_momentum:
                _set_momentum(group, self._between(group[names[2]], group[names[3]], part))
        return rates
