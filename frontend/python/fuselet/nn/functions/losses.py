"""Losses as functions. Shapes must be equal where not said otherwise: nothing broadcasts.

reduction: 'mean', 'sum' or 'none' (each element); size_average and reduce are its older names. Losses of 16-bit inputs are
worked out in float32 and rounded once.
"""

from __future__ import annotations

import math

from ... import _C, reductions
from ...composed import _narrow, _wide

_F = _C.functions


def _reduction(size_average, reduce, reduction):
    """The reduction that is meant, where its older names are used."""
    if size_average is None and reduce is None:
        return reduction
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def _reduced(values, reduction):
    if reduction == "mean":
        return values.mean()
    if reduction == "sum":
        return values.sum()
    if reduction == "none":
        return values
    raise ValueError(f"reduction must be 'mean', 'sum' or 'none', got {reduction!r}")


def _check_shapes(name, *tensors):
    if any(tuple(t.shape) != tuple(tensors[0].shape) for t in tensors):
        raise RuntimeError(f"{name}: input of shape {list(tensors[0].shape)} and target of shape "
                           f"{' and '.join(str(list(t.shape)) for t in tensors[1:])} must have one shape")


# ---- classes
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """-log(softmax(input))[target], weighted by class; label_smoothing mixes in the mean over all classes.

    input: logits (N, C), (C) or (N, C, …), floating; target: integer classes, input's shape without C. Rows whose
    target is ignore_index count for nothing; 'mean' divides by the weights of the rest (a mean over none is
    NaN), 'none' has target's shape. RuntimeError where shapes or dtypes do not fit, IndexError for a class
    outside [0, C).

    A floating target of input's shape holds class probabilities: -sum(target · log(softmax(input))), whose 'mean'
    divides by the number of rows."""
    reduction = _reduction(size_average, reduce, reduction)
    if target.is_floating_point():
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing)
    return _F.cross_entropy(input, target, weight, reduction, ignore_index, label_smoothing)


def _soft_cross_entropy(input, target, weight, reduction, label_smoothing):
    _check_shapes("cross_entropy", input, target)
    dim = 0 if input.dim() == 1 else 1
    values, target = _wide(input), _wide(target)
    target = target * (1 - label_smoothing) + label_smoothing / input.size(dim)
    logs = _F.log_softmax(values, dim)
    if weight is not None:
        logs = logs * weight.to(logs.dtype).view([-1] + [1] * (input.dim() - dim - 1))
    return _narrow(_reduced(-(target * logs).sum(dim), reduction), input)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """-input[target], weighted by class: input holds log probabilities (N, C), (C) or (N, C, …), target integer classes of
    input's shape without C. ignore_index and 'mean' as in cross_entropy; IndexError for a class outside [0, C)."""
    reduction = _reduction(size_average, reduce, reduction)
    dim = 0 if input.dim() == 1 else 1
    if input.dim() < 1 or tuple(target.shape) != tuple(input.shape[:dim]) + tuple(input.shape[dim + 1:]):
        raise RuntimeError(f"nll_loss: expected log probabilities (N, C), (C) or (N, C, …) and targets without C, got "
                           f"{list(input.shape)} and {list(target.shape)}")
    seen = target != ignore_index
    # A negative class would count from the end.
    at = _F.where(seen, _F.where(target < 0, input.size(dim), target), 0)
    losses = -_wide(input).gather(dim, at.unsqueeze(dim)).squeeze(dim)
    factors = seen.to(losses.dtype)
    if weight is not None:
        factors = factors * weight.to(losses.dtype).index_select(0, at.reshape(-1)).reshape(at.shape)
    losses = _F.where(seen, losses, 0.0) * factors
    return _narrow(losses.sum() / factors.sum() if reduction == "mean" else _reduced(losses, reduction), input)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-target log(input) - (1 - target) log(1 - input) for probabilities, logarithms being at least -100; times weight,
    which broadcasts. NaN for an input outside [0, 1]."""
    _check_shapes("binary_cross_entropy", input, target)
    losses = _C.internal.binary_cross_entropy_terms(_wide(input), _wide(target))
    return _weighted(losses, weight, input, _reduction(size_average, reduce, reduction))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    """-pos_weight target log(p) - (1 - target) log(1 - p) with p = sigmoid(input), from the side that does not overflow;
    times weight. weight and pos_weight broadcast."""
    _check_shapes("binary_cross_entropy_with_logits", input, target)
    positives = 1.0 if pos_weight is None else pos_weight
    losses = _C.internal.binary_cross_entropy_with_logits_terms(_wide(input), _wide(target), positives)
    return _weighted(losses, weight, input, _reduction(size_average, reduce, reduction))


def _weighted(losses, weight, input, reduction):
    return _narrow(_reduced(losses if weight is None else losses * weight, reduction), input)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target (log(target) - input), input being a log probability; with log_target, target is one too. A target of 0 gives 0.
    'batchmean' divides the sum by the size of dimension 0, which is the divergence; 'mean' divides by all elements."""
    _check_shapes("kl_div", input, target)
    values, wanted = _wide(input), _wide(target)
    losses = wanted.exp() * (wanted - values) if log_target else _F.xlogy(wanted, wanted) - wanted * values
    if reduction == "batchmean":
        return _narrow(losses.sum() / input.size(0), input)
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), input)


