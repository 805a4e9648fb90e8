"""Checks the accuracy that a training program printed last.

usage: check_accuracy.py LOG MINIMUM

The log's last line that says "test accuracy" must be followed by a number (a fraction, or a
percentage with %) of at least MINIMUM, a fraction.
"""

import re
import sys
from pathlib import Path

ACCURACY = re.compile(r"test accuracy\D*?(\d+(?:\.\d+)?)\s*(%?)", re.IGNORECASE)


def last_accuracy(text):
    """The last accuracy in `text` as a fraction, or None."""
    found = ACCURACY.findall(text)
    if not found:
        return None
    number, percent = found[-1]
    return float(number) / (100.0 if percent else 1.0)


def main(log, minimum):
    accuracy = last_accuracy(Path(log).read_text())
    if accuracy is None:
        return "no line says 'test accuracy'"
    if accuracy < float(minimum):
        return f"test accuracy {accuracy} is below {minimum}"
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
