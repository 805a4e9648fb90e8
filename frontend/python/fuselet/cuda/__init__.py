"""The CUDA device: this build has none."""


def is_available():
    return False


def device_count():
    return 0


def manual_seed(seed):
    """Nothing to seed without a device."""


def manual_seed_all(seed):
    """Nothing to seed without a device."""


def synchronize(device=None):
    """Nothing to wait for without a device."""
