"""Normalisation layers.

Batch normalisation keeps running statistics as buffers: training calls move them towards the batch's (in place, the
variance unbiased), evaluation reads them.
"""

from __future__ import annotations

from ..grad_mode import no_grad
from ..making import ones, tensor, zeros
from . import functional as F
from .module import Module
from .parameter import Parameter


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the trailing dimensions normalized_shape (Ba et al. 2016).

    x (…, *normalized_shape) to the same; weight and bias have shape normalized_shape and start as 1 and 0.
    RuntimeError where x does not end in normalized_shape."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", None)
        self.register_parameter("bias", None)
        if elementwise_affine:
            self.weight = Parameter(ones(self.normalized_shape, dtype=dtype, device=device))
            if bias:
                self.bias = Parameter(zeros(self.normalized_shape, dtype=dtype, device=device))

    def reset_parameters(self):
        """Weight 1, bias 0."""
        _reset_affine(self)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class RMSNorm(Module):
    """x / sqrt(mean(x²) + eps) * weight over the trailing dimensions normalized_shape (Zhang and Sennrich 2019).

    eps defaults to the machine epsilon of x's dtype; weight starts as 1."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", None)
        if elementwise_affine:
            self.weight = Parameter(ones(self.normalized_shape, dtype=dtype, device=device))

    def reset_parameters(self):
        """Weight 1."""
        _reset_affine(self)

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """x (N, C, …): mean and variance over each of num_groups groups of channels (Wu and He 2018); weight and bias a channel."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        _make_affine(self, num_channels, affine, device, dtype)

    def reset_parameters(self):
        """Weight 1, bias 0."""
        _reset_affine(self)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


def _make_affine(module, size, affine, device, dtype):
    module.register_parameter("weight", Parameter(ones(size, dtype=dtype, device=device)) if affine else None)
    module.register_parameter("bias", Parameter(zeros(size, dtype=dtype, device=device)) if affine else None)


@no_grad
def _reset_affine(module):
    if module.weight is not None:
        module.weight.fill_(1.0)
    if getattr(module, "bias", None) is not None:
        module.bias.zero_()


class _ChannelStatistics(Module):
    """What batch and instance normalisation share: weight and bias a channel, running statistics."""

    ranks = ()

    def __init__(self, num_features, eps, momentum, affine, track_running_stats, device, dtype):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _make_affine(self, num_features, affine, device, dtype)
        track = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, dtype=dtype, device=device) if track else None)
        self.register_buffer("running_var", ones(num_features, dtype=dtype, device=device) if track else None)
        self.register_buffer("num_batches_tracked", tensor(0, device=device) if track else None)

    @no_grad
    def reset_running_stats(self):
        """Running mean 0 and variance 1, no batch counted."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1.0)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Weight 1, bias 0, running mean 0 and variance 1."""
        self.reset_running_stats()
        _reset_affine(self)

    def _check(self, input):
        if self.ranks and input.dim() not in self.ranks:
            raise ValueError(f"{type(self).__name__}: expected {' or '.join(map(str, self.ranks))} dimensions, got shape "
                             f"{list(input.shape)}")

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"track_running_stats={self.track_running_stats}")


class _BatchNorm(_ChannelStatistics):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        self._check(input)
        factor = self.momentum
        if self.training and self.num_batches_tracked is not None:
            with no_grad():
                self.num_batches_tracked.add_(1)
            if factor is None:  # the mean of all batches so far
                factor = 1.0 / self.num_batches_tracked.item()
        by_batch = self.training or self.running_mean is None
        moved = not self.training or self.track_running_stats
        return F.batch_norm(input, self.running_mean if moved else None, self.running_var if moved else None, self.weight,
                            self.bias, by_batch, 0.0 if factor is None else factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """(N, C) or (N, C, L) normalised a channel over the batch (Ioffe and Szegedy 2015); running statistics for evaluation.

    momentum is the weight of the newest batch; None takes the mean of all batches. track_running_stats=False normalises
    by the batch in evaluation too."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """(N, C, H, W) normalised a channel over the batch; as BatchNorm1d."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """(N, C, D, H, W) normalised a channel over the batch; as BatchNorm1d."""

    ranks = (5,)


class _InstanceNorm(_ChannelStatistics):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        self._check(input)
        alone = input.dim() == self.ranks[0]
        by_input = self.training or not self.track_running_stats
        out = F.instance_norm(input.unsqueeze(0) if alone else input, self.running_mean, self.running_var, self.weight, self.bias,
                              by_input, 0.0 if self.momentum is None else self.momentum, self.eps)
        return out.squeeze(0) if alone else out


class InstanceNorm1d(_InstanceNorm):
    """(N, C, L) or (C, L) normalised a channel of each sample (Ulyanov et al. 2016)."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """(N, C, H, W) or (C, H, W) normalised a channel of each sample."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """(N, C, D, H, W) or (C, D, H, W) normalised a channel of each sample."""

    ranks = (4, 5)


class LocalResponseNorm(Module):
    """x / (k + alpha m)^beta, m being the mean of x² over `size` neighbouring channels (Krizhevsky et al. 2012)."""

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
