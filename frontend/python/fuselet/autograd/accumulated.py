"""Hooks that run when a leaf's .grad has been written.

A hook of the leaf's gradient marks the leaf while backward() walks; when all sums are written, backward() runs what was
marked. autograd.grad() writes nothing and runs none.
"""

from __future__ import annotations

import contextlib
import threading

from ..tensor_class import HookHandle

_marked = threading.local()


@contextlib.contextmanager
def after_accumulation():
    """Around one walk over the tape; gives the function that runs the hooks of the leaves that the walk has reached."""
    outer, mine = getattr(_marked, "hooks", None), []
    _marked.hooks = mine

    def run():
        _marked.hooks = outer
        for leaf, hook in mine:
            hook(leaf)

    try:
        yield run
    finally:
        _marked.hooks = outer


def register(leaf, hook):
    """Tensor.register_post_accumulate_grad_hook."""
    if not leaf.is_leaf or not leaf.requires_grad:
        raise RuntimeError("register_post_accumulate_grad_hook: expected a leaf that requires grad")

    def mark(gradient):
        if getattr(_marked, "hooks", None) is not None:
            _marked.hooks.append((leaf, hook))

    number = leaf._register_hook(mark)
    return HookHandle(lambda: leaf._remove_hook(number))
