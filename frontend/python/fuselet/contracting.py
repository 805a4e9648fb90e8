"""Sums of products, in terms of matmul and views; most are methods too."""

from __future__ import annotations

import math

from . import _C
from .composed import _wrap_dim
from .chained_product import _check_rank, multi_dot
from .einsum import einsum
from .joining import unbind
from .shaping import _numbers, broadcast_tensors

_F = _C.functions


def _added(input, product, beta, alpha):
    product = product if alpha == 1 else product * alpha
    if beta == 0:  # what input holds, NaN too, does not count
        return product
    return (input if beta == 1 else input * beta) + product


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta input + alpha (mat1 @ mat2), input broadcast to the product's shape (N, M)."""
    if beta == 1 and alpha == 1:
        return _F.addmm(input, mat1, mat2)
    return _added(input, _F.mm(mat1, mat2), beta, alpha)


def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta input + alpha (batch1 @ batch2): (B, N, K) @ (B, K, M)."""
    return _added(input, _F.bmm(batch1, batch2), beta, alpha)


def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta input + alpha times the sum of the products of a batch: (B, N, K) @ (B, K, M) -> (N, M)."""
    _check_rank("addbmm", (batch1, batch2), (3, 3))
    b, n, k = batch1.shape
    product = _F.mm(batch1.permute(1, 0, 2).reshape(n, b * k), batch2.reshape(b * k, batch2.size(2)))
    return _added(input, product, beta, alpha)


def mv(input, vec):
    """(N, K) @ (K) -> (N)."""
    _check_rank("mv", (input, vec), (2, 1))
    return _F.matmul(input, vec)


def addmv(input, mat, vec, *, beta=1, alpha=1):
    """beta input + alpha (mat @ vec)."""
    return _added(input, mv(mat, vec), beta, alpha)


def dot(input, other):
    """(N), (N) -> (): the sum of products."""
    _check_rank("dot", (input, other), (1, 1))
    return _F.matmul(input, other)


vdot = dot


def outer(input, vec2):
    """(N), (M) -> (N, M): every product of two elements."""
    _check_rank("outer", (input, vec2), (1, 1))
    return input.unsqueeze(1) * vec2.unsqueeze(0)


ger = outer


def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """beta input + alpha outer(vec1, vec2)."""
    return _added(input, outer(vec1, vec2), beta, alpha)


def inner(input, other):
    """Sums of products over the last dimensions: (…, K), (…', K) -> (…, …'); with a number, the product."""
    return input * other if input.dim() == 0 or other.dim() == 0 else tensordot(input, other, ([-1], [-1]))


def tensordot(a, b, dims=2):
    """Sums of products over the last `dims` dimensions of a and the first of b, or over those in a pair of lists."""
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot: {dims} dimensions of {a.dim()} and {b.dim()}")
        dims = range(a.dim() - dims, a.dim()), range(dims)
    over_a, over_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    over_a = [_wrap_dim(d, a.dim(), "tensordot") for d in over_a]
    over_b = [_wrap_dim(d, b.dim(), "tensordot") for d in over_b]
    if len(over_a) == len(over_b):
        # A size of 1 broadcasts.
        a = _summed_where_one(a, over_a, b, over_b)
        b = _summed_where_one(b, over_b, a, over_a)
    if [a.size(d) for d in over_a] != [b.size(d) for d in over_b]:
        raise RuntimeError(f"tensordot: sizes {[a.size(d) for d in over_a]} and {[b.size(d) for d in over_b]} of the summed "
                           "dimensions differ")
    kept_a = [d for d in range(a.dim()) if d not in over_a]
    kept_b = [d for d in range(b.dim()) if d not in over_b]
    rows, columns = [a.size(d) for d in kept_a], [b.size(d) for d in kept_b]
    inner_size = math.prod(a.size(d) for d in over_a)
    left = a.permute(kept_a + over_a).reshape(math.prod(rows), inner_size)
    right = b.permute(over_b + kept_b).reshape(inner_size, math.prod(columns))
    return _F.mm(left, right).view(rows + columns)


def _summed_where_one(t, dims, other, other_dims):
    gone = [d for d, e in zip(dims, other_dims) if other.size(e) == 1 and t.size(d) != 1]
    return t.sum(gone, True, dtype=t.dtype) if gone else t


def cross(input, other, dim=None):
    """The vector product of vectors of three numbers along dim, by default the first dimension of size 3."""
    input, other = broadcast_tensors(input, other)
    if dim is None:
        dim = next((d for d, size in enumerate(input.shape) if size == 3), None)
    if dim is None or input.size(dim) != 3:
        raise RuntimeError(f"cross: expected a dimension of 3 numbers, got shape {list(input.shape)} and dim {dim}")
    (a, b, c), (x, y, z) = unbind(input, dim), unbind(other, dim)
    return _F.stack([b * z - c * y, c * x - a * z, a * y - b * x], dim)


def kron(input, other):
    """Kronecker product: blocks of `other`, each times an element of input."""
    rank = max(input.dim(), other.dim())
    a, b = (t.reshape((1,) * (rank - t.dim()) + tuple(t.shape)) for t in (input, other))
    spread_a = [n for size in a.shape for n in (size, 1)]
    spread_b = [n for size in b.shape for n in (1, size)]
    return (a.reshape(spread_a) * b.reshape(spread_b)).reshape([n * m for n, m in zip(a.shape, b.shape)])


def chain_matmul(*matrices):
    """multi_dot() of matrices; one is given back as it is."""
    matrices = _numbers(matrices) if len(matrices) == 1 and not isinstance(matrices[0], _C.TensorBase) else matrices
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


def bilinear(input1, input2, weight, bias=None):
    """input1 (…, I), input2 (…, J), weight (O, I, J), bias (O) -> (…, O): sums of input1 weight input2."""
    _check_rank("bilinear", (weight,), (3,))
    rows = math.prod(input1.shape[:-1])
    left = tensordot(input1.reshape(rows, input1.size(-1)), weight, ([1], [1]))  # (N, O, J)
    out = _F.matmul(left, input2.reshape(rows, input2.size(-1), 1)).view(list(input1.shape[:-1]) + [weight.size(0)])
    return out if bias is None else out + bias


METHODS = "addbmm addmm addmv addr baddbmm cross dot ger inner kron mv outer vdot".split()

__all__ = METHODS + ["bilinear", "chain_matmul", "einsum", "tensordot"]
