"""What one edit costs: processor time of a check on the command line and in the editor's server after it.

    python benchmarks/edits.py TREE [TREE ...] [--edits 2] [--seed 1] [--json]

Of each tree, the Python files and notebooks are copied, and checked without a cache, with a new one, and again. Then a
function of the copy is edited, checked, and edited back, for each of these places and edits:

    place       "unrelated"  a file that the check does not look into
                "read"       any file that it looks into
                "dataset"    one of those that defines a dataset
    edit        "comment"    a line with a comment
                "statement"  `edited = 1` as the first statement
                "number"     another number somewhere in the body
                "option"     another default of an option of the command line
                "function"   a new function behind it
                "renamed"    another name for it, everywhere in the file

The server's part runs in one process: all files of the edits are open, and each edit arrives as a new text.

Processor time is user plus system time of the command and all its children. Each figure is the median of `--edits`
functions, chosen by `--seed`; "analysed" says how many of the edits led to a new analysis of the project.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from speed import Failed, least, output, processor_time, python_lines

PLACES = ("unrelated", "read", "dataset")
EDITS = ("comment", "statement", "number", "option", "function", "renamed")
_FUNCTION = re.compile(
    r"^(?P<indent>[ \t]*)def[ \t]+(?P<name>\w+)\([^\n]*\)[^\n]*:[ \t]*\n"
    r"(?P<body>(?:(?:(?P=indent)[ \t]+[^\n]*)?\n)+)",
    re.MULTILINE,
)
_OPTION = re.compile(r"add_argument\([^()]*default\s*=\s*(\d+)")
_DATASET = re.compile(r"^class[ \t]+\w+\([^\n)]*Dataset", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.'\"])\d{1,3}(?![\w.'\"])")
_FOUND = (0, 1, 2)


class Change(NamedTuple):
    """An edit of a file: what it is, where, and the text before and after."""

    place: str
    edit: str
    path: Path
    before: str
    after: str


def edited(text: str, function: re.Match[str], kind: str) -> str | None:
    """Return a text with a change of a function; None if there is nothing of that kind to change."""
    body, end = function.span("body")
    if kind == "function":
        indent = function["indent"]
        new = f"{indent}def edited(self, rows=(), number=3):\n{indent}    return [rows, number]\n\n"
        return f"{text[:end]}{new}{text[end:]}"
    if kind == "renamed":
        return re.sub(rf"\b{function['name']}\b", f"{function['name']}_edited", text)
    if kind == "option":
        option = _OPTION.search(text, body, end)
        return option and f"{text[: option.start(1)]}{int(option[1]) + 1}{text[option.end(1) :]}"
    first = next((line for line in text[body:end].splitlines() if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    if kind == "comment":
        return f"{text[:body]}{indent}# edited\n{text[body:]}"
    if kind == "statement":
        return f"{text[:body]}{indent}edited = 1\n{text[body:]}"
    number = next((one for one in _NUMBER.finditer(text, body, end)), None)
    return None if number is None else f"{text[: number.start()]}{int(number[0]) + 1}{text[number.end() :]}"


def changes(tree: Path, read: set[str], count: int, seed: int) -> Iterator[Change]:
    """Yield the edits of each place and kind, in different files as far as there are any."""
    from dllint.facts.parse import is_plainly_valid

    texts = {}
    for path in sorted(tree.rglob("*.py")):
        try:
            texts[path] = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue
    chance = random.Random(seed)
    for place in PLACES:
        here = [path for path in texts if (str(path) in read) == (place != "unrelated")]
        if place == "dataset":
            here = [path for path in here if _DATASET.search(texts[path])]
        for kind in EDITS:
            chance.shuffle(here)
            found = 0
            for path in here:
                functions = list(_FUNCTION.finditer(texts[path]))
                chance.shuffle(functions)
                after = (edited(texts[path], one, kind) for one in functions)
                text = next((one for one in after if one is not None and is_plainly_valid(one)), None)
                if text is not None and found < count:
                    found += 1
                    yield Change(place, kind, path, texts[path], text)


def settings_of(tree: Path, cache: str) -> Any:
    from dllint import config, registry

    options = {rule.code: rule.options({}) for rule in registry.rules()}
    return replace(config.load([str(tree)], isolated=True, options=options), root=str(tree), cache_dir=cache)


def read_files(tree: Path) -> set[str]:
    """Return the paths of the files that a check of a tree looks into."""
    from dllint import linter
    from dllint.linter.memory import Memory

    memory = Memory()
    linter.check([str(tree)], settings_of(tree, ""), linter.Execution(jobs=1, cache=False, memory=memory))
    return set(memory.input.mattering)


def commands(tree: Path, cache: str, made: list[Change], repeat: int) -> dict[str, float]:
    """Return the processor times of checks on the command line."""
    check = [sys.executable, "-m", "dllint", "check", "--jobs", "1", "--quiet", str(tree)]
    kept = [*check, "--cache-dir", cache]
    times = {"cold": least(repeat, lambda: processor_time([*check, "--no-cache"], _FOUND))}
    processor_time(kept, _FOUND)
    times["unchanged"] = least(repeat, lambda: processor_time(kept, _FOUND))
    groups: dict[str, list[float]] = {}
    for change in made:
        change.path.write_text(change.after, encoding="utf-8", newline="")
        groups.setdefault(f"{change.place}, {change.edit}", []).append(processor_time(kept, _FOUND))
        change.path.write_text(change.before, encoding="utf-8", newline="")
    return times | {f"check: {name}": median(group) for name, group in groups.items()}


def served(tree: Path, cache: str, count: int, seed: int, read: set[str]) -> dict[str, float]:
    """Return the processor times of the server's part, in this process, from an edit to its diagnostics."""
    from dllint.inference.interruption import Stop
    from dllint.linter.memory import Memory
    from dllint.server.analysis import analyse
    from dllint.server.editing import OpenFile, Piece
    from dllint.server.standing import Standing

    made = list(changes(tree, read, count, seed))
    settings, memory = settings_of(tree, cache), Memory()
    texts = {str(change.path): change.before for change in made}

    def opened() -> dict[str, OpenFile]:
        return {path: OpenFile(path, (Piece(Path(path).as_uri(), 1, text),)) for path, text in texts.items()}

    def check() -> Standing:
        here = opened()
        result = analyse(settings, here.values(), Stop(), lambda done, total: None, memory)
        return Standing(settings, here, result, memory, memory.input)

    before = time.process_time()
    standing = check()
    times = {"server: first": time.process_time() - before}
    groups: dict[str, list[float]] = {}
    analysed: dict[str, int] = {}
    for change in made:
        texts[str(change.path)] = change.after
        name = f"server: {change.place}, {change.edit}"
        before = time.process_time()
        if standing.followed(opened().values()) is None:
            analysed[name] = analysed.get(name, 0) + 1
            check()
        groups.setdefault(name, []).append(time.process_time() - before)
        texts[str(change.path)] = change.before
    found = {name: median(group) for name, group in groups.items()}
    return times | found | {f"{name} (analysed)": analysed.get(name, 0) / len(groups[name]) for name in groups}