# ---- numbers
def mse_loss(input, target, reduction="mean", *, size_average=None, reduce=None):
    """(input - target)², reduced by 'mean', 'sum' or 'none'; floating. RuntimeError unless the shapes are equal:
    nothing broadcasts."""
    return _F.mse_loss(input, target, _reduction(size_average, reduce, reduction))


def l1_loss(input, target, reduction="mean", *, size_average=None, reduce=None):
    """|input - target|, reduced; the shapes must be equal."""
    _check_shapes("l1_loss", input, target)
    return _narrow(_reduced((_wide(input) - _wide(target)).abs(), _reduction(size_average, reduce, reduction)), input)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """d² / (2 beta) where d = |input - target| is below beta, else d - beta / 2. ValueError for a negative beta."""
    _check_shapes("smooth_l1_loss", input, target)
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta must not be negative, got {beta}")
    apart = (_wide(input) - _wide(target)).abs()
    losses = apart if beta == 0 else _F.where(apart < beta, apart.square() * (0.5 / beta), apart - 0.5 * beta)
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), input)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """d² / 2 where d = |input - target| is at most delta, else delta (d - delta / 2) (Huber 1964). ValueError unless delta is
    positive."""
    _check_shapes("huber_loss", input, target)
    if delta <= 0:
        raise ValueError(f"huber_loss: delta must be positive, got {delta}")
    apart = (_wide(input) - _wide(target)).abs()
    losses = _F.where(apart <= delta, apart.square() * 0.5, (apart - 0.5 * delta) * delta)
    return _weighted(losses, weight, input, reduction)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """exp(input) - target input, or input - target log(input + eps) without log_input; with full, plus Stirling's term of
    targets above 1."""
    _check_shapes("poisson_nll_loss", input, target)
    values, counts = _wide(input), _wide(target)
    losses = values.exp() - counts * values if log_input else values - counts * (values + eps).log()
    if full:
        above = counts > 1
        safe = _F.where(above, counts, 1.0)
        losses = losses + _F.where(above, safe * safe.log() - safe + 0.5 * (safe * (2 * math.pi)).log(), 0.0)
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), input)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input - target)² / var) / 2, var being at least eps without a gradient for that; with full, plus
    log(2 pi) / 2. var is a number, or has input's shape, or that with a last dimension of 1 or none. Input and target
    broadcast, as nowhere else, for one number often stands for a whole distribution."""
    if not isinstance(var, _C.TensorBase):
        var = _F.full([], float(var), dtype=input.dtype, device=input.device).expand(input.shape)
    if tuple(var.shape) == tuple(input.shape[:-1]):
        var = var.unsqueeze(-1)
    if tuple(var.shape) not in (tuple(input.shape), (*input.shape[:-1], 1)):
        raise ValueError(f"gaussian_nll_loss: var of shape {list(var.shape)} does not fit input of shape {list(input.shape)}")
    spread = _wide(var)
    # The value is raised to eps; the gradient passes as if it were not.
    spread = spread + (spread.detach().clamp(min=eps) - spread.detach())
    losses = 0.5 * (spread.log() + (_wide(input) - _wide(target)).square() / spread)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return _narrow(_reduced(losses, reduction), input)


# ---- margins
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target input)) for targets of -1 and 1."""
    _check_shapes("soft_margin_loss", input, target)
    losses = -_F.log_sigmoid(_wide(target) * _wide(input))
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), input)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where target is 1, max(0, margin - input) where it is -1 (and both where it is neither)."""
    _check_shapes("hinge_embedding_loss", input, target)
    values = _wide(input)
    losses = _F.where(target == -1, 0.0, values) + _F.where(target == 1, 0.0, (margin - values).clamp(min=0))
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), input)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """sum over the other classes c of max(0, margin - input[target] + input[c])^p, over the number of classes, times the weight
    of the target's class; input (N, C) or (C), target (N) or ()."""
    if tuple(target.shape) != tuple(input.shape[:-1]) or input.dim() not in (1, 2):
        raise RuntimeError(f"multi_margin_loss: expected input (N, C) and target (N), or (C) and (), got {list(input.shape)} and "
                           f"{list(target.shape)}")
    values, at = _wide(input), target.unsqueeze(-1)
    terms = (margin - values.gather(-1, at) + values).clamp(min=0)
    terms = terms if p == 1 else terms.pow(p)
    if weight is not None:
        terms = terms * weight.to(terms.dtype).index_select(0, target.reshape(-1)).reshape(at.shape)
    own = _F.arange(input.size(-1), device=input.device) == at
    losses = _F.where(own, 0.0, terms).sum(-1) / input.size(-1)
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), input)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over the last dimension of binary_cross_entropy_with_logits, times weight."""
    _check_shapes("multilabel_soft_margin_loss", input, target)
    values, labels = _wide(input), _wide(target)
    losses = -(labels * _F.log_sigmoid(values) + (1 - labels) * _F.log_sigmoid(-values))
    losses = losses if weight is None else losses * weight
    return _narrow(_reduced(losses.mean(-1), _reduction(size_average, reduce, reduction)), input)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """sum over the sample's classes y and all other classes i of max(0, 1 - (input[y] - input[i])), over the number of classes C.

    input (N, C) or (C), target integers of the same shape: the sample's classes up to the first negative number, behind which
    nothing counts. The gradient at a bound is 0. 'none' has the shape (N) or (). RuntimeError for other shapes or dtypes,
    IndexError for a class above C - 1."""
    _check_shapes("multilabel_margin_loss", input, target)
    if input.dim() not in (1, 2) or target.is_floating_point():
        raise RuntimeError(f"multilabel_margin_loss: expected input (N, C) or (C) and integer targets, got {list(input.shape)} and {target.dtype}")
    values, target = _wide(input), target.to(_C.int64)
    listed = (target < 0).to(_C.int64).cumsum(-1) == 0
    at = _F.where(listed, target, 0)
    own = _F.zeros(target.shape, dtype=_C.int64, device=input.device).scatter_add(-1, at, listed.to(_C.int64)) > 0
    apart = 1 - values.gather(-1, at).unsqueeze(-1) + values.unsqueeze(-2)  # (…, class of the sample, other class)
    counts = _F.logical_and(_F.logical_and(listed.unsqueeze(-1), _F.logical_not(own).unsqueeze(-2)), apart.detach() > 0)
    losses = _F.where(counts, apart, 0.0).sum([-2, -1]) / input.size(-1)
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), input)


def margin_ranking_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    """max(0, margin - target (input1 - input2)) for targets of -1 and 1."""
    _check_shapes("margin_ranking_loss", input1, input2, target)
    losses = (margin - _wide(target) * (_wide(input1) - _wide(input2))).clamp(min=0)
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), input1)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between x1 and x2 along dim; each norm counts as at least eps. Shapes broadcast."""
    a, b = _wide(x1), _wide(x2)
    if tuple(a.shape) != tuple(b.shape):
        shape = _F.add(a.detach(), b.detach()).shape
        a, b = a.expand(shape), b.expand(shape)
    # Scaled before they are multiplied, so that long vectors do not overflow.
    a = a / reductions.norm(a, 2, dim, True).clamp(min=eps)
    b = b / reductions.norm(b, 2, dim, True).clamp(min=eps)
    return _narrow((a * b).sum(dim), x1)


