"""Flags of cuDNN, which is not used here: convolutions are the library's own, always deterministic, and chosen without
measuring. The flags can be set and read, so that programs run; none of them changes a result."""

import contextlib

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = True
allow_tf32 = False


def is_available():
    """False: cuDNN is not used."""
    return False


def version():
    """None: cuDNN is not used."""
    return None


@contextlib.contextmanager
def flags(enabled=True, benchmark=False, benchmark_limit=10, deterministic=True, allow_tf32=False):
    """The flags within a `with` block."""
    here = globals()
    given = dict(enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic,
                 allow_tf32=allow_tf32)
    before = {name: here[name] for name in given}
    here.update(given)
    try:
        yield
    finally:
        here.update(before)
