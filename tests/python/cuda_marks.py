"""What tests of CUDA devices share: marks that skip them where there is no device, or no kernels for it."""

import os
import subprocess
import sys

import pytest

import fuselet as fl

available = fl.cuda.is_available()
device_test = pytest.mark.skipif(not available, reason=f"no CUDA device: {fl.cuda.why_not_available()}")


def has_kernels():
    try:
        return fl.zeros(1, device="cuda").item() == 0
    except RuntimeError:
        return False


kernel_test = pytest.mark.skipif(not (available and has_kernels()), reason="no kernels for the device")


def run_python(code, **environment):
    """What another interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
