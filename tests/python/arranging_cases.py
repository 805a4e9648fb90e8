"""Calls of functions that rearrange, pick, sort and contract, with what NumPy makes of the same elements.

Each case: a name, the function of tensors, the function of arrays (where NumPy has it or a line of it says the value), and
the shapes of the inputs. Tests of the CPU, of compiled functions and of devices share them.
"""

import numpy as np

import fuselet as fl

A = (2, 3, 4)


def arrays(shapes, seed=0):
    """Whole numbers of halves: sums and products of few are exact in float32."""
    rng = np.random.default_rng(seed)
    return [(rng.integers(-8, 9, shape) / 2).astype(np.float32) for shape in shapes]


def unfolded(x, dim, size, step):
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(x, size, dim), dim, dim)[
        tuple(slice(None, None, step) if d == dim else slice(None) for d in range(x.ndim))]


def placed(x, *at, value, add=False):
    x = x.copy()
    if add:
        np.add.at(x, at, value)
    else:
        x[at] = value
    return x


I, J = np.array([[0, 2, 1, 2], [1, 1, 0, 2]]), np.array([2, 0, 1])
rows, columns = np.arange(2)[:, None], np.arange(4)


def idx(x, values):
    return fl.tensor(values).to(x.device)


SHAPING = {
    "flip": (lambda x: x.flip(0, -1), lambda x: np.flip(x, (0, 2)), [A]),
    "roll": (lambda x: x.roll((1, -5), (0, 2)), lambda x: np.roll(x, (1, -5), (0, 2)), [A]),
    "roll flat": (lambda x: fl.roll(x, 5), lambda x: np.roll(x, 5), [A]),
    "rot90": (lambda x: fl.rot90(x, 1, (1, 2)), lambda x: np.rot90(x, 1, (1, 2)), [A]),
    "rot90 thrice": (lambda x: fl.rot90(x, 3, (0, 2)), lambda x: np.rot90(x, 3, (0, 2)), [A]),
    "tril": (lambda x: x.tril(1), lambda x: np.tril(x, 1), [A]),
    "triu": (lambda x: x.triu(-1), lambda x: np.triu(x, -1), [A]),
    "diagonal": (lambda x: x.diagonal(1, 1, 2), lambda x: np.diagonal(x, 1, 1, 2), [A]),
    "diagonal below": (lambda x: x.diagonal(-1, 2, 0), lambda x: np.diagonal(x, -1, 2, 0), [A]),
    "diagonal beyond": (lambda x: x.diagonal(7), lambda x: np.diagonal(x, 7), [A]),
    "diag": (lambda x: fl.diag(x, -2), lambda x: np.diag(x, -2), [(3,)]),
    "diag of a matrix": (lambda x: fl.diag(x, 1), lambda x: np.diag(x, 1), [(3, 4)]),
    "trace": (lambda x: x.trace(), np.trace, [(3, 4)]),
    "repeat": (lambda x: x.repeat(2, 1, 3, 2), lambda x: np.tile(x, (2, 1, 3, 2)), [A]),
    "tile": (lambda x: x.tile(2), lambda x: np.tile(x, 2), [A]),
    "repeat_interleave": (lambda x: x.repeat_interleave(3, 1), lambda x: np.repeat(x, 3, 1), [A]),
    "movedim": (lambda x: x.movedim((0, 2), (1, 0)), lambda x: np.moveaxis(x, (0, 2), (1, 0)), [A]),
    "swapaxes": (lambda x: x.swapaxes(0, -1), lambda x: np.swapaxes(x, 0, -1), [A]),
    "unflatten": (lambda x: x.unflatten(-1, (2, -1)), lambda x: x.reshape(2, 3, 2, 2), [A]),
    "ravel": (lambda x: x.transpose(0, 1).ravel(), lambda x: x.swapaxes(0, 1).ravel(), [A]),
    "split": (lambda x: fl.cat(x.split(3, 2)[::-1], 2), lambda x: np.concatenate([x[..., 3:], x[..., :3]], 2), [A]),
    "tensor_split": (lambda x: x.tensor_split(3, 2)[0], lambda x: np.array_split(x, 3, 2)[0], [A]),
    "tensor_split at": (lambda x: fl.tensor_split(x, (1, 3), 2)[1], lambda x: np.array_split(x, (1, 3), 2)[1], [A]),
    "hstack": (lambda x, y: fl.hstack((x, y)), lambda x, y: np.hstack((x, y)), [(3,), (2,)]),
    "vstack": (lambda x, y: fl.vstack((x, y)), lambda x, y: np.vstack((x, y)), [(3,), (2, 3)]),
    "dstack": (lambda x, y: fl.dstack((x, y)), lambda x, y: np.dstack((x, y)), [(3,), (3,)]),
    "column_stack": (lambda x, y: fl.column_stack((x, y)), lambda x, y: np.column_stack((x, y)), [(3,), (3, 2)]),
    "broadcast_tensors": (lambda x, y: fl.broadcast_tensors(x, y)[0], lambda x, y: np.broadcast_arrays(x, y)[0],
                          [(3, 1), (2, 1, 4)]),
    "meshgrid": (lambda x, y: fl.meshgrid(x, y, indexing="xy")[1], lambda x, y: np.meshgrid(x, y)[1], [(3,), (4,)]),
    "unfold": (lambda x: x.unfold(2, 3, 1), lambda x: unfolded(x, 2, 3, 1), [A]),
    "unfold side by side": (lambda x: x.unfold(2, 2, 2), lambda x: x.reshape(2, 3, 2, 2), [A]),
    "diagflat": (lambda x: fl.diagflat(x, 1), lambda x: np.diagflat(x, 1), [(2, 2)]),
    "diagonal_scatter": (lambda x, y: fl.diagonal_scatter(x, y, -1, 0, 2), lambda x, y: x * (1 - np.eye(4, 3, -1)[:, None]) + np.einsum(
        "bi,ij->jbi", y, np.eye(3, 4, 1)), [(4, 2, 3), (2, 3)]),
    "diff": (lambda x, y: fl.diff(x, 2, 1, prepend=y), lambda x, y: np.diff(x, 2, 1, prepend=y), [A, (2, 1, 4)]),
    "block_diag": (lambda x, y: fl.block_diag(x, y), lambda x, y: np.block([[x, np.zeros((2, 3))], [np.zeros((1, 2)), y[None]]]), [(2, 2), (3,)]),
    "combinations": (lambda x: fl.combinations(x), lambda x: x[[[0, 1], [0, 2], [1, 2]]], [(3,)]),
    "hsplit": (lambda x: x.hsplit(3)[1], lambda x: np.hsplit(x, 3)[1], [A]),
    "cat without elements": (lambda x: fl.cat([x, x.new_zeros(0)], 1), lambda x: x, [A]),
    "narrow": (lambda x: x.narrow(1, 1, 2), lambda x: x[:, 1:3], [A]),
    "narrow from the end": (lambda x: x.narrow(1, -2, 2), lambda x: x[:, -2:], [A]),
}

