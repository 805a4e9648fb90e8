"""Norms of vectors and matrices, products of matrices. What takes a decomposition of the matrix (the 2- and the nuclear norm) is not here."""

from __future__ import annotations

import math

from . import _C, contracting, diagonals
from .chained_product import multi_dot  # noqa: F401
from .composed import _narrow, _reduce_arguments, _wide, _wrap_dim
from .reductions import _norm

_F = _C.functions


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The ord-norm of vectors along `dim` (all elements by default); its gradient at a zero vector is 0."""
    x = x if dtype is None else x.to(dtype)
    return _narrow(_norm(_wide(x), ord, _reduce_arguments(dim), keepdim), x)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of matrices in the two dimensions `dim`: "fro"; 1 and -1, the largest and smallest sum of a column's
    magnitudes; inf and -inf, those of a row's. RuntimeError for others."""
    A = A if dtype is None else A.to(dtype)
    rows, columns = (_wrap_dim(d, A.dim(), "matrix_norm") for d in dim)
    if rows == columns:
        raise RuntimeError(f"matrix_norm: dim must name two dimensions, got {tuple(dim)}")
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"matrix_norm: ord must be 'fro', 1, -1, inf or -inf, got {ord!r}")
    summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = _wide(A).abs().sum([summed], True)
    result = _F.amax(sums, [kept], True) if ord > 0 else _F.amin(sums, [kept], True)
    if not keepdim:
        result = result.reshape([size for d, size in enumerate(A.shape) if d not in (rows, columns)])
    return _narrow(result, A)


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """vector_norm() of all elements without ord and dim; vector_norm() along one dimension, or of a vector;
    matrix_norm() in two dimensions, or of a matrix."""
    dims = _reduce_arguments(dim)
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if len(dims) == 2 or (not dims and A.dim() == 2):
        return matrix_norm(A, ord, tuple(dims) or (-2, -1), keepdim, dtype=dtype)
    if len(dims) == 1 or (not dims and A.dim() == 1):
        return vector_norm(A, ord, dim, keepdim, dtype=dtype)
    raise RuntimeError(f"linalg.norm: with ord, expected one or two dimensions, got shape {list(A.shape)} and dim {dim}")


# ---- products and diagonals
def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """fuselet.diagonal() of the last two dimensions."""
    return diagonals.diagonal(A, offset, dim1, dim2)


def cross(input, other, *, dim=-1):
    """The vector product of vectors of three numbers along dim."""
    return contracting.cross(input, other, dim)


def vecdot(x, y, *, dim=-1):
    """Sums of products along dim; the shapes broadcast."""
    return (x * y).sum(dim)


def vander(x, N=None):
    """(…, n) -> (…, n, N): the powers 0 … N - 1 of each element, N being n by default."""
    x = x.reshape(1) if x.dim() == 0 else x
    count = x.size(-1) if N is None else N
    return x.unsqueeze(-1) ** _F.arange(count, device=x.device)
