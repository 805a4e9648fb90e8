"""Schedules made of schedules."""

from __future__ import annotations

import bisect

from .schedule import LRScheduler


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
        if not self._schedulers:
            raise ValueError("ChainedScheduler: the list of schedules is empty")
        self.optimizer = optimizer or self._schedulers[0].optimizer
        if any(s.optimizer is not self.optimizer for s in self._schedulers):
            raise ValueError("ChainedScheduler: the schedules belong to different optimizers")
        self._last_lr = self._rates()

    def step(self):
        for s in self._schedulers:
            s.step()
        self._last_lr = self._rates()
