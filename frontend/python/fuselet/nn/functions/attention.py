"""Attention in terms of matmul and softmax."""

from __future__ import annotations

import math

from ... import _C

_F = _C.functions


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """softmax(query @ key.T * scale) @ value (Vaswani et al. 2017), scale being 1 / sqrt(D) by default.

    query (…, T, D), key (…, S, D), value (…, S, E) -> (…, T, E). attn_mask broadcasts to (…, T, S): a bool one is
    True where a key is seen, a floating one is added. is_causal lets row t see the keys up to t. A row that sees
    nothing gives 0. Dropout takes place whenever dropout_p > 0. enable_gqa: key and value have fewer heads (dimension -3),
    each of which serves as many heads of query in a row (Ainslie et al. 2023). Scores of 16-bit inputs are masked and
    normalised in float32. RuntimeError where shapes do not fit, or for a mask beside is_causal."""
    from ..functional import dropout, safe_softmax

    if is_causal and attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention: a mask beside is_causal=True; put the triangle into the mask")
    if enable_gqa:
        key, value = _shared_heads(query, key), _shared_heads(query, value)
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = (query * scale) @ key.transpose(-2, -1)
    if scores.dtype.itemsize == 2:
        scores = scores.to(_C.float32)
    if is_causal:
        rows = _F.arange(query.size(-2), device=query.device).unsqueeze(1)
        attn_mask = _F.arange(key.size(-2), device=query.device).unsqueeze(0) <= rows
    if attn_mask is not None:
        masked = attn_mask.dtype is _C.bool
        scores = scores.masked_fill(_F.logical_not(attn_mask), -math.inf) if masked else scores + attn_mask.to(scores.dtype)
    shares = safe_softmax(scores, -1).to(query.dtype)
    return dropout(shares, dropout_p, dropout_p > 0) @ value


def _shared_heads(query, t):
    heads, shared = query.size(-3), t.size(-3)
    if heads % shared:
        raise RuntimeError(f"scaled_dot_product_attention: {heads} heads of query for {shared} of key or value")
    return t if heads == shared else t.repeat_interleave(heads // shared, -3)
