"""einsum: sums of products by letters, as views, sums and batched matrix products, two operands at a time from the left."""

from __future__ import annotations

import math

from . import _C
from .diagonals import diagonal

_F = _C.functions


def einsum(equation, *operands):
    """Sums of products of the operands' elements, as the equation says: one letter a dimension, operands apart by commas,
    `->` before the letters of the result (without it, those that stand once, in alphabetical order), `...` for
    dimensions that broadcast. A letter twice in an operand takes its diagonal; a letter that the result lacks is summed.
    Sizes of a letter must agree, or be 1.

    >>> einsum("bhqd,bhkd->bhqk", q, k)"""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    inputs, output = _parse(equation, operands)
    sizes = {}
    terms = []
    for letters, tensor in zip(inputs, operands):
        terms.append(_diagonals(letters, tensor))
        for letter, size in zip(*_letters_and_sizes(terms[-1])):
            if sizes.setdefault(letter, size) != size:
                if 1 not in (size, sizes[letter]):
                    raise RuntimeError(f"einsum: {equation!r}: the dimensions of {_shown(letter)} have sizes "
                                       f"{sizes[letter]} and {size}")
                sizes[letter] = max(size, sizes[letter])
    terms = [_without_ones(term, sizes) for term in terms]
    letters, tensor = terms[0]
    for k, (other_letters, other) in enumerate(terms[1:], 1):
        needed = set(output).union(*(t[0] for t in terms[k + 1:]))
        letters, tensor = _contract((letters, tensor), (other_letters, other), needed)
    tensor, letters = _summed(tensor, letters, set(output))
    return tensor.permute([letters.index(letter) for letter in output])


def _shown(letter):
    return "'...'" if isinstance(letter, int) else repr(letter)


def _parse(equation, operands):
    """The letters of each operand and of the result; dimensions of `...` are negative numbers, counted from its end."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        raise RuntimeError(f"einsum: {equation!r} names {len(parts)} operands, got {len(operands)}")
    inputs, widest = [], 0
    for part, tensor in zip(parts, operands):
        named = len(part.replace("...", ""))
        extra = tensor.dim() - named
        if extra < 0 or (extra > 0 and "..." not in part):
            raise RuntimeError(f"einsum: {part!r} names {named} dimensions of a tensor of shape {list(tensor.shape)}")
        inputs.append(_expanded(part, extra, equation))
        widest = max(widest, extra if "..." in part else 0)
    if arrow:
        output = _expanded(right, widest, equation)
        known = set().union(*inputs) if inputs else set()
        for letter in output:
            if output.count(letter) > 1 or (letter not in known and not isinstance(letter, int)):
                raise RuntimeError(f"einsum: {equation!r}: the result's {_shown(letter)} must stand there once and in an operand")
    else:
        every = [letter for letters in inputs for letter in letters if not isinstance(letter, int)]
        output = list(range(-widest, 0)) + sorted(letter for letter in set(every) if every.count(letter) == 1)
    return inputs, output


def _expanded(part, extra, equation):
    before, dots, after = part.partition("...")
    if not all(c.isalpha() for c in before + after):
        raise RuntimeError(f"einsum: {equation!r}: expected letters, ',', '...' and '->'")
    return list(before) + (list(range(-extra, 0)) if dots else []) + list(after)


def _letters_and_sizes(term):
    return term[0], tuple(term[1].shape)


def _diagonals(letters, tensor):
    letters = list(letters)
    for letter in set(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            if tensor.size(first) != tensor.size(second):
                raise RuntimeError(f"einsum: the dimensions of {_shown(letter)} have sizes {tensor.size(first)} and "
                                   f"{tensor.size(second)}")
            tensor = diagonal(tensor, 0, first, second)
            letters = [x for i, x in enumerate(letters) if i not in (first, second)] + [letter]
    return letters, tensor


def _without_ones(term, sizes):
    """A size of 1 where another operand has more broadcasts: without it, the other one's stands for both."""
    letters, tensor = term
    for dim in reversed(range(len(letters))):
        if tensor.size(dim) == 1 and sizes[letters[dim]] != 1:
            tensor = tensor.select(dim, 0)
            letters = letters[:dim] + letters[dim + 1:]
    return letters, tensor


def _summed(tensor, letters, kept):
    """Without the dimensions whose letter is not kept."""
    gone = [dim for dim, letter in enumerate(letters) if letter not in kept]
    if gone:
        tensor = tensor.sum(gone, dtype=tensor.dtype)
    return tensor, [letter for letter in letters if letter in kept]


def _contract(left, right, needed):
    a_letters, a = left
    b_letters, b = right
    a, a_letters = _summed(a, a_letters, needed.union(b_letters))
    b, b_letters = _summed(b, b_letters, needed.union(a_letters))
    shared = [x for x in a_letters if x in b_letters]
    batch, over = [x for x in shared if x in needed], [x for x in shared if x not in needed]
    rows, columns = [x for x in a_letters if x not in shared], [x for x in b_letters if x not in shared]
    size = dict(zip(a_letters, a.shape)) | dict(zip(b_letters, b.shape))
    counts = [[size[x] for x in group] for group in (batch, rows, over, columns)]
    a = a.permute([a_letters.index(x) for x in batch + rows + over])
    b = b.permute([b_letters.index(x) for x in batch + over + columns])
    if not over:
        out = a.reshape(counts[0] + counts[1] + [1] * len(columns)) * b.reshape(counts[0] + [1] * len(rows) + counts[3])
    else:
        many, n, k, m = (math.prod(group) for group in counts)
        lead = [many] if batch else []
        out = _F.matmul(a.reshape(lead + [n, k]), b.reshape(lead + [k, m]))
    return batch + rows + columns, out.reshape(counts[0] + counts[1] + counts[3])
