"""Triangles and diagonals of matrices, in terms of the table's operators; most are methods too."""

from __future__ import annotations

from . import _C
from .composed import _wrap_dim
from .shaping import movedim

_F = _C.functions


def _right_of_diagonal(input, diagonal):
    rows = _F.arange(input.size(-2), device=input.device).unsqueeze(1)
    return _F.arange(input.size(-1), device=input.device).unsqueeze(0) > rows + diagonal


def tril(input, diagonal=0):
    """The elements on and below a diagonal, 0 above it."""
    return input.masked_fill(_right_of_diagonal(input, diagonal), 0)


def triu(input, diagonal=0):
    """The elements on and above a diagonal, 0 below it."""
    return input.masked_fill(_F.logical_not(_right_of_diagonal(input, diagonal - 1)), 0)


def tril_indices(row, col, offset=0, *, dtype=None, device=None):
    """(2, count): rows and columns of the elements on and below a diagonal, in row-major order."""
    return _triangle_indices("tril_indices", row, col, offset, dtype, device)


def triu_indices(row, col, offset=0, *, dtype=None, device=None):
    """(2, count): rows and columns of the elements on and above a diagonal, in row-major order."""
    return _triangle_indices("triu_indices", row, col, offset, dtype, device)


def _triangle_indices(name, row, col, offset, dtype, device):
    import numpy

    from .making import tensor

    places = numpy.stack(getattr(numpy, name)(row, offset, col))
    return tensor(places, dtype=dtype or _C.int64, device=device)


def diagonal(input, offset=0, dim1=0, dim2=1):
    """The elements of the diagonal number `offset` (above the main one if positive) of two dimensions, as last dimension: a
    view where the two lie in memory as one, else a copy."""
    first, second = (_wrap_dim(d, input.dim(), "diagonal") for d in (dim1, dim2))
    if first == second:
        raise RuntimeError(f"diagonal: expected two dimensions, got {dim1} twice")
    rows, columns = input.size(first), input.size(second)
    row, column = max(-offset, 0), max(offset, 0)
    length = max(min(rows - row, columns - column), 0)
    order = [d for d in range(input.dim()) if d not in (first, second)]
    if input.stride(first) < input.stride(second):
        first, second, rows, columns, row, column = second, first, columns, rows, column, row
    matrix = input.permute(order + [first, second])
    if length == 0:
        return matrix.flatten(-2).narrow(-1, 0, 0)
    if matrix.stride(-2) == columns * matrix.stride(-1) or rows == 1:
        start = row * columns + column
        return matrix.flatten(-2).slice(-1, start, start + (length - 1) * (columns + 1) + 1, columns + 1)
    steps = _F.arange(length, device=input.device)
    return matrix[..., steps + row, steps + column]


_diagonal_of = diagonal


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices of 0 with the last dimension of input on the diagonal number `offset`, in dimensions dim1 and dim2."""
    length = input.size(-1)
    n = length + abs(offset)
    places = _F.arange(length, device=input.device) * (n + 1) + (offset if offset >= 0 else -offset * n)
    lead = list(input.shape[:-1])
    flat = _F.zeros(lead + [n * n], dtype=input.dtype, device=input.device).index_copy(-1, places, input)
    first, second = (_wrap_dim(d, input.dim() + 1, "diag_embed") for d in (dim1, dim2))
    return movedim(flat.view(lead + [n, n]), (-2, -1), (first, second))


def diag(input, diagonal=0):
    """Of a vector the matrix with it on a diagonal, of a matrix a copy of that diagonal."""
    if input.dim() == 1:
        return diag_embed(input, diagonal)
    if input.dim() != 2:
        raise RuntimeError(f"diag: expected a vector or a matrix, got shape {list(input.shape)}")
    return _diagonal_of(input, diagonal).clone()


def diagflat(input, offset=0):
    """diag() of the flattened tensor."""
    return diag_embed(input.reshape(-1), offset)


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy of input with src on the diagonal number `offset` of two dimensions."""
    first, second = (_wrap_dim(d, input.dim(), "diagonal_scatter") for d in (dim1, dim2))
    expected = _diagonal_of(input, offset, dim1, dim2).shape
    if tuple(src.shape) != tuple(expected):
        raise RuntimeError(f"diagonal_scatter: expected src of shape {list(expected)}, got {list(src.shape)}")
    rows = _F.arange(input.size(first), device=input.device).unsqueeze(1)
    on_diagonal = _F.arange(input.size(second), device=input.device) - rows == offset
    matrix = movedim(input, (first, second), (-2, -1))
    # Element k of the diagonal stands in row k + max(-offset, 0), in whichever column the mask tells.
    if src.numel() == 0:
        return input.clone()
    places = (rows - max(-offset, 0)).clamp(0, src.size(-1) - 1).view(-1)
    spread = src.index_select(-1, places).unsqueeze(-1)
    return movedim(_F.where(on_diagonal, spread, matrix), (-2, -1), (first, second))


def trace(input):
    """The sum of a matrix's diagonal."""
    if input.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, got shape {list(input.shape)}")
    return diagonal(input).sum()


METHODS = "diag diag_embed diagflat diagonal_scatter diagonal trace tril triu".split()

__all__ = METHODS + ["tril_indices", "triu_indices"]
