"""Functions behind the modules."""

from __future__ import annotations

import math

from ..pytorch_names import absent as _absent
from .. import _C, composed
from ..contracting import bilinear  # noqa: F401
from .functions.attention import scaled_dot_product_attention  # noqa: F401
from .functions.convolutions import conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, fold, unfold  # noqa: F401
from .functions.dropping import alpha_dropout, dropout1d, dropout2d, dropout3d, gumbel_softmax  # noqa: F401
from .functions.padding import pad  # noqa: F401
from .functions.pooling import (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_max_pool1d, adaptive_max_pool2d,  # noqa: F401
                      avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d)
from .functions.resampling import (affine_grid, channel_shuffle, grid_sample, interpolate, pixel_shuffle,  # noqa: F401
                         pixel_unshuffle, upsample)

_F = _C.functions

linear, gelu = _F.linear, _F.gelu
sigmoid, tanh, silu = _F.sigmoid, _F.tanh, _F.silu


def relu(input, inplace=False):
    """max(input, 0) for any shape and dtype; NaN stays NaN; the gradient at 0 is 0."""
    return input.relu_() if inplace else _F.relu(input)


def softmax(input, dim=-1, dtype=None):
    """exp(input - max) / sum(exp(input - max)) along dim: positive numbers that sum to 1.

    input: any shape, floating (with dtype, converted to that first); the result has the same shape and dtype.
    A slice of -inf alone gives NaN; safe_softmax gives 0. RuntimeError for integers, IndexError for a
    dimension out of range."""
    return _F.softmax(input, dim, dtype)


def log_softmax(input, dim=-1, dtype=None):
    """input - max - log(sum(exp(input - max))) along dim, which stays finite where log(softmax) would not.
    Shapes, dtypes and errors as for softmax."""
    return _F.log_softmax(input, dim, dtype)


