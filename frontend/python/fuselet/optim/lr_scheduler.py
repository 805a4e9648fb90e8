"""Schedules of the learning rate; call step() once an epoch (or a batch), after the optimizer's.

A schedule computes the next rates from the groups' present ones in get_lr(), so that several may act on one optimizer. Those
that know the rate of any epoch say so in _get_closed_form_lr(), which step(epoch) uses.
"""

from __future__ import annotations

import bisect
import collections
import math


class LRScheduler:
    """Derive and write get_lr(): the rates of the groups for self.last_epoch, which counts the calls of step() from 0."""

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"{type(self).__name__}: last_epoch is {last_epoch}, but group {i} has no initial_lr")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self.step()

    def get_lr(self):
        raise NotImplementedError(f"{type(self).__name__} has no get_lr()")

    def _rates(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, epoch=None):
        """Goes on by one, or to the epoch."""
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            rates = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        self._set(rates)

    def _set(self, rates):
        for group, rate in zip(self.optimizer.param_groups, rates):
            group["lr"] = rate
        self._last_lr = self._rates()

    def get_last_lr(self):
        """The rates that step() has set last, one a group."""
        return self._last_lr

    def state_dict(self):
        """Everything but the optimizer and functions."""
        return {k: v for k, v in vars(self).items() if k != "optimizer" and not callable(v)}

    def load_state_dict(self, state_dict):
        """Takes over a state, and sets the optimizer's rates to those of the state."""
        vars(self).update(state_dict)
        self._set(self._last_lr)


_LRScheduler = LRScheduler


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

    def get_lr(self):
        return [rate * f(self.last_epoch) if self.last_epoch > 0 else rate for rate, f in zip(self._rates(), self.lr_lambdas)]


class StepLR(LRScheduler):
    """lr times gamma after every step_size epochs."""

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

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [rate * self.gamma if self.last_epoch > 0 else rate for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """lr times (1 - epoch / total_iters)^power, 0 from total_iters on."""

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

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return self._rates()
        if self._step_count == 1:
            return self._get_closed_form_lr()
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


def _set_momentum(group, value):
    """SGD's momentum, or the first of Adam's betas."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _check_momentum(name, optimizer):
    if any("momentum" not in g and "betas" not in g for g in optimizer.param_groups):
        raise ValueError(f"{name}: cycle_momentum needs an optimizer with momentum or betas")


def _each(value, optimizer):
    return list(value) if isinstance(value, (list, tuple)) else [value] * len(optimizer.param_groups)


class CyclicLR(LRScheduler):
    """Between base_lr and max_lr, up in step_size_up and down in step_size_down steps (Smith 2017). mode 'triangular2' halves
    the height every cycle, 'exp_range' takes gamma^step; scale_fn of the cycle or of the step ('iterations') replaces them.
    With cycle_momentum, momentum moves the other way."""

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
                 scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1):
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(f"CyclicLR: no mode {mode!r}")
        self.total_size = step_size_up + (step_size_up if step_size_down is None else step_size_down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma, self._scale_fn, self.scale_mode = mode, gamma, scale_fn, scale_mode
        self.max_lrs = _each(max_lr, optimizer)
        self.cycle_momentum = cycle_momentum
        self.base_momentums, self.max_momentums = _each(base_momentum, optimizer), _each(max_momentum, optimizer)
        if cycle_momentum:
            _check_momentum("CyclicLR", optimizer)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, _each(base_lr, optimizer)):
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
            tops, lows, highs = (_each(v, optimizer) for v in (max_lr, base_momentum, max_momentum))
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


class ReduceLROnPlateau(LRScheduler):
    """lr times factor when step(metric) has seen no better metric for more than patience calls; then cooldown calls without
    counting. Better: by the threshold, relative ('rel') or absolute ('abs'), in the direction of mode."""

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0, min_lr=0.0,
                 eps=1e-8):
        if factor >= 1:
            raise ValueError(f"ReduceLROnPlateau: factor must be less than 1, got {factor}")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f"ReduceLROnPlateau: no mode {mode!r} with threshold_mode {threshold_mode!r}")
        self.optimizer = optimizer
        self.mode, self.factor, self.patience, self.threshold, self.threshold_mode = mode, factor, patience, threshold, threshold_mode
        self.cooldown, self.min_lrs, self.eps = cooldown, _each(min_lr, optimizer), eps
        self.best = math.inf if mode == "min" else -math.inf
        self.last_epoch = self.num_bad_epochs = self.cooldown_counter = 0
        self._last_lr = self._rates()

    def is_better(self, value, best):
        margin = self.threshold * (best if self.threshold_mode == "rel" and math.isfinite(best) else 1.0)
        if not math.isfinite(best):
            margin = 0.0
        return value < best - margin if self.mode == "min" else value > best + margin

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def step(self, metrics, epoch=None):
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        value = float(metrics)
        if self.is_better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            for group, low in zip(self.optimizer.param_groups, self.min_lrs):
                rate = max(group["lr"] * self.factor, low)
                if group["lr"] - rate > self.eps:
                    group["lr"] = rate
        self._last_lr = self._rates()


class _OfSchedules(LRScheduler):
    """What a schedule of schedules saves: the schedules' states beside its own."""

    def get_lr(self):
        return self._rates()

    def state_dict(self):
        state = {k: v for k, v in super().state_dict().items() if k != "_schedulers"}
        return {**state, "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict):
        for s, saved in zip(self._schedulers, state_dict["_schedulers"]):
            s.load_state_dict(saved)
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})


class SequentialLR(_OfSchedules):
    """One schedule after another: milestones are the epochs at which the next one begins, from its epoch 0."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(milestones) != len(schedulers) - 1 or any(s.optimizer is not optimizer for s in schedulers):
            raise ValueError(f"SequentialLR: expected schedules of this optimizer and one milestone fewer, got {len(schedulers)} and "
                             f"{len(milestones)}")
        self.optimizer, self._schedulers, self._milestones = optimizer, list(schedulers), list(milestones)
        self.last_epoch = last_epoch + 1
        # Each schedule has made its first step already; only the first one's counts.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for s in schedulers:
            s.last_epoch -= 1
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self):
        self.last_epoch += 1
        i = bisect.bisect_right(self._milestones, self.last_epoch)
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            self._schedulers[i].step(0)
        else:
            self._schedulers[i].step()
        self._last_lr = self._schedulers[i].get_last_lr()


class ChainedScheduler(_OfSchedules):
    """All schedules at every step, one on top of the other."""

    def __init__(self, schedulers, optimizer=None):
        self._schedulers = list(schedulers)
        self.optimizer = optimizer or self._schedulers[0].optimizer
        if any(s.optimizer is not self.optimizer for s in self._schedulers):
            raise ValueError("ChainedScheduler: the schedules belong to different optimizers")
        self._last_lr = self._rates()

    def step(self):
        for s in self._schedulers:
            s.step()
        self._last_lr = self._rates()