INDEXING = {
    "x[i, :, j]": (lambda x: x[idx(x, [1, 0, 1]), :, idx(x, J)], lambda x: x[[1, 0, 1], :, J], [A]),
    "x[:, i, j]": (lambda x: x[:, idx(x, [[1], [0]]), idx(x, J)], lambda x: x[:, [[1], [0]], J], [A]),
    "x[..., i, None]": (lambda x: x[..., idx(x, J), None], lambda x: x[..., J, None], [A]),
    "x[1:, i, ::2]": (lambda x: x[1:, idx(x, J), ::2], lambda x: x[1:, J, ::2], [A]),
    "gather": (lambda x: x.gather(1, idx(x, I)), lambda x: np.take_along_axis(x, I, 1), [(2, 4)]),
    "take": (lambda x: x.take(idx(x, I)), lambda x: np.take(x, I), [A]),
    "take_along_dim": (lambda x: fl.take_along_dim(x, idx(x, I)[:1], 1), lambda x: np.take_along_axis(x, I[:1], 1), [(2, 4)]),
    "scatter": (lambda x, y: x.scatter(0, idx(x, I), y), lambda x, y: placed(x, I, columns, value=y), [(3, 4), (2, 4)]),
    "scatter number": (lambda x: x.scatter(0, idx(x, I), 7), lambda x: placed(x, I, columns, value=7), [(3, 4)]),
    "scatter add": (lambda x, y: x.scatter_reduce(0, idx(x, I), y, "sum"),
                    lambda x, y: placed(x, I, columns, value=y, add=True), [(3, 4), (2, 4)]),
    "index_add": (lambda x, y: x.index_add(0, idx(x, [1, 1]), y, alpha=2),
                  lambda x, y: placed(x, [1, 1], value=2 * y, add=True), [(3, 4), (2, 4)]),
    "index_copy": (lambda x, y: x.index_copy(0, idx(x, [2, 0]), y), lambda x, y: placed(x, [2, 0], value=y), [(3, 4), (2, 4)]),
    "index_fill": (lambda x: x.index_fill(1, idx(x, [2, 0]), 5), lambda x: placed(x, slice(None), [2, 0], value=5), [(3, 4)]),
    "index_put": (lambda x, y: x.index_put((idx(x, [0, 2]), idx(x, [1, -1])), y), lambda x, y: placed(x, [0, 2], [1, -1], value=y),
                  [(3, 4), (2,)]),
    "index_put adds": (lambda x, y: x.index_put((idx(x, [0, 0]), idx(x, [1, 1])), y, True),
                       lambda x, y: placed(x, [0, 0], [1, 1], value=y, add=True), [(3, 4), (2,)]),
    "put": (lambda x, y: x.put(idx(x, [5, -1]), y), lambda x, y: placed(x.ravel(), [5, -1], value=y).reshape(3, 4), [(3, 4), (2,)]),
    "unravel_index": (lambda x: fl.unravel_index(idx(x, [0, 13, 23]), A)[1] + 0 * x.argsort(), lambda x: np.unravel_index([0, 13, 23], A)[1], [(3,)]),
    "searchsorted": (lambda x, y: fl.searchsorted(x.sort().values, y), lambda x, y: np.searchsorted(np.sort(x), y), [(7,), (3, 4)]),
    "searchsorted right": (lambda x, y: fl.searchsorted(x.sort().values, y, right=True),
                           lambda x, y: np.searchsorted(np.sort(x), y, "right"), [(8,), (3, 4)]),
    "isin": (lambda x, y: fl.isin(x, y), np.isin, [(3, 4), (5,)]),
    "argsort": (lambda x: x.argsort(1), lambda x: np.argsort(x, 1, kind="stable"), [(2, 9, 3)]),
    "argsort down": (lambda x: x.argsort(-1, True), lambda x: np.argsort(-x, -1, kind="stable"), [(2, 9)]),
    "topk": (lambda x: x.topk(3, 0).values, lambda x: -np.sort(-x, 0)[:3], [(9, 2)]),
    "kthvalue": (lambda x: x.kthvalue(2, 0).values, lambda x: np.sort(x, 0)[1], [(9, 2)]),
}

