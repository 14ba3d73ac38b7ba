"""Processor time of dllint beside TorchFix's on the same tree, its time with a warm cache, and how linking scales.

    python benchmarks/speed.py TREE [--torchfix PATH/TO/torchfix] [--linking] [--no-check] [--repeat 3] [--json]
    python benchmarks/speed.py --table TREE [TREE ...] [--torchfix PATH/TO/torchfix] [--ruff PATH/TO/ruff]

Processor time is user plus system time of the command and all its children; of several repeats the least counts.

`--table` prints one row per tree, in Markdown. Any directory of Python files is a tree. To get one:

    git clone --depth 1 https://github.com/facebookresearch/fairseq

TorchFix and ruff need not be installed beside dllint; an environment of their own will do:

    python -m venv other && other/bin/pip install torchfix ruff
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch


class Failed(Exception):
    """A measured command did not do its work."""


LIMIT_S = 1800
"""What a command may take."""


def processor_time(command: list[str], accepted: tuple[int, ...]) -> float:
    """Seconds of processor time of the command; raises Failed for an exit code that is not accepted."""
    before = os.times()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            exit_code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=errors, timeout=LIMIT_S).returncode
        except OSError as problem:
            raise Failed(f"{command[0]}: {problem.strerror}") from problem
        except subprocess.TimeoutExpired as problem:
            raise Failed(str(problem)) from problem
        after = os.times()
        errors.seek(0)
        message = errors.read()
    if exit_code not in accepted or "Traceback (most recent call last)" in message:
        raise Failed(f"{' '.join(command)} ended with exit code {exit_code}\n{message[-2000:]}")
    return after.children_user + after.children_system - before.children_user - before.children_system


def python_lines(tree: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in tree.rglob("*.py") if path.is_file())


def least(repeat: int, measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(repeat))


def commands(tree: Path, torchfix: str | None, repeat: int) -> dict[str, float]:
    """Processor times in seconds: dllint without a cache and with all facts cached, TorchFix where it is given."""
    check = [sys.executable, "-m", "dllint", "check", "--jobs", "1", "--quiet"]
    found = (0, 1, 2)
    times = {"cold": least(repeat, lambda: processor_time([*check, "--no-cache", str(tree)], found))}
    with tempfile.TemporaryDirectory() as cache:
        cached = [*check, "--cache-dir", cache, str(tree)]
        processor_time(cached, found)
        times["warm"] = least(repeat, lambda: processor_time(cached, found))
    if torchfix is not None:
        times["torchfix"] = least(repeat, lambda: processor_time([torchfix, "--select=ALL", "-j1", str(tree)], (0, 1)))
    return times


def linking_time(tree: Path, cache: str) -> list[float]:
    """Seconds of processor time in this process: to link the facts of the tree's files, to the start methods of every
    DataLoader, and then to judge them by all rules."""
    from dllint import config, linter
    from dllint.project import Project

    settings = config.load([str(tree)], isolated=True, overrides={"cache-dir": cache})
    load = Project.load
    times: list[float] = []

    def timed_load(*args: Any, **kwargs: Any) -> Project:
        times.append(time.process_time())
        project = load(*args, **kwargs)
        for loader in project.loaders:
            project.regimes(loader)
        times.append(time.process_time())
        return project

    with patch.object(Project, "load", timed_load):
        # What visits the project needs it linked, where an unchanged one would be answered from the cache.
        report = linter.check([str(tree)], settings, linter.Execution(jobs=1, visit=lambda project: None))
    times.append(time.process_time())
    if len(times) < 3 or any("internal error" in problem for problem in report.problems):
        raise Failed("; ".join(report.problems) or f"nothing to link under {tree}")
    return [times[1] - times[0], times[2] - times[1]]


def linking(tree: Path, repeat: int) -> dict[str, float]:
    """Times of one copy of the tree's Python files and of two side by side, each in processes of their own."""
    times = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, copies in (("once", 1), ("twice", 2)):
            folder = Path(scratch, name)
            for number in range(copies):
                copy_python_files(tree, folder / f"copy{number}")
            command = [sys.executable, __file__, str(folder), "--linking-only", str(Path(scratch, name + "-cache"))]
            output(command)  # fills the cache
            runs = [json.loads(output(command)) for _ in range(repeat)]
            times[f"linking_{name}"], times[f"rules_{name}"] = (min(step) for step in zip(*runs, strict=True))
    return times


