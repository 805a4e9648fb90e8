"""clang-tidy over the library's sources that differ from the last commit, or over all of them.

It needs build/release (for the compile commands and the generated headers). What it leaves out it
says, because a whole run takes minutes. What clang cannot parse is no finding: GCC is the compiler.
"""

import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from tools.checks.problem import Problem

DIAGNOSTIC = re.compile(r"^(/.+?):(\d+):\d+: (?:error|warning): (.*)$", re.MULTILINE)
# At 5 s a file on one core, the usual run stays under a minute on two busy ones.
CHANGED_FILES_LIMIT = 12
LIBRARY = ("core/", "autograd/", "compiler/", "backends/", "frontend/")
BUILD = "build/release"


def changed_paths(tree):
    """What git calls changed or new; nothing where there is no git."""
    try:
        listing = subprocess.run(["git", "status", "--porcelain", "-z", "--untracked-files=all"],
                                 cwd=tree.root, capture_output=True, text=True)
    except FileNotFoundError:
        return set()
    return {entry[3:] for entry in listing.stdout.split("\0") if len(entry) > 3}


def find(tree, everything=False):
    database = tree.root / BUILD / "compile_commands.json"
    clang_tidy = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    sources = [path for path in tree.select(".cpp") if path.startswith(LIBRARY)]
    if not everything:
        changed = changed_paths(tree)
        sources = [path for path in sources if path in changed]
    if not sources:
        return
    if not clang_tidy or not database.exists():
        lacking = "clang-tidy is not installed" if not clang_tidy else f"{BUILD} is not configured"
        yield Problem("lint", 0, f"clang-tidy did not run: {lacking}", is_warning=not everything)
        return
    compiled = {os.path.realpath(entry["file"]) for entry in json.loads(database.read_text())}
    sources = [path for path in sources if os.path.realpath(tree.root / path) in compiled]
    if not everything and len(sources) > CHANGED_FILES_LIMIT:
        yield Problem("lint", 0, f"{len(sources) - CHANGED_FILES_LIMIT} changed files were left out;"
                      " --lint-all takes all", is_warning=True)
        sources = sources[:CHANGED_FILES_LIMIT]

    def run(path):
        # GCC's OpenMP flag would ask clang for headers that need not be installed.
        return subprocess.run([clang_tidy, "--quiet", "-p", BUILD, "--extra-arg=-fno-openmp",
                               "--extra-arg=-Wno-everything", path],
                              cwd=tree.root, capture_output=True, text=True).stdout

    root = os.path.realpath(tree.root) + os.sep
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reported = set()
        for output in pool.map(run, sources):
            for path, line, message in DIAGNOSTIC.findall(output):
                if "[clang-diagnostic-error]" in message:
                    continue
                problem = Problem(os.path.realpath(path).removeprefix(root), int(line), message)
                if problem not in reported:
                    reported.add(problem)
                    yield problem
