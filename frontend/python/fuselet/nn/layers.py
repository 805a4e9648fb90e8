"""Layers that mix features: Linear, Bilinear, Embedding, and distances between vectors."""

from __future__ import annotations

import math

from ..making import empty
from ..grad_mode import no_grad
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class Linear(Module):
    """x (…, in_features) -> (…, out_features): x @ weight.T + bias.

    weight (out_features, in_features) and bias (out_features), of the default floating dtype unless dtype says
    otherwise, start uniform in ±1/sqrt(in_features). RuntimeError where x has another last size or dtype."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws new initial values: weight and bias uniform in ±1/sqrt(in_features)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1 (…, in1_features), x2 (…, in2_features) -> (…, out_features): x1ᵀ weight[k] x2 + bias[k].

    weight (out_features, in1_features, in2_features) and bias start uniform in ±1/sqrt(in1_features)."""

    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(empty(out_features, in1_features, in2_features, dtype=dtype, device=device))
        self.register_parameter("bias", Parameter(empty(out_features, dtype=dtype, device=device)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws new initial values: weight and bias uniform in ±1/sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1, input2):
        # x1 (…, I) @ weight as (I, O J) -> (…, O, J), then with x2 (…, J, 1).
        o, i, j = self.weight.shape
        mixed = (input1 @ self.weight.permute(1, 0, 2).reshape(i, o * j)).unflatten(-1, (o, j))
        out = (mixed * input2.unsqueeze(-2)).sum(-1)
        return out if self.bias is None else out + self.bias

    def extra_repr(self):
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
                f"bias={self.bias is not None}")


class Embedding(Module):
    """Integers (…) -> rows of weight (num_embeddings, embedding_dim): (…, embedding_dim).

    weight starts normal, of mean 0 and variance 1; the row padding_idx starts as 0 and gets no gradient.
    IndexError for an index outside [0, num_embeddings); NotImplementedError for max_norm, scale_grad_by_freq, sparse."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 sparse=False, device=None, dtype=None):
        super().__init__()
        if max_norm is not None or scale_grad_by_freq or sparse:
            raise NotImplementedError("Embedding: max_norm, scale_grad_by_freq and sparse are not supported")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"Embedding: padding_idx {padding_idx} is out of range for {num_embeddings} rows")
        self.padding_idx = padding_idx + num_embeddings if padding_idx is not None and padding_idx < 0 else padding_idx
        self.weight = Parameter(empty(num_embeddings, embedding_dim, dtype=dtype, device=device))
        self.reset_parameters()

    def reset_parameters(self):
        """Draws new initial values: normal, and 0 for the row padding_idx."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].zero_()

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None):
        """A layer over the memory of `embeddings` (V, D), without gradient unless freeze=False."""
        made = cls.__new__(cls)
        Module.__init__(made)
        made.num_embeddings, made.embedding_dim = embeddings.shape
        made.padding_idx = padding_idx
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        return made

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self):
        pad = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{pad}"


class EmbeddingBag(Module):
    """Bags of integers, (B, L) or (N) with offsets (B) -> (B, embedding_dim): sums, means or maxima of rows of weight
    (num_embeddings, embedding_dim); see functional.embedding_bag.

    weight starts normal, of mean 0 and variance 1, the row padding_idx, which counts for nothing, as 0. NotImplementedError
    for max_norm, scale_grad_by_freq, sparse."""

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False,
                 _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None):
        super().__init__()
        if max_norm is not None or scale_grad_by_freq or sparse:
            raise NotImplementedError("EmbeddingBag: max_norm, scale_grad_by_freq and sparse are not supported")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"EmbeddingBag: padding_idx {padding_idx} is out of range for {num_embeddings} rows")
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.mode, self.include_last_offset = mode, include_last_offset
        self.weight = Parameter(empty(num_embeddings, embedding_dim, dtype=dtype, device=device) if _weight is None else _weight)
        if _weight is None:
            self.reset_parameters()

    reset_parameters = Embedding.reset_parameters

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, mode="mean", include_last_offset=False, padding_idx=None):
        """A layer over the memory of `embeddings` (V, D), without gradient unless freeze=False."""
        made = cls(*embeddings.shape, mode=mode, _weight=embeddings, include_last_offset=include_last_offset, padding_idx=padding_idx)
        made.weight.requires_grad_(not freeze)
        return made

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, mode=self.mode, per_sample_weights=per_sample_weights,
                               include_last_offset=self.include_last_offset, padding_idx=self.padding_idx)

    def extra_repr(self):
        pad = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}{pad}"


class CosineSimilarity(Module):
    """The cosine of the angle between x1 and x2 along dim, norms being at least eps."""

    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)

    def extra_repr(self):
        return f"dim={self.dim}, eps={self.eps}"


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last dimension."""

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        return (x1 - x2 + self.eps).norm(self.norm, -1, self.keepdim)
