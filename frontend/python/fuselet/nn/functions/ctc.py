"""Connectionist temporal classification (Graves et al. 2006): a loss over all alignments of a sequence with shorter targets.

T times, N samples, C classes, S targets at most. The forward variables of the paper's section 4.1 as logarithms, one step of
tensor operators a time; gradients flow through them.
"""

from __future__ import annotations

import math

from ... import _C
from ...composed import _narrow, _wide
from ...making import tensor
from .losses import _reduced

_F = _C.functions

# Stands for log(0): so low that no sum of real logarithms reaches it, so high that T of them are finite.
_NEVER = -1e30


def _lengths(values, n, most, what, device):
    """(int64 (N) of lengths, the same as a list where the host knows them: not those in tensors of a compiled function)."""
    if not isinstance(values, _C.TensorBase):
        known = [values] if isinstance(values, int) else list(values)
        values = tensor(known, dtype=_C.int64, device=device)
    else:
        if values.is_floating_point():
            raise RuntimeError(f"ctc_loss: {what} must be integers, got {values.dtype}")
        known = None if _C._is_inside_compiled_function() else values.reshape(-1).tolist()
    if values.numel() != n:
        raise RuntimeError(f"ctc_loss: expected {n} {what}, got shape {list(values.shape)}")
    if known is not None and any(not 0 <= v <= most for v in known):
        raise RuntimeError(f"ctc_loss: {what} must lie in [0, {most}], got {known}")
    return values.reshape(-1).to(device=device, dtype=_C.int64), known


def _in_rows(targets, lengths, known):
    """Targets one behind the other, as rows (N, S)."""
    if known is None:
        raise NotImplementedError("ctc_loss: targets in one vector need their lengths on the host; in a compiled function give the lengths as "
                                  "a sequence, or the targets as (N, S)")
    if sum(known) != targets.numel():
        raise RuntimeError(f"ctc_loss: {targets.numel()} targets for target_lengths {known}")
    places = (lengths.cumsum(0) - lengths).unsqueeze(1) + _F.arange(max(known, default=0), device=targets.device)
    return targets.index_select(0, places.clamp(max=max(targets.numel() - 1, 0)).reshape(-1)).view(places.shape) if targets.numel() else (
        _F.zeros([len(known), 0], dtype=targets.dtype, device=targets.device))


def _losses(logs, targets, input_lengths, target_lengths, blank):
    """-log of the probability of all alignments: logs (T, N, C), targets (N, S) -> (N)."""
    times, n, classes = logs.shape
    states = 2 * targets.size(1) + 1
    # Blanks before, between and behind the targets.
    inside = _F.arange(targets.size(1), device=logs.device) < target_lengths.unsqueeze(1)
    # A negative class is as wrong as one too large, where the gather would count it from the end.
    known = _F.where(inside, _F.where(targets < 0, classes, targets), blank)
    blanks = _F.full([n, targets.size(1), 1], blank, dtype=_C.int64, device=logs.device)
    labels = _F.cat([_F.cat([blanks, known.unsqueeze(2)], 2).view(n, states - 1), _F.full([n, 1], blank, dtype=_C.int64, device=logs.device)], 1)
    emitted = logs.gather(2, labels.unsqueeze(0).expand(times, n, states)).clamp(min=_NEVER)
    # A state may be entered from the one two before it unless that would leave out a blank that is needed.
    never = _F.full([n, 2], _NEVER, dtype=logs.dtype, device=logs.device)
    two_before = labels.narrow(1, 0, max(states - 2, 0))
    differ = _F.logical_and(labels.narrow(1, 2, states - 2) != blank, labels.narrow(1, 2, states - 2) != two_before) if states > 2 else None
    first = _F.arange(states, device=logs.device) < 2
    alpha = _F.where(first, emitted.select(0, 0), _NEVER)
    for t in range(1, times):
        ways = _F.logaddexp(alpha, _F.cat([never.narrow(1, 0, 1), alpha.narrow(1, 0, states - 1)], 1))
        if differ is not None:
            skips = _F.where(differ, alpha.narrow(1, 0, states - 2), _NEVER)
            ways = _F.logaddexp(ways, _F.cat([never, skips], 1))
        alpha = _F.where((input_lengths > t).unsqueeze(1), (ways + emitted.select(0, t)).clamp(min=_NEVER), alpha)
    last = (2 * target_lengths).unsqueeze(1)
    ends = alpha.gather(1, last).squeeze(1)
    before = _F.where(target_lengths > 0, alpha.gather(1, (last - 1).clamp(min=0)).squeeze(1), _NEVER)
    losses = -_F.logaddexp(ends, before)
    # Nothing was seen: only the empty target is possible.
    losses = _F.where(input_lengths > 0, losses, _F.where(target_lengths > 0, -_NEVER, 0.0))
    return _F.where(losses >= -_NEVER / 2, math.inf, losses)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the sum, over all alignments with the targets, of the product of their probabilities.

    log_probs: (T, N, C) or (T, C), floating, logarithms of probabilities (as log_softmax gives them); targets: integers
    (N, S), or one behind the other (sum of target_lengths), none of them blank; the lengths: N integers each, in tensors or
    sequences. 'mean' divides each loss by its target's length (at least 1) and takes the mean over the batch; 'none' has the
    shape (N), or () for (T, C). A target for which the input is too short has the loss infinity, with zero_infinity 0, and
    the gradient 0. The gradient is that of the formula, minus the probability of each state: PyTorch's is the same behind
    log_softmax, whose own backward makes them equal. RuntimeError where shapes, lengths, dtypes or the blank do not fit;
    IndexError for a target inside its length that is no class. In a compiled function lengths in tensors are not checked, and
    targets one behind the other need target_lengths in a sequence (NotImplementedError)."""
    alone = log_probs.dim() == 2
    logs = _wide(log_probs.unsqueeze(1) if alone else log_probs)
    if logs.dim() != 3 or not log_probs.is_floating_point() or targets.is_floating_point():
        raise RuntimeError(f"ctc_loss: expected floating log_probs (T, N, C) or (T, C) and integer targets, got {log_probs.dtype} of shape "
                           f"{list(log_probs.shape)} and {targets.dtype}")
    times, n, classes = logs.shape
    if not 0 <= blank < classes or times == 0:
        raise RuntimeError(f"ctc_loss: blank {blank} must be one of {classes} classes, and there must be a time step in {list(log_probs.shape)}")
    input_lengths, _ = _lengths(input_lengths, n, times, "input_lengths", logs.device)
    most = targets.size(1) if targets.dim() == 2 else targets.numel()
    target_lengths, known = _lengths(target_lengths, n, most, "target_lengths", logs.device)
    targets = targets.to(_C.int64)
    if targets.dim() == 1:
        targets = targets.unsqueeze(0) if alone else _in_rows(targets, target_lengths, known)
    if targets.dim() != 2 or targets.size(0) != n:
        raise RuntimeError(f"ctc_loss: expected targets (N, S) or one vector for {n} samples, got shape {list(targets.shape)}")
    losses = _losses(logs, targets, input_lengths, target_lengths, blank)
    if zero_infinity:
        losses = _F.where(_F.isinf(losses), 0.0, losses)
    if reduction == "mean":
        losses = losses / target_lengths.clamp(min=1).to(losses.dtype)
    elif alone:
        losses = losses.squeeze(0)
    return _narrow(_reduced(losses, reduction), log_probs)


__all__ = ["ctc_loss"]