def figures(tree: Path, count: int, seed: int, repeat: int) -> dict[str, float]:
    """Return all figures of a tree, of a copy of its Python files and notebooks that nothing else is beside."""
    with tempfile.TemporaryDirectory() as scratch:
        copy, cache = Path(scratch, "tree").resolve(), str(Path(scratch, "cache").resolve())
        for pattern in ("*.py", "*.ipynb"):
            for path in tree.rglob(pattern):
                if path.is_file():
                    copied = copy / path.relative_to(tree)
                    copied.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, copied)
        if not python_lines(copy):
            raise Failed(f"no Python files under {tree}")
        (copy / "pyproject.toml").write_text("[tool.dllint]\n")
        read = read_files(copy)
        numbers: dict[str, float] = {"lines": python_lines(copy)}
        numbers |= commands(copy, cache, list(changes(copy, read, count, seed)), repeat)
        given = [str(copy), "--served", cache, "--edits", str(count), "--seed", str(seed)]
        return numbers | json.loads(output([sys.executable, __file__, *given]))


def print_figures(tree: str, numbers: dict[str, float]) -> None:
    print(f"{tree}: {numbers['lines']:,.0f} lines of Python; seconds of processor time")
    for name, number in numbers.items():
        share = numbers.get(f"{name} (analysed)")
        if name != "lines" and not name.endswith("(analysed)"):
            print(f"  {name:32} {number:7.2f}" + (f"   analysed {share:.0%}" if share is not None else ""))


def main() -> int:
    parser = argparse.ArgumentParser(description="What one edit costs, on trees of Python files.")
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE")
    parser.add_argument("--edits", type=int, default=2, help="functions per place and kind of edit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1, help="of the checks without an edit, the least counts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--served", metavar="CACHE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        if options.served:
            tree = options.trees[0]
            print(json.dumps(served(tree, options.served, options.edits, options.seed, read_files(tree))))
            return 0
        found = {}
        for tree in options.trees:
            found[tree.name] = figures(tree.resolve(), options.edits, options.seed, options.repeat)
            if not options.json:
                print_figures(tree.name, found[tree.name])
    except (Failed, subprocess.SubprocessError) as problem:
        print(f"edits: {problem}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