def cosine_embedding_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    """1 - cosine where target is 1, max(0, cosine - margin) where it is -1, of vectors (N, D) or (D) and targets (N) or ()."""
    if target.dim() + 1 != input1.dim() or tuple(input1.shape) != tuple(input2.shape) or tuple(target.shape) != tuple(input1.shape[:-1]):
        raise RuntimeError(f"cosine_embedding_loss: expected vectors (N, D) and targets (N), or (D) and (), got {list(input1.shape)}, "
                           f"{list(input2.shape)} and {list(target.shape)}")
    cosine = cosine_similarity(_wide(input1), _wide(input2), -1, 1e-8)
    losses = _F.where(target == 1, 1 - cosine, 0.0) + _F.where(target == -1, (cosine - margin).clamp(min=0), 0.0)
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), input1)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 - x2 + eps over the last dimension. Shapes broadcast."""
    return _narrow(reductions.norm(_wide(x1) - _wide(x2) + eps, p, -1, keepdim), x1)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction="mean"):
    """max(0, margin + distance(anchor, positive) - distance(anchor, negative)) over the last dimension; with swap the
    negative's distance is the smaller one of those to anchor and positive (Balntas et al. 2016)."""
    _check_shapes("triplet_margin_loss", anchor, positive, negative)
    a, b, c = _wide(anchor), _wide(positive), _wide(negative)
    far = pairwise_distance(a, c, p, eps)
    if swap:
        far = _F.minimum(far, pairwise_distance(b, c, p, eps))
    losses = (margin + pairwise_distance(a, b, p, eps) - far).clamp(min=0)
    return _narrow(_reduced(losses, _reduction(size_average, reduce, reduction)), anchor)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    """triplet_margin_loss by a distance of one's own, a function of two tensors; pairwise_distance without one."""
    distance = pairwise_distance if distance_function is None else distance_function
    far = distance(anchor, negative)
    if swap:
        far = _F.minimum(far, distance(positive, negative))
    return _reduced((margin + distance(anchor, positive) - far).clamp(min=0), reduction)


__all__ = ("binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cosine_similarity cross_entropy "
           "gaussian_nll_loss hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss "
           "multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nll_loss "
           "pairwise_distance poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss triplet_margin_with_distance_loss").split()
