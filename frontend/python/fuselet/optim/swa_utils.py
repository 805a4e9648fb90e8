"""Averages of a model's parameters over training, and what goes with them: a learning rate, and statistics for the averages."""

from __future__ import annotations

import copy
import math

from .. import _C
from ..grad_mode import no_grad
from ..making import tensor
from ..nn.module import Module
from ..nn.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .lr_scheduler.schedule import LRScheduler, each


def get_ema_multi_avg_fn(decay=0.999):
    """For AveragedModel: average = decay average + (1 - decay) value, over lists of tensors."""
    if not 0 <= decay <= 1:
        raise ValueError(f"get_ema_multi_avg_fn: decay must lie in [0, 1], got {decay}")

    @no_grad
    def update(averages, values, count):
        for a, v in zip(averages, values):
            a.copy_(a * decay + v * (1 - decay) if a.is_floating_point() else v)

    return update


def get_swa_multi_avg_fn():
    """For AveragedModel: the mean of all values so far, over lists of tensors."""

    @no_grad
    def update(averages, values, count):
        for a, v in zip(averages, values):
            a.copy_(a + (v - a) / (count + 1) if a.is_floating_point() else v)

    return update


def get_ema_avg_fn(decay=0.999):
    """For AveragedModel: average = decay average + (1 - decay) value, of one tensor."""
    if not 0 <= decay <= 1:
        raise ValueError(f"get_ema_avg_fn: decay must lie in [0, 1], got {decay}")
    return no_grad(lambda average, value, count: average * decay + value * (1 - decay) if average.is_floating_point() else value)


def get_swa_avg_fn():
    """For AveragedModel: the mean of all values so far, of one tensor."""
    return no_grad(lambda average, value, count: average + (value - average) / (count + 1) if average.is_floating_point() else value)


class AveragedModel(Module):
    """A copy of a model whose parameters are averages: of equal weight (Izmailov et al. 2018), or by avg_fn(average, value,
    count) or multi_avg_fn(averages, values, count). use_buffers averages buffers too; else they are the newest ones."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("AveragedModel: avg_fn and multi_avg_fn exclude each other")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=_C.int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    @no_grad
    def update_parameters(self, model):
        """Takes the parameters of the model, as they are now, into the averages."""
        averages, values = list(self.module.parameters()), list(model.parameters())
        own, given = list(self.module.buffers()), list(model.buffers())
        if self.use_buffers:
            averages, values = averages + own, values + given
        else:
            for a, v in zip(own, given):
                a.copy_(v.to(a.device))
        values = [v.detach().to(a.device) for a, v in zip(averages, values)]
        count = self.n_averaged.item()
        if count == 0:
            for a, v in zip(averages, values):
                a.copy_(v)
        elif self.avg_fn is not None:
            for a, v in zip(averages, values):
                a.copy_(self.avg_fn(a.detach(), v, self.n_averaged))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())([a.detach() for a in averages], values, count)
        self.n_averaged.add_(1)


@no_grad
def update_bn(loader, model, device=None):
    """Runs the model over the loader's batches (of a tuple or list the first entry) and makes the running statistics of its
    batch norms the mean over these batches, of those in eval mode too. The mode of every module and the momenta stay as they
    are, and after an error the statistics too."""
    norms = [m for m in model.modules() if isinstance(m, (BatchNorm1d, BatchNorm2d, BatchNorm3d))]
    if not norms:
        return
    modes, momenta = [(m, m.training) for m in model.modules()], [m.momentum for m in norms]
    statistics = [(b, b.clone()) for m in norms for b in (m.running_mean, m.running_var, m.num_batches_tracked) if b is not None]
    try:
        for m in norms:
            m.reset_running_stats()
            m.momentum = None
        model.train()
        for batch in loader:
            batch = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(batch if device is None else batch.to(device))
    except BaseException:
        for place, value in statistics:
            place.copy_(value)
        raise
    finally:
        for m, momentum in zip(norms, momenta):
            m.momentum = momentum
        for m, mode in modes:
            m.training = mode


class SWALR(LRScheduler):
    """From the rates that the optimizer has to swa_lr in anneal_epochs, along half a cosine ('cos') or straight ('linear'), then
    constant. Another schedule may move the optimizer's rates meanwhile: with part a of the way gone, the rate is
    (1 - a) rate + a swa_lr."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"SWALR: anneal_strategy must be 'cos' or 'linear', got {anneal_strategy!r}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"SWALR: anneal_epochs must be an int that is not negative, got {anneal_epochs!r}")
        self._check_start(optimizer, last_epoch)
        self.anneal_epochs, self.anneal_strategy = anneal_epochs, anneal_strategy
        for group, rate in zip(optimizer.param_groups, each(swa_lr, optimizer)):
            group["swa_lr"] = rate
        super().__init__(optimizer, last_epoch)

    def _part(self, step):
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self.anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self):
        step = max(1, self.last_epoch) if self.anneal_epochs == 0 else self.last_epoch
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            own = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            rates.append((1 - now) * own + now * end)
        return rates