CONTRACTING = {
    "einsum product": (lambda x, y: fl.einsum("bij,bjk->bik", x, y), np.matmul, [(2, 3, 4), (2, 4, 5)]),
    "einsum heads": (lambda x, y: fl.einsum("bqhd,bkhd->bhqk", x, y), lambda x, y: np.einsum("bqhd,bkhd->bhqk", x, y),
                     [(2, 3, 2, 4), (2, 5, 2, 4)]),
    "einsum ellipsis": (lambda x, y: fl.einsum("...ij,jk", x, y), lambda x, y: np.einsum("...ij,jk", x, y), [(2, 3, 4), (4, 2)]),
    "einsum diagonal": (lambda x: fl.einsum("ii->i", x), lambda x: np.einsum("ii->i", x), [(4, 4)]),
    "einsum trace": (lambda x: fl.einsum("ii", x), np.trace, [(4, 4)]),
    "einsum sum": (lambda x: fl.einsum("ijk->j", x), lambda x: x.sum((0, 2)), [A]),
    "einsum outer": (lambda x, y: fl.einsum("i,j", x, y), np.outer, [(3,), (4,)]),
    "einsum implicit": (lambda x: fl.einsum("ba", x), np.transpose, [(3, 4)]),
    "einsum three": (lambda x, y, z: fl.einsum("ij,jk,kl->il", x, y, z), lambda x, y, z: x @ y @ z, [(2, 3), (3, 4), (4, 2)]),
    "einsum ones": (lambda x, y: fl.einsum("ij,ij->ij", x, y), np.multiply, [(3, 1), (3, 4)]),
    "einsum ellipses": (lambda x, y: fl.einsum("a...,b...->ab...", x, y), lambda x, y: np.einsum("a...,b...->ab...", x, y),
                        [(2, 3, 4), (3, 4)]),
    "tensordot": (lambda x, y: fl.tensordot(x, y, ([1, 0], [0, 1])), lambda x, y: np.tensordot(x, y, ([1, 0], [0, 1])),
                  [(2, 3, 4), (3, 2)]),
    "inner": (lambda x, y: fl.inner(x, y), np.inner, [(2, 4), (3, 4)]),
    "outer": (lambda x, y: x.outer(y), np.outer, [(3,), (4,)]),
    "dot": (lambda x, y: x.dot(y), np.dot, [(5,), (5,)]),
    "mv": (lambda x, y: x.mv(y), np.dot, [(3, 4), (4,)]),
    "addmm": (lambda x, y, z: fl.addmm(x, y, z, beta=2, alpha=-1), lambda x, y, z: 2 * x - y @ z, [(3, 2), (3, 4), (4, 2)]),
    "baddbmm": (lambda x, y, z: fl.baddbmm(x, y, z, beta=0), lambda x, y, z: y @ z, [(1,), (2, 3, 4), (2, 4, 2)]),
    "addbmm": (lambda x, y, z: x.addbmm(y, z), lambda x, y, z: x + (y @ z).sum(0), [(3, 2), (2, 3, 4), (2, 4, 2)]),
    "cross": (lambda x, y: fl.cross(x, y), lambda x, y: np.cross(x, y), [(2, 3), (2, 3)]),
    "tensordot of ones": (lambda x, y: fl.tensordot(x, y, 1), lambda x, y: np.outer(x, y.sum(0)), [(2, 1), (3, 4)]),
    "kron": (lambda x, y: fl.kron(x, y), np.kron, [(2, 3), (2, 2)]),
    "chain_matmul": (lambda x, y, z: fl.chain_matmul(x, y, z), lambda x, y, z: x @ y @ z, [(2, 5), (5, 1), (1, 4)]),
    "bilinear": (lambda x, y, w: fl.nn.functional.bilinear(x, y, w), lambda x, y, w: np.einsum("ni,oij,nj->no", x, w, y),
                 [(3, 2), (3, 4), (5, 2, 4)]),
}

CASES = {**SHAPING, **INDEXING, **CONTRACTING}
