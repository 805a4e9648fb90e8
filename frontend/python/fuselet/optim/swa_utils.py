"""Averages of a model's parameters over training."""

from __future__ import annotations

import copy

from .. import _C
from ..grad_mode import no_grad
from ..making import tensor
from ..nn.module import Module


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
