"""What schedules share: the count of steps, the groups' rates, saving and loading."""

from __future__ import annotations


from ..optimizer import Optimizer


class LRScheduler:
    """Derive and write get_lr(): the rates of the groups for self.last_epoch, which counts the calls of step() from 0.

    With last_epoch the schedule goes on after that epoch: the optimizer has the rates of the next one already, and a schedule
    that moves them (moves_rates) leaves them as they are until its first step()."""

    moves_rates = False

    def __init__(self, optimizer, last_epoch=-1):
        self._check_start(optimizer, last_epoch)
        self.optimizer = optimizer
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _check_start(self, optimizer, last_epoch):
        """For subclasses that write to the groups: they call it before."""
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(self).__name__}: expected an Optimizer, got {type(optimizer).__name__}")
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch != -1 and "initial_lr" not in group:
                raise KeyError(f"{type(self).__name__}: last_epoch is {last_epoch}, but group {i} has no initial_lr")

    def _initial_step(self):
        self._step_count = 0
        if self.moves_rates and self.last_epoch >= 0:
            self._step_count, self.last_epoch, self._last_lr = 1, self.last_epoch + 1, self._rates()
        else:
            self.step()

    def get_lr(self):
        """The groups' next rates, from the present ones; a subclass defines it."""
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


def each(value, optimizer):
    """A list with one value a group. ValueError for a list of another length."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(f"a schedule got {len(value)} values for the {groups} groups of its optimizer")
    return list(value)