def safe_softmax(input, dim=-1):
    """softmax, but 0 for a slice of -inf alone, as attention wants of a row that sees nothing. NaN stays NaN."""
    masked = (input.detach() == -math.inf).to(_C.uint8).amin([dim], True).to(_C.bool)
    return _F.where(masked, 0.0, _F.softmax(_F.where(masked, 0.0, input), dim))


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(input - mean) / sqrt(var + eps) * weight + bias, mean and biased variance over the trailing dimensions
    normalized_shape (Ba et al. 2016).

    input (…, *normalized_shape), floating; weight and bias of shape normalized_shape. The statistics of 16-bit
    inputs are float32. RuntimeError where input does not end in normalized_shape."""
    return _F.layer_norm(input, normalized_shape, weight, bias, eps)


def embedding(input, weight, padding_idx=None):
    """Rows of weight (V, D) at the integers `input` (…): shape (…, D), dtype of weight. The row padding_idx
    gets no gradient. IndexError for an index outside [-V, V)."""
    if padding_idx is not None and padding_idx < 0:
        if padding_idx < -weight.size(0):
            raise IndexError(f"embedding: padding_idx {padding_idx} is out of range for {weight.size(0)} rows")
        padding_idx += weight.size(0)
    return _F.embedding(weight, input, padding_idx)


def dropout(input, p=0.5, training=True, inplace=False):
    """While training, elements zeroed with probability p and the rest scaled by 1 / (1 - p) (Srivastava et al.
    2014); else the input itself. Takes one draw of the default generator. p is rounded to a multiple of 2^-16,
    and the scale uses the rounded one. RuntimeError for p outside [0, 1] or an integer input."""
    return _F.dropout(input, p, training)


def leaky_relu(input, negative_slope=0.01):
    """input where positive, else negative_slope input."""
    return _F.where(input > 0, input, input * negative_slope)


def _expm1(input):
    # exp(x) - 1 would lose the digits of a small x.
    return (input * 0.5).tanh() * (input.exp() + 1)


def elu(input, alpha=1.0):
    """input where positive, else alpha (exp(input) - 1)."""
    return _F.where(input > 0, input, _expm1(_F.minimum(input, 0)) * alpha)


def softplus(input):
    """log(1 + exp(x)), from the side that does not overflow."""
    return _F.maximum(input, 0) + _F.log1p((-input.abs()).exp())


def one_hot(input, num_classes=-1):
    """Integers (…) -> int64 (…, num_classes) with a 1 at each."""
    if input.is_floating_point() or input.dtype is _C.bool:
        raise RuntimeError(f"one_hot: expected integer classes, got {input.dtype}")
    low, high = (int(input.amin().item()), int(input.amax().item())) if input.numel() else (0, -1)
    if num_classes < 0:
        num_classes = high + 1
    if low < 0 or high >= num_classes:
        raise IndexError(f"one_hot: class {low if low < 0 else high} is out of range for {num_classes} classes")
    return (input.unsqueeze(-1) == _F.arange(num_classes, device=input.device)).to(_C.int64)


def normalize(input, p=2.0, dim=1, eps=1e-12):
    """input / max(norm, eps) along dim; finite gradient at zero vectors, for which eps is at least 2^-14 in float16."""
    values = composed._wide(input)
    if input.dtype is _C.float16:
        eps = max(eps, 2.0 ** -14)
    return composed._narrow(values / composed.norm(values, p, dim, True).clamp(min=eps), input)


# ---- losses
def _reduced(values, reduction):
    if reduction == "mean":
        return values.mean()
    if reduction == "sum":
        return values.sum()
    if reduction == "none":
        return values
    raise ValueError(f"reduction must be 'mean', 'sum' or 'none', got {reduction!r}")


def _check_shapes(input, target, name):
    if tuple(input.shape) != tuple(target.shape):
        raise RuntimeError(f"{name}: input of shape {list(input.shape)} and target of shape {list(target.shape)} must have one shape")


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """-log(softmax(input))[target], weighted by class; label_smoothing mixes in the mean over all classes.

    input: logits (N, C), (C) or (N, C, …), floating; target: integer classes, input's shape without C. Rows whose
    target is ignore_index count for nothing; 'mean' divides by the weights of the rest (a mean over none is
    NaN), 'none' has target's shape. RuntimeError where shapes or dtypes do not fit, IndexError for a class
    outside [0, C).

    A floating target of input's shape holds class probabilities: -sum(target · log(softmax(input))), whose 'mean'
    divides by the number of rows. size_average and reduce are ignored."""
    if target.is_floating_point():
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing)
    return _F.cross_entropy(input, target, weight, reduction, ignore_index, label_smoothing)


def _soft_cross_entropy(input, target, weight, reduction, label_smoothing):
    _check_shapes(input, target, "cross_entropy")
    dim = 0 if input.dim() == 1 else 1
    target = target * (1 - label_smoothing) + label_smoothing / input.size(dim)
    logs = log_softmax(input, dim)
    if weight is not None:
        logs = logs * weight.view([-1] + [1] * (input.dim() - dim - 1))
    return _reduced(-(target * logs).sum(dim), reduction)


def mse_loss(input, target, reduction="mean"):
    """(input - target)², reduced by 'mean', 'sum' or 'none'; floating. RuntimeError unless the shapes are equal:
    nothing broadcasts."""
    return _F.mse_loss(input, target, reduction)


def l1_loss(input, target, reduction="mean"):
    """|input - target|, reduced; the shapes must be equal."""
    _check_shapes(input, target, "l1_loss")
    return _reduced((input - target).abs(), reduction)


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """Of log probabilities (N, C) and integer class targets (N)."""
    if input.dim() != 2 or tuple(target.shape) != (input.size(0),):
        raise RuntimeError(f"nll_loss: expected log probabilities (N, C) and targets (N), got {list(input.shape)} and "
                           f"{list(target.shape)}")
    seen = target != ignore_index
    at = _F.where(seen, target, 0)
    losses = -input.gather(1, at.unsqueeze(1)).squeeze(1)
    factors = seen.to(input.dtype)
    if weight is not None:
        factors = factors * weight.index_select(0, at)
    losses = _F.where(seen, losses, 0.0) * factors
    return losses.sum() / factors.sum() if reduction == "mean" else _reduced(losses, reduction)


def binary_cross_entropy_with_logits(input, target, reduction="mean"):
    """-target log(p) - (1 - target) log(1 - p) with p = sigmoid(input), from the side that does not overflow."""
    _check_shapes(input, target, "binary_cross_entropy_with_logits")
    return _reduced(_F.maximum(input, 0) - input * target + _F.log1p((-input.abs()).exp()), reduction)

__getattr__ = _absent("torch.nn.functional")
