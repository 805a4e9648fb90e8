"""Functions that split tensors into views and join them; the first are methods too."""

from __future__ import annotations

from . import _C

_F = _C.functions


def unbind(input, dim=0):
    """A tuple of views, one an entry of `dim`."""
    return tuple(input.select(dim, i) for i in range(input.size(dim)))


def split(input, split_size_or_sections, dim=0):
    """Views of that many entries each (the last may be shorter), or of the sizes in a list."""
    size, sections = input.size(dim), split_size_or_sections
    if isinstance(sections, int):
        if sections <= 0:
            raise RuntimeError(f"split: split_size must be positive, got {sections}")
        starts = range(0, max(size, 1), sections)
        return tuple(input.narrow(dim, s, min(sections, size - s)) for s in starts)
    if sum(sections) != size:
        raise RuntimeError(f"split: sizes {list(sections)} do not sum to {size}, the size of dimension {dim}")
    parts, start = [], 0
    for length in sections:
        parts.append(input.narrow(dim, start, length))
        start += length
    return tuple(parts)


def chunk(input, chunks, dim=0):
    """At most `chunks` views of equal size; the last may be smaller."""
    if chunks <= 0:
        raise RuntimeError(f"chunk: expected a positive number of chunks, got {chunks}")
    return split(input, max(1, -(-input.size(dim) // chunks)), dim)


def tensor_split(input, indices_or_sections, dim=0):
    """Views between the given entries of `dim`, or that many, the first ones larger by one where it does not divide."""
    size = input.size(dim)
    if isinstance(indices_or_sections, _C.TensorBase):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise RuntimeError(f"tensor_split: expected a positive number of sections, got {indices_or_sections}")
        least, larger = divmod(size, indices_or_sections)
        return split(input, [least + (i < larger) for i in range(indices_or_sections)], dim)
    ends = [*indices_or_sections, size]
    return tuple(input.slice(dim, start, end) for start, end in zip([0, *indices_or_sections], ends))


def hsplit(input, indices_or_sections):
    """tensor_split() along dimension 1, or 0 of a vector, into equal parts where a number is given."""
    return _split_evenly(input, indices_or_sections, 0 if input.dim() == 1 else 1, "hsplit")


def vsplit(input, indices_or_sections):
    """tensor_split() along dimension 0, into equal parts where a number is given."""
    return _split_evenly(input, indices_or_sections, 0, "vsplit")


def dsplit(input, indices_or_sections):
    """tensor_split() along dimension 2, into equal parts where a number is given."""
    return _split_evenly(input, indices_or_sections, 2, "dsplit")


def _split_evenly(input, indices_or_sections, dim, name):
    if isinstance(indices_or_sections, int) and (indices_or_sections <= 0 or input.size(dim) % indices_or_sections):
        raise RuntimeError(f"{name}: {input.size(dim)} entries do not fall into {indices_or_sections} equal parts")
    return tensor_split(input, indices_or_sections, dim)


def cat(tensors, dim=0):
    """Tensors joined along an existing dimension; the other sizes must agree. Vectors without elements are left out."""
    parts = [t for t in tensors if t.dim() != 1 or t.numel()] if any(t.dim() != 1 for t in tensors) else tensors
    return _F.cat(parts, dim)


concat = concatenate = cat


def atleast_1d(*tensors):
    """A 0-d tensor as one of a single element; others as they are. Several tensors give a tuple."""
    return _each(tensors, lambda t: t.reshape(1) if t.dim() == 0 else t)


def atleast_2d(*tensors):
    """With dimensions put in front up to two."""
    return _each(tensors, lambda t: atleast_1d(t).unsqueeze(0) if t.dim() < 2 else t)


def atleast_3d(*tensors):
    """With a dimension behind, and before that one in front for vectors, up to three."""
    return _each(tensors, lambda t: atleast_2d(t).unsqueeze(-1) if t.dim() < 3 else t)


def _each(tensors, apply):
    many = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    made = tuple(apply(t) for t in many)
    return made[0] if len(tensors) == 1 and many is tensors else made


def _stacked(tensors, name):
    if not tensors:
        raise RuntimeError(f"{name}: expected at least one tensor")
    return list(tensors)


def hstack(tensors):
    """Joined along dimension 1, or 0 for 1-d tensors."""
    parts = [atleast_1d(t) for t in _stacked(tensors, "hstack")]
    return _F.cat(parts, 0 if parts[0].dim() == 1 else 1)


def vstack(tensors):
    """Joined along dimension 0; 1-d tensors count as rows."""
    return _F.cat([atleast_2d(t) for t in _stacked(tensors, "vstack")], 0)


def dstack(tensors):
    """Joined along dimension 2, after atleast_3d()."""
    return _F.cat([atleast_3d(t) for t in _stacked(tensors, "dstack")], 2)


def column_stack(tensors):
    """Joined along dimension 1; 1-d tensors count as columns."""
    return _F.cat([t.reshape(-1, 1) if t.dim() < 2 else t for t in _stacked(tensors, "column_stack")], 1)


row_stack = vstack


METHODS = "chunk dsplit hsplit split tensor_split unbind vsplit".split()

__all__ = METHODS + ["atleast_1d", "atleast_2d", "atleast_3d", "cat", "column_stack", "concat", "concatenate", "dstack", "hstack",
                     "row_stack", "vstack"]
