"""The files of the project, as git sees them, with their text."""

import os
import subprocess
from pathlib import Path

# Only for a tree without git.
UNVERSIONED_FOLDERS = {".git", ".venv", ".cache", "build", "dist", "__pycache__"}


class Tree:
    """Paths are relative to `root`, with forward slashes, sorted. Ignored files are left out."""

    def __init__(self, root):
        self.root = Path(root)
        self.paths = sorted(path for path in _list(self.root) if (self.root / path).is_file())

    def select(self, *suffixes):
        return [path for path in self.paths if path.endswith(suffixes)]

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def lines(self, path):
        return self.text(path).splitlines()


def _list(root):
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True)
        return set(filter(None, listing.stdout.split("\0")))
    except (OSError, subprocess.CalledProcessError):
        return _walk(root)


def _walk(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if name not in UNVERSIONED_FOLDERS]
        for name in names:
            yield (Path(folder) / name).relative_to(root).as_posix()
