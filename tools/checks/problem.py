"""What a check reports."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One finding. A warning is printed and does not fail the run. Line 0 means the whole file."""

    path: str
    line: int
    message: str
    is_warning: bool = False

    def __str__(self):
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {'warning: ' if self.is_warning else ''}{self.message}"
