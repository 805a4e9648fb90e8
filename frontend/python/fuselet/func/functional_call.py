"""A call of a module with other parameters and buffers than its own."""

from __future__ import annotations

from ..tensor_class import Tensor


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with the tensors of a dict (or of several) in the places of the parameters and buffers of the
    same dotted names; the module is as before afterwards, whatever happens.

    tie_weights: a tensor given for one name stands for all names of a shared parameter. strict: every parameter and buffer
    must be given. RuntimeError for a name that the module has not."""
    dicts = [parameter_and_buffer_dicts] if isinstance(parameter_and_buffer_dicts, dict) else list(parameter_and_buffer_dicts)
    given = {name: t for d in dicts for name, t in d.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    places = _places(module)
    unknown = [name for name in given if name not in places]
    missing = [name for name in places if name not in given]
    if unknown or strict and missing:
        raise RuntimeError(f"functional_call: {type(module).__name__} and the tensors do not fit: "
                           + "; ".join([f"unexpected: {', '.join(unknown)}"] * bool(unknown)
                                       + [f"missing: {', '.join(missing)}"] * bool(strict and missing)))
    if tie_weights:
        by_tensor = {id(places[name][0][places[name][1]]): t for name, t in given.items()}
        given.update({name: by_tensor[id(table[key])] for name, (table, key) in places.items()
                      if name not in given and id(table[key]) in by_tensor})
    held = {name: (table, key, table[key]) for name, (table, key) in places.items() if name in given}
    try:
        for name, (table, key, _) in held.items():
            if not isinstance(given[name], Tensor):
                raise TypeError(f"functional_call: '{name}' is a {type(given[name]).__name__}, not a Tensor")
            table[key] = given[name]
        return module(*args, **(kwargs or {}))
    finally:
        for table, key, own in held.values():
            table[key] = own


def _places(module):
    """Dotted name -> (the table that holds the tensor, its key)."""
    return {f"{path}.{name}" if path else name: (table, name)
            for path, m in module.named_modules(remove_duplicate=False)
            for table in (m._parameters, m._buffers) for name, value in table.items() if value is not None}
