"""The product of several matrices in the cheapest order."""

from __future__ import annotations

from . import _C

_F = _C.functions


def _check_rank(name, tensors, ranks):
    if tuple(t.dim() for t in tensors) != ranks:
        raise RuntimeError(f"{name}: expected tensors of {', '.join(map(str, ranks))} dimensions, got shapes "
                           f"{', '.join(str(list(t.shape)) for t in tensors)}")


def multi_dot(tensors):
    """The product of matrices in the order of fewest multiplications; the first and the last may be vectors."""
    parts = list(tensors)
    if len(parts) < 2:
        raise RuntimeError(f"multi_dot: expected at least two tensors, got {len(parts)}")
    first, last = parts[0].dim() == 1, parts[-1].dim() == 1
    parts[0] = parts[0].unsqueeze(0) if first else parts[0]
    parts[-1] = parts[-1].unsqueeze(1) if last else parts[-1]
    _check_rank("multi_dot", parts, (2,) * len(parts))
    sizes = [parts[0].size(0)] + [t.size(1) for t in parts]
    # cost[i, j]: multiplications of the product of parts i … j, and where its last one splits.
    cost = {(i, i): (0, i) for i in range(len(parts))}
    for length in range(2, len(parts) + 1):
        for i in range(len(parts) - length + 1):
            j = i + length - 1
            cost[i, j] = min((cost[i, k][0] + cost[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))

    def product(i, j):
        return parts[i] if i == j else _F.mm(product(i, cost[i, j][1]), product(cost[i, j][1] + 1, j))

    out = product(0, len(parts) - 1)
    return out.view([n for n, dropped in zip(out.shape, (first, last)) if not dropped])
