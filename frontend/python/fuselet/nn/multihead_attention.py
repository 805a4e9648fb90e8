"""Multi-head attention (Vaswani et al. 2017)."""

from __future__ import annotations

import math

from .. import _C, diagonals
from ..making import empty, ones, zeros
from . import functional as F
from . import init
from .layers import Linear
from .module import Module
from .parameter import Parameter

_F = _C.functions


class MultiheadAttention(Module):
    """query (T, N, E), key (S, N, kdim), value (S, N, vdim) -> (T, N, E) and, with need_weights, the weights (N, T, S) as a mean
    over heads (average_attn_weights=False: (N, num_heads, T, S)), else None. batch_first puts N first; N may be absent.

    Masks exclude: a bool one is True where a key is not seen, a floating one is added to the scores. key_padding_mask has
    shape (N, S), attn_mask (T, S) or (N · num_heads, T, S); is_causal without attn_mask lets query t see the keys up to t. A
    query that sees nothing gives 0 before the output projection.

    in_proj_weight (3 E, E), or q_proj_weight, k_proj_weight and v_proj_weight where kdim or vdim differ from E, start by Xavier's
    rule, biases as 0. NotImplementedError for add_bias_kv and add_zero_attn."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
                 batch_first=False, device=None, dtype=None):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: num_heads ({num_heads}) must divide embed_dim ({embed_dim}), both positive")
        if add_bias_kv or add_zero_attn:
            raise NotImplementedError("MultiheadAttention: add_bias_kv and add_zero_attn are not supported")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first = dropout, batch_first
        names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        same = self.kdim == embed_dim == self.vdim

        def make(*shape):
            return Parameter(empty(*shape, device=device, dtype=dtype))

        self.register_parameter("in_proj_weight", make(3 * embed_dim, embed_dim) if same else None)
        for name, width in zip(names, (embed_dim, self.kdim, self.vdim)):
            self.register_parameter(name, None if same else make(embed_dim, width))
        self.register_parameter("in_proj_bias", make(3 * embed_dim) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)
        self._reset_parameters()

    def _reset_parameters(self):
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
                is_causal=False):
        alone = query.dim() == 2
        batch_dim = 0 if self.batch_first else 1
        q, k, v = self._projected(query, key, value)
        if alone:
            q, k, v = (x.unsqueeze(batch_dim) for x in (q, k, v))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        # (N, T, E) -> (N, heads, T, E / heads)
        q, k, v = ((x if self.batch_first else x.transpose(0, 1)).unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)
                   for x in (q, k, v))
        causal = is_causal and attn_mask is None
        mask = self._additive(attn_mask, key_padding_mask, q, k, causal and (need_weights or key_padding_mask is not None))
        p = self.dropout if self.training else 0.0
        if need_weights:
            scores = (q * (1 / math.sqrt(self.head_dim))) @ k.transpose(-2, -1)
            weights = F.dropout(F.safe_softmax(scores if mask is None else scores + mask, -1), p, p > 0)
            mixed = weights @ v
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, mask, p, causal and mask is None)
        out = mixed.transpose(1, 2).flatten(-2)
        out = self.out_proj(out if self.batch_first else out.transpose(0, 1))
        out = out.squeeze(batch_dim) if alone else out
        if not need_weights:
            return out, None
        weights = weights.mean(1) if average_attn_weights else weights
        return out, weights.squeeze(0) if alone else weights

    def _projected(self, query, key, value):
        bias = self.in_proj_bias
        if self.in_proj_weight is None:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        elif query is key and key is value:
            return F.linear(query, self.in_proj_weight, bias).chunk(3, -1)
        else:
            weights = self.in_proj_weight.chunk(3)
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        return tuple(F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))

    def _additive(self, attn_mask, key_padding_mask, q, k, causal):
        """What is added to scores (N, heads, T, S), or None."""
        n, h, t, _ = q.shape
        s, mask = k.size(2), None
        if causal:
            attn_mask = diagonals.triu(ones(t, s, device=q.device), 1) != 0
        if attn_mask is not None:
            if tuple(attn_mask.shape) not in ((t, s), (n * h, t, s)):
                raise RuntimeError(f"MultiheadAttention: attn_mask must have shape {[t, s]} or {[n * h, t, s]}, got {list(attn_mask.shape)}")
            attn_mask = _added(attn_mask, q.dtype)
            mask = attn_mask.view(n, h, t, s) if attn_mask.dim() == 3 else attn_mask
        if key_padding_mask is not None:
            if tuple(key_padding_mask.shape) != (n, s):
                raise RuntimeError(f"MultiheadAttention: key_padding_mask must have shape {[n, s]}, got {list(key_padding_mask.shape)}")
            padding = _added(key_padding_mask, q.dtype).view(n, 1, 1, s)
            mask = padding if mask is None else mask + padding
        return mask

    def extra_repr(self):
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, batch_first={self.batch_first}"


def _added(mask, dtype):
    if mask.dtype is not _C.bool:
        return mask.to(dtype)
    return zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -math.inf)
