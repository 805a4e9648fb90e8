"""Writes the handwritten digits beside this file in IDX format, from the copy in scikit-learn.

usage: python3 make_digits.py        (needs scikit-learn; the output is under version control)
"""

import struct
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

IDX_UINT8 = 0x08


def write_idx(path, array):
    """The IDX format: two zero bytes, the element type, the rank, the sizes as big-endian 32-bit
    integers, then the elements in row-major order."""
    assert array.dtype == np.uint8
    header = struct.pack(">BBBB", 0, 0, IDX_UINT8, array.ndim)
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(header + sizes + array.tobytes())


def main():
    digits = load_digits()
    images, labels = digits.images, digits.target  # (1797, 8, 8), values 0..16; (1797,)
    assert np.array_equal(images, images.astype(np.uint8))
    folder = Path(__file__).resolve().parent
    write_idx(folder / "digits-images.idx3-ubyte", images.astype(np.uint8))
    write_idx(folder / "digits-labels.idx1-ubyte", labels.astype(np.uint8))


if __name__ == "__main__":
    main()
