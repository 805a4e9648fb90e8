"""C++ is formatted as .clang-format says (clang-format 14; other versions differ)."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from tools.checks.problem import Problem

DIAGNOSTIC = re.compile(r"^(.+?):(\d+):\d+: (?:error|warning): (.*)$", re.MULTILINE)
SUFFIXES = (".h", ".cpp", ".cu")
FILES_A_CALL = 16


def fix(tree, clang_format="clang-format"):
    subprocess.run([clang_format, "-i", *tree.select(*SUFFIXES)], cwd=tree.root, check=True)


def find(tree, clang_format="clang-format"):
    paths = tree.select(*SUFFIXES)
    batches = [paths[i:i + FILES_A_CALL] for i in range(0, len(paths), FILES_A_CALL)]

    def run(batch):
        return subprocess.run([clang_format, "--dry-run", "--Werror", *batch], cwd=tree.root,
                              capture_output=True, text=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for batch, result in zip(batches, pool.map(run, batches)):
            reported = set()
            for path, line, _ in DIAGNOSTIC.findall(result.stderr):
                # One finding a file: the remedy is the same for all of its lines.
                if path not in reported:
                    reported.add(path)
                    yield Problem(path, int(line), f"not formatted: clang-format -i {path}")
            if result.returncode and not reported:
                yield Problem(batch[0], 0, f"clang-format failed: {result.stderr.strip()}")
