"""Runs fuselet's, PyTorch's and JAX's benchmarks one after the other on the same card and prints them side by side.

compare_gpu.py [--torch FILE] [--jax FILE] [--python PROGRAM] [--out FILE] [CASE…]

FILE is a program that prints one JSON object a line, {"case", "variant", "unit", "value", …}, and takes the names of
groups of cases; --python runs those programs. Lines of equal case meet, the best variant of each side; `ratio` is how
many times better fuselet is, above 1 in its favour. --out keeps all lines, each with its "system".
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The JAX program's groups have names of their own.
JAX_GROUPS = {"pointwise": "kernels", "rows": "kernels", "train_kernels": "kernels", "mlp_infer": "models",
              "mlp_train": "models", "overhead": "overheads", "compile_time": "overheads"}


def run_lines(system, command, environment):
    """The JSON lines of a program, each marked with its system; what else it prints goes to stderr."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    for line in process.stdout:
        try:
            parsed = json.loads(line)
        except ValueError:
            parsed = None
        if isinstance(parsed, dict):
            yield {"system": system, **parsed}
        else:
            sys.stderr.write(line)
    if process.wait() != 0:
        yield {"system": system, "case": "", "error": f"{command[1]} ended with status {process.returncode}"}


def lower_is_better(unit):
    return not unit.endswith("/s")


def best_of(lines, system, case):
    """The best line of a case; None if the system has no number for it."""
    own = [line for line in lines if line["system"] == system and line.get("case") == case and "value" in line]
    if not own:
        return None
    pick = min if lower_is_better(own[0]["unit"]) else max
    return pick(own, key=lambda line: line["value"])


def compare(lines):
    """(case, unit, {system: best line}, {system: ratio}) of each case that fuselet has a number for."""
    rows = []
    for case in dict.fromkeys(line["case"] for line in lines if line["system"] == "fuselet" and "value" in line):
        ours = best_of(lines, "fuselet", case)
        best, ratios = {"fuselet": ours}, {}
        for system in ("torch", "jax"):
            theirs = best_of(lines, system, case)
            if theirs is None or theirs["unit"].split("/")[0] != ours["unit"].split("/")[0]:
                continue
            best[system] = theirs
            if ours["value"] > 0 and theirs["value"] > 0:
                ratio = ours["value"] / theirs["value"]
                ratios[system] = 1 / ratio if lower_is_better(ours["unit"]) else ratio
        rows.append((case, ours["unit"], best, ratios))
    return rows


def print_table(rows, lines):
    head = f"{'case':32} {'unit':9} {'fuselet':>12} {'torch':>12} {'ratio':>6} {'jax':>12} {'ratio':>6}  variants"
    print(head + "\n" + "-" * len(head))
    for case, unit, best, ratios in rows:
        cells = [f"{case:32} {unit:9} {best['fuselet']['value']:12.2f}"]
        for system in ("torch", "jax"):
            cells.append(f"{best[system]['value']:12.2f}" if system in best else f"{'':12}")
            cells.append(f"{ratios[system]:6.2f}" if system in ratios else f"{'':6}")
        print(" ".join(cells) + "  " + " | ".join(line["variant"] for line in best.values()))
    for line in lines:
        reason = line.get("skipped") or line.get("error")
        if reason:
            kind = "skipped" if "skipped" in line else "error"
            print(f"{kind}: {line['system']} {line.get('case', '')} {line.get('variant', '')}: {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", help="PyTorch's program")
    parser.add_argument("--jax", help="JAX's program")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has PyTorch and JAX")
    parser.add_argument("--out", help="keeps all lines here")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()

    options = ["--device", arguments.device] + (["--small"] if arguments.small else [])
    programs = [("fuselet", [sys.executable, str(HERE / "bench_gpu.py"), *options, *arguments.cases], None)]
    # The others' own packages only.
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if arguments.torch:
        programs.append(("torch", [arguments.python, arguments.torch, *arguments.cases], plain))
    if arguments.jax:
        groups = list(dict.fromkeys(JAX_GROUPS[case] for case in arguments.cases if case in JAX_GROUPS))
        if groups or not arguments.cases:
            programs.append(("jax", [arguments.python, arguments.jax, *groups], plain))

    lines = []
    with open(arguments.out or os.devnull, "w") as kept:
        for system, command, environment in programs:
            for line in run_lines(system, command, environment):
                lines.append(line)
                kept.write(json.dumps(line) + "\n")
                kept.flush()
    print_table(compare(lines), lines)


if __name__ == "__main__":
    main()
