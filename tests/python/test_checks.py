"""Each check of `./dev check` finds a violation planted in a small tree and passes a clean one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.checks import (doc_links, file_names, file_sizes, formatting, header_form,  # noqa: E402
                          include_direction, lint, operator_names, python_compiles, readmes)
from tools.checks.tree import Tree  # noqa: E402


@pytest.fixture
def plant(tmp_path):
    """plant({path: text}) makes a tree of these files."""
    def make(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return Tree(tmp_path)
    return make


def found(check, tree, **options):
    return [(problem.path, problem.line) for problem in check.find(tree, **options)
            if not problem.is_warning]


def test_tree_leaves_out_ignored_files(plant, tmp_path):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    plant({".gitignore": "/build/\n", "build/x.cpp": "", "core/x.cpp": ""})
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert Tree(tmp_path).paths == [".gitignore", "core/x.cpp"]


def test_file_sizes(plant):
    tree = plant({"core/long.cpp": "x\n" * 601, "core/long.toml": "x\n" * 900,
                  "core/fits.cpp": "x\n" * 600})
    assert found(file_sizes, tree) == [("core/long.cpp", 0)]
    warned = [problem.path for problem in file_sizes.find(tree) if problem.is_warning]
    assert warned == ["core/fits.cpp"]


@pytest.mark.parametrize("path", [
    "core/utils.h", "core/tensor_utils.cpp", "compiler/misc/cut.cpp", "core/common.h",
    "nn/base.py", "core/helpers.cpp", "core/memory_manager.h"])
def test_file_names_that_say_nothing(plant, path):
    assert found(file_names, plant({path: ""})) == [(path, 0)]


def test_file_names_near_misses(plant):
    tree = plant({"core/database.cpp": "", "core/basement.h": "",
                  "frontend/python/fuselet/utils/data.py": ""})
    assert found(file_names, tree) == []


@pytest.mark.parametrize("path, include", [
    ("core/a.h", '"autograd/tape.h"'),
    ("core/a.h", "<fuselet/fuselet.h>"),
    ("autograd/a.cpp", '"compiler/ir/graph.h"'),
    ("compiler/a.cpp", '"backends/registry.h"'),
    ("backends/cpu/a.cpp", '"frontend/cpp/nn/linear.h"'),
    ("backends/device_table.cpp", '"backends/cpu/device.h"'),
    ("backends/reference/a.cpp", '"backends/cpu/device.h"'),
    ("frontend/cpp/a.cpp", '"backends/cpu/device.h"'),
    ("frontend/cpp/fuselet/cuda.h", '"backends/cpu/device.h"'),
    ("frontend/cpp/fuselet/compile.h", '"backends/cuda/device.h"'),
    ("compiler/a.h", "<cuda_runtime.h>"),
    ("core/a.cpp", '"tensor.h"'),
    ("core/a.cpp", '"../core/tensor.h"')])
def test_include_direction_refuses(plant, path, include):
    assert found(include_direction, plant({path: f"\n#include {include}\n"})) == [(path, 2)]


@pytest.mark.parametrize("path, include", [
    ("frontend/cpp/a.cpp", '"core/tensor.h"'),
    ("backends/registry.cpp", '"backends/cpu/device.h"'),
    ("frontend/cpp/fuselet/cuda.h", '"backends/cuda/device.h"'),
    ("backends/cpu/a.cpp", '"backends/cpu/device.h"'),
    ("backends/cpu/a.cpp", '"backends/registry.h"'),
    ("backends/cuda/a.cpp", "<cuda.h>"),
    ("tests/backends/cpu/a_test.cpp", '"backends/cpu/device.h"'),
    ("examples/cpp/a.cpp", "<fuselet/fuselet.h>"),
    ("core/a.h", "<vector>")])
def test_include_direction_allows(plant, path, include):
    assert found(include_direction, plant({path: f"#include {include}\n"})) == []


def test_header_form(plant):
    good = "// What it holds.\n#pragma once\n"
    tree = plant({"core/good.h": good, "core/after.h": "#pragma once\n\n// What it holds.\n",
                  "core/unguarded.h": "// What it holds.\n", "core/silent.h": "#pragma once\nint x;\n",
                  "core/open.h": good + "using namespace std;\n"})
    assert found(header_form, tree) == [("core/open.h", 3), ("core/silent.h", 1),
                                        ("core/unguarded.h", 0)]


def test_operator_names(plant):
    tree = plant({"backends/cuda/codegen/rows.cpp": "int a;\nif (op == OpId::softmax) return;\n",
                  "compiler/lower/loop_rules.cpp": "{OpId::full, {full}},\n"})
    assert found(operator_names, tree) == [("backends/cuda/codegen/rows.cpp", 2)]


def test_readmes(plant):
    tree = plant({"core/a.cpp": "", "autograd/README.md": "x\n" * 41, "compiler/README.md": "x\n",
                  "README.md": "x\n" * 200})
    assert found(readmes, tree) == [("core", 0), ("autograd/README.md", 0)]


def test_doc_links(plant):
    tree = plant({
        "README.md": "[a](core/README.md#top) [b](core) [c](https://example.org/x) [d](#here)\n"
                     "[e](missing.md)\n```\n[f](missing.md)\n```\n`[g](missing.md)`\n",
        "core/README.md": "[up](../README.md)\n[root](/README.md)\n[gone](../core/gone.h)\n"})
    assert found(doc_links, tree) == [("README.md", 2), ("core/README.md", 3)]


def test_python_compiles(plant):
    tree = plant({"a.py": "x = 1\n", "b.py": "x = 1\ndef f(:\n", "c.pyi": "def f() -> : ...\n"})
    assert found(python_compiles, tree) == [("b.py", 2), ("c.pyi", 1)]


def test_formatting(plant):
    path = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
    program = shutil.which("clang-format-14", path=path) or shutil.which("clang-format", path=path)
    if program is None:
        pytest.skip("clang-format is not installed")
    tree = plant({".clang-format": "BasedOnStyle: Google\n", "core/good.cpp": "int x;\n",
                  "core/bad.cpp": "int   x ;\n"})
    assert found(formatting, tree, clang_format=program) == [("core/bad.cpp", 1)]
    formatting.fix(tree, program)
    assert found(formatting, tree, clang_format=program) == []


def test_lint_says_when_it_did_not_run(plant):
    tree = plant({"core/a.cpp": "int x;\n"})
    assert found(lint, tree, everything=True) == [("lint", 0)]
    assert found(lint, tree) == []
