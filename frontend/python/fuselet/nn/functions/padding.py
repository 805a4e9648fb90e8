"""pad: entries put around a tensor, in terms of cat and index_select."""

from __future__ import annotations

from ... import _C

_F = _C.functions


def pad(input, pad, mode="constant", value=None):
    """Entries put before and behind the last dimensions: `pad` gives (before, after) for the last one, then for the one
    before it, …; negative counts cut.

    mode 'constant' puts `value` (0), 'reflect' the entries mirrored at the first and last one (fewer than there are),
    'replicate' the first and last one again, 'circular' those of the other end (at most as many as there are). RuntimeError
    where the counts do not fit."""
    pad = [int(count) for count in pad]
    if len(pad) % 2 or len(pad) > 2 * input.dim():
        raise RuntimeError(f"pad: expected pairs of counts, at most {input.dim()} of them for shape {list(input.shape)}, got {pad}")
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"pad: mode must be 'constant', 'reflect', 'replicate' or 'circular', got {mode!r}")
    if mode != "constant" and value not in (None, 0, 0.0):
        raise ValueError(f"pad: mode {mode!r} takes no value, got {value}")
    for i in range(len(pad) // 2):
        dim, before, after = input.dim() - 1 - i, pad[2 * i], pad[2 * i + 1]
        if mode in ("reflect", "replicate"):  # mirrored at, and copied from, entries that a negative count cuts
            input = _copied(input, dim, before, after, mode)
            continue
        if before < 0 or after < 0:
            start, end = max(-before, 0), input.size(dim) - max(-after, 0)
            if start > end:
                raise RuntimeError(f"pad: {pad} cuts more than all of a tensor of shape {list(input.shape)}")
            input, before, after = input.narrow(dim, start, end - start), max(before, 0), max(after, 0)
        if before or after:
            input = _constant(input, dim, before, after, value) if mode == "constant" else _copied(input, dim, before, after, mode)
    return input


def _constant(input, dim, before, after, value):
    parts = [input]
    for count, in_front in ((before, True), (after, False)):
        if count:
            shape = list(input.shape)
            shape[dim] = count
            block = _F.full(shape, 0 if value is None else value, dtype=input.dtype, device=input.device)
            parts = [block, *parts] if in_front else [*parts, block]
    return _F.cat(parts, dim)


def _copied(input, dim, before, after, mode):
    size = input.size(dim)
    if size + before + after < 0:
        raise RuntimeError(f"pad: {before} and {after} cut more than all of dimension {dim} of shape {list(input.shape)}")
    if before == 0 and after == 0:
        return input
    most = {"reflect": size - 1, "replicate": max(before, after, 0) if size else 0, "circular": size}[mode]
    if max(before, after) > most:
        raise RuntimeError(f"pad: mode {mode!r} has at most {most} entries for dimension {dim} of shape {list(input.shape)}, "
                           f"got {before} and {after}")
    places = _F.arange(-before, size + after, device=input.device)
    if mode == "replicate":
        places = places.clamp(0, size - 1)
    elif mode == "circular":
        places = _F.where(places < 0, places + size, _F.where(places >= size, places - size, places))
    else:
        places = places.abs()
        places = _F.where(places >= size, 2 * (size - 1) - places, places)
    return input.index_select(dim, places)