COLUMNS = {
    "lines": "lines of Python",
    "cold": "cold, s",
    "unchanged": "nothing changed, s",
    "edited": "one function edited, s",
    "judged": "linking and rules, s",
    "per_100k": "the same per 100,000 lines, s",
    "memory": "memory, MiB",
    "wall": "cold, all cores, on the clock, s",
    "torchfix": "TorchFix, s",
    "ruff": "ruff, on the clock, s",
}
"""The columns of the table. Seconds are processor time where nothing else is said."""


def row(tree: Path, torchfix: str | None, ruff: str | None, repeat: int) -> dict[str, float]:
    """The figures of one tree, measured on a copy of its Python files that nothing else is beside."""
    found = (0, 1, 2)
    check = [sys.executable, "-m", "dllint", "check", "--quiet"]
    with tempfile.TemporaryDirectory() as scratch:
        copy, cache = Path(scratch, "tree"), str(Path(scratch, "cache"))
        copy_python_files(tree, copy)
        numbers: dict[str, float] = {"lines": python_lines(copy)}
        if not numbers["lines"]:
            raise Failed(f"no Python files under {tree}")
        alone = [*check, "--jobs", "1", str(copy)]
        numbers["cold"] = least(repeat, lambda: processor_time([*alone, "--no-cache"], found))
        kept = [*alone, "--cache-dir", cache]
        processor_time(kept, found)
        numbers["unchanged"] = least(repeat, lambda: processor_time(kept, found))
        numbers["edited"] = least(repeat, lambda: (edit_function(copy), processor_time(kept, found))[1])
        command = [sys.executable, __file__, str(copy), "--linking-only", cache]
        runs = [json.loads(output(command)) for _ in range(repeat)]
        numbers["judged"] = min(map(sum, runs))
        numbers["per_100k"] = numbers["judged"] / numbers["lines"] * 100_000
        numbers["memory"] = peak_memory([*alone, "--no-cache"])
        numbers["wall"] = least(repeat, lambda: on_the_clock([*check, "--no-cache", str(copy)]))
        if torchfix is not None:
            command = [torchfix, "--select=ALL", "-j1", str(copy)]
            numbers["torchfix"] = least(repeat, lambda: processor_time(command, (0, 1)))
        if ruff is not None:
            linting = [ruff, "check", "--isolated", "--no-cache", "--select", "ALL", "--quiet", str(copy)]
            numbers["ruff"] = least(repeat, lambda: on_the_clock(linting))
    return numbers


