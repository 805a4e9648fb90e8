"""vmap(f): f for each entry of a batch.

The function is called once an entry, and its results are stacked: nothing is vectorised, so that any function of tensors may
be given, with its own control flow, and the cost is that of the calls. In a compiled function the calls become one program.
"""

from __future__ import annotations

import functools

from .. import _C
from ..autograd.nested import flatten
from ..composed import _wrap_dim

_F = _C.functions

_RANDOMNESS = ("error", "different", "same")


def _dims_of(value, dims, place):
    """(tensor, dim or None) for each tensor of an argument; dims is one for all of them or nested as they are."""
    if isinstance(value, _C.TensorBase):
        if dims is not None and not isinstance(dims, int):
            raise ValueError(f"vmap: {place} must be a number or None for a tensor, got {dims!r}")
        return [(value, None if dims is None else _wrap_dim(dims, value.dim(), "vmap"))]
    if isinstance(value, dict):
        parts = [(v, dims[k] if isinstance(dims, dict) else dims) for k, v in value.items()]
    elif isinstance(value, (list, tuple)):
        if isinstance(dims, (list, tuple)) and len(dims) != len(value):
            raise ValueError(f"vmap: {place} names {len(dims)} dimensions for {len(value)} values")
        parts = [(v, dims[i] if isinstance(dims, (list, tuple)) else dims) for i, v in enumerate(value)]
    else:
        return []
    return [pair for v, d in parts for pair in _dims_of(v, d, place)]


def _batch_size(pairs):
    sizes = {t.size(d) for t, d in pairs if d is not None}
    if len(sizes) != 1:
        raise ValueError(f"vmap: the batched tensors must have one batch size, and there must be one at least; got sizes {sorted(sizes)}"
                         f" of shapes {[list(t.shape) for t, _ in pairs]}")
    size = sizes.pop()
    if size == 0:
        raise ValueError("vmap: a batch of no entries, whose results' shapes nobody knows")
    return size


def _structure(value):
    """What two results must have in common: types, lengths and keys, with a star for each tensor."""
    if isinstance(value, _C.TensorBase):
        return "*"
    if isinstance(value, dict):
        return type(value), tuple((key, _structure(v)) for key, v in value.items())
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_structure, value))
    raise ValueError(f"vmap: the function must give tensors, in lists, tuples or dicts, got {type(value).__name__}")


def _stacked(results, out_dims):
    structures = [_structure(r) for r in results]
    for i, other in enumerate(structures):
        if other != structures[0]:
            raise ValueError(f"vmap: the function must give tensors in one structure, got a differing structure for entry {i}")
    first, rebuild = flatten(results[0])
    if not first:
        raise ValueError("vmap: the function must give tensors, got none")
    columns = [flatten(r)[0] for r in results]
    dims = [d for _, d in _dims_of(rebuild([t.unsqueeze(0) for t in first]), out_dims, "out_dims")]
    if any(d is None for d in dims):
        raise ValueError("vmap: out_dims must not be None: each entry has a result of its own")
    return rebuild([_F.stack([c[i] for c in columns], d) for i, d in enumerate(dims)])


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls func for every entry of a batch and stacks what it gives.

    in_dims: the dimension of the batch in each argument, None for an argument that all calls share; a number for all, or
    nested as the arguments. Keyword arguments have it first. out_dims: where it is in the results, which are tensors in
    tuples, lists or dicts. Nests, and composes with grad() and its like: vmap(grad(f)) has a gradient for each entry.
    randomness: 'error' refuses a func that draws random numbers with RuntimeError, 'different' draws for each entry,
    'same' the same for all (NotImplementedError in a compiled function). Only the default generator is watched: what func
    draws from a generator of its own differs for each entry. chunk_size is understood and changes nothing. ValueError for
    sizes or dimensions that do not fit, an empty batch, and results that are no tensors or not of one structure."""
    if randomness not in _RANDOMNESS:
        raise RuntimeError(f"vmap: randomness must be 'error', 'different' or 'same', got {randomness!r}")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        pairs = _dims_of(args, in_dims, "in_dims") + _dims_of(kwargs, 0, "in_dims")
        size = _batch_size(pairs)
        _, rebuild = flatten((args, kwargs))
        before, results = _C.default_generator.get_state(), []
        for i in range(size):
            if randomness == "same":
                _C.default_generator.set_state(before)
            given, named = rebuild([t if d is None else t.select(d, i) for t, d in pairs])
            results.append(func(*given, **named))
            if randomness == "error" and _C.default_generator.get_state() != before:
                if not _C._is_inside_compiled_function():
                    _C.default_generator.set_state(before)
                raise RuntimeError("vmap: the function draws random numbers; say randomness='different' or 'same'")
        return _stacked(results, out_dims)

    return wrapped