def edit_function(tree: Path) -> None:
    """Put a statement into the last function of the file in the middle of the tree that has one."""
    files = [path for path in sorted(tree.rglob("*.py")) if path.is_file()]
    functions = [path for path in files if re.search(rb"^def .*:\s*$", path.read_bytes(), re.MULTILINE)]
    if not functions:
        raise Failed(f"no function to edit under {tree}")
    path = functions[len(functions) // 2]
    lines = path.read_bytes().splitlines(keepends=True)
    at = max(number for number, line in enumerate(lines) if re.match(rb"def .*:\s*$", line))
    inside = next(line for line in lines[at + 1 :] if line.strip())
    lines.insert(at + 1, inside[: len(inside) - len(inside.lstrip())] + b"edited = None\n")
    path.write_bytes(b"".join(lines))


def on_the_clock(command: list[str]) -> float:
    """Seconds that a command takes from its start to its end, whatever it finds."""
    before = time.perf_counter()
    processor_time(command, (0, 1, 2))
    return time.perf_counter() - before


def peak_memory(command: list[str]) -> float:
    """The most memory that a command has resident, in MiB."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    kilobytes = int(output([sys.executable, "-c", code, *command]))
    return kilobytes / (1024 * 1024 if sys.platform == "darwin" else 1024)


def print_table(rows: dict[str, dict[str, float]]) -> None:
    """One row per tree; what was not measured is left out."""
    columns = [name for name in COLUMNS if any(name in numbers for numbers in rows.values())]
    print("| tree |", " | ".join(COLUMNS[name] for name in columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for tree, numbers in rows.items():
        cells = [f"{numbers[name]:,.0f}" if name in ("lines", "memory") else f"{numbers[name]:.2f}" for name in columns]
        print(f"| {tree} |", " | ".join(cells), "|")


def copy_python_files(tree: Path, target: Path) -> None:
    for path in tree.rglob("*.py"):
        if path.is_file():
            copied = target / path.relative_to(tree)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copied)


def output(command: list[str]) -> str:
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with exit code {process.returncode}\n{process.stderr[-2000:]}")
    return process.stdout


def print_report(tree: Path, numbers: dict[str, float]) -> None:
    lines = numbers["lines"]
    print(f"{tree}: {lines:.0f} lines of Python")
    words = {
        "cold": "dllint check --no-cache --jobs 1",
        "warm": "dllint check with a warm cache",
        "torchfix": "torchfix --select=ALL -j1",
        "linking_once": "linking",
        "linking_twice": "linking, two copies",
        "rules_once": "rules",
        "rules_twice": "rules, two copies",
    }
    for name, text in words.items():
        if name in numbers:
            seconds = numbers[name]
            amount = lines * (1 + name.endswith("twice"))
            print(f"  {text:34} {seconds:8.2f} s  {amount / seconds:10.0f} lines/s", end="")
            print(f"  {seconds / amount * 100_000:7.2f} s for 100,000 lines" if name.startswith("linking") else "")
    if "ratio" in numbers:
        print(f"  TorchFix takes {numbers['ratio']:.1f} times the processor time of a cold check")
    if "scaling" in numbers:
        print(f"  twice the code takes {numbers['scaling']:.2f} times as long to link,")
        print(f"  {numbers['rules_twice'] / numbers['rules_once']:.2f} times as long to judge")


def main() -> int:
    parser = argparse.ArgumentParser(description="Speed of dllint on a tree of Python files.")
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE")
    parser.add_argument("--table", action="store_true", help="print a row of figures for each tree")
    parser.add_argument("--ruff", metavar="COMMAND", help="with --table: the ruff command to compare with")
    parser.add_argument("--torchfix", metavar="COMMAND", help="the torchfix command to compare with")
    parser.add_argument("--linking", action="store_true", help="time linking too, on one and on two copies of the tree")
    parser.add_argument("--no-check", action="store_true", help="with --linking: time linking alone")
    parser.add_argument("--linking-only", metavar="CACHE", help=argparse.SUPPRESS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.no_check and (options.torchfix or not options.linking):
        parser.error("--no-check is for --linking, without --torchfix")
    if options.table and (options.linking or options.no_check):
        parser.error("--linking and --no-check are for one tree without --table")
    if not options.table and (options.ruff or len(options.trees) > 1):
        parser.error("--ruff and several trees are for --table")
    options.tree = options.trees[0]
    try:
        if options.linking_only:
            print(json.dumps(linking_time(options.tree, options.linking_only)))
            return 0
        if options.table:
            rows = {
                tree.resolve().name: row(tree, options.torchfix, options.ruff, options.repeat) for tree in options.trees
            }
            if options.json:
                print(json.dumps(rows, indent=2))
            else:
                print_table(rows)
            return 0
        numbers: dict[str, float] = {"lines": python_lines(options.tree)}
        if not numbers["lines"]:
            raise Failed(f"no Python files under {options.tree}")
        if not options.no_check:
            numbers |= commands(options.tree, options.torchfix, options.repeat)
        if "torchfix" in numbers:
            numbers["ratio"] = numbers["torchfix"] / numbers["cold"]
        if options.linking:
            numbers |= linking(options.tree, options.repeat)
            numbers["scaling"] = numbers["linking_twice"] / numbers["linking_once"]
    except Failed as problem:
        print(f"speed: {problem}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({name: round(number, 4) for name, number in numbers.items()}, indent=2))
    else:
        print_report(options.tree, numbers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
